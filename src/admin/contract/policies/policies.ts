import { z } from 'zod'
import { contentActions, contentSides, longestTried } from '../../../core/policies/content-rules.ts'
import { policyRules } from '../../../core/policies/policy-rules.ts'
import {
  forceField,
  listProjectFields,
  momentText,
  nameField,
  newNameField,
  nodesReached,
  owned,
  reference,
  removedAccess,
  renameField,
  time,
} from '../fields.ts'
import { type Column, field, operation } from '../operation.ts'
import { limitColumns } from '../show-limit.ts'
import { policyUsageShape } from './limit-usage.ts'
import { clearField, inputFields, ruleColumns, shownFields } from './policy-fields.ts'

export const policyShape = z.object({
  id: z.string(),
  name: z.string(),
  /** `workspace`, `project:P`, `environment:P/E`, `key:NAME`; `key:P/E/NAME` where several environments have such a key. */
  attached_to: z.array(z.string()),
  /** `key:NAME`: keys that name it themselves, which only `keys edit` changes. */
  held_by: z.array(z.string()),
  ...shownFields(policyRules),
  /** What raises its budgets in USD now. */
  grants: z.array(z.object({ usd: z.number(), until: time })),
  owned,
  created_at: time,
})

export const triedRulesShape = z.object({
  policy: z.string().nullable(),
  on: z.enum(contentSides),
  matches: z.array(
    z.object({
      rule: z.string(),
      /** What a detector found, such as `provider key`; null: a match of the rule's pattern. */
      kind: z.string().nullable(),
      action: z.enum(contentActions),
      /** Places in the text, in UTF-16 units; `end` is behind the match. */
      start: z.number(),
      end: z.number(),
    }),
  ),
  /** What was tried. */
  given: z.string(),
  /** What becomes of it; null: it is blocked. */
  text: z.string().nullable(),
})

const columns: readonly Column[] = [
  { field: 'name', title: 'NAME' },
  { field: 'attached_to', title: 'APPLIES TO', format: 'list' },
  { field: 'held_by', title: 'USED BY', format: 'list', optional: true },
  ...ruleColumns(policyRules),
]
const record = { as: 'record' } as const
const one = z.strictObject({ ...nameField('policy') })
const settable = {
  attach: field(z.array(z.string().min(1)).optional(), {
    description: 'Where the policy applies: workspace, project:P, environment:P/E, key:NAME or key:P/E/NAME',
    label: 'Applies to',
    help: 'workspace, project:P, environment:P/E, key:NAME or key:P/E/NAME',
    flag: 'attach',
    syntax: 'list',
  }),
  ...inputFields(policyRules),
}

export const policies = {
  add: operation({
    summary: 'Add a policy: budgets, limits, allowed models, content rules, body capture',
    role: 'admin',
    reach: 'project',
    effect: 'write',
    show: record,
    positional: ['name'],
    aliases: ['create'],
    examples: [
      'policies add search --budget-usd-month 200 --rpm 60 --attach project:search',
      'policies add fair --per key --tpm 100000 --concurrency 5 --attach workspace',
      "policies add small-models --allow-model 'gpt-4o-mini*' --attach project:default",
      'policies add no-gemini --lane openai --lane anthropic --attach workspace',
      'policies add debugging --capture redacted --attach environment:default/staging',
    ],
  })
    .input(z.strictObject({ ...newNameField('policy'), ...settable }))
    .output(policyShape.extend({ nodes: nodesReached })),
  list: operation({
    summary: 'List policies',
    role: 'viewer',
    reach: 'project',
    effect: 'read',
    show: { as: 'table', columns, empty: 'No policies yet, so nothing is limited. Add one: spgw policies add NAME' },
    examples: ['policies list'],
  })
    .input(z.strictObject({}))
    .output(z.array(policyShape)),
  show: operation({
    summary: 'Show a policy',
    role: 'viewer',
    reach: 'project',
    effect: 'read',
    show: record,
    positional: ['name'],
    examples: ['policies show small-models'],
  })
    .input(one)
    .output(policyShape),
  usage: operation({
    summary: 'Show what is used of the limits and budgets of policies',
    role: 'viewer',
    reach: 'project',
    effect: 'read',
    show: {
      as: 'table',
      columns: limitColumns,
      rows: ['periods limits'],
      empty: 'No limit of requests, tokens or money here. Add one: spgw policies add NAME --rpm 60 --attach project:P',
    },
    positional: ['name'],
    examples: ['policies usage', 'policies usage search --json', 'policies usage -p search'],
  })
    .input(
      z.strictObject({
        name: field(reference.optional(), { description: 'Name or ID of one policy (default: all policies)' }),
        ...listProjectFields,
      }),
    )
    .output(z.array(policyUsageShape)),
  edit: operation({
    summary: 'Change a policy; a new list replaces the old one',
    role: 'admin',
    reach: 'project',
    effect: 'write',
    show: record,
    positional: ['name'],
    examples: ['policies edit small-models --max-body 1MB', 'policies edit small-models --clear deny-models'],
  })
    .input(
      one.extend({
        ...forceField,
        ...renameField('policy'),
        ...settable,
        ...clearField(policyRules),
      }),
    )
    .output(policyShape.extend({ nodes: nodesReached })),
  try: operation({
    summary: 'Show what content rules find in a text; nothing is sent or stored',
    role: 'viewer',
    reach: 'project',
    effect: 'read',
    show: record,
    positional: ['name'],
    examples: [
      "policies try safe --text 'Write to jane@example.com'",
      'policies try --content-rule gateway.yaml --file request.json',
    ],
  })
    .input(
      z.strictObject({
        name: field(reference.optional(), {
          description: 'Name or ID of the policy (default: only the rules of --content-rule)',
          label: 'Policy',
          help: 'Without one, only the rules given below are tried',
        }),
        text: field(z.string().max(longestTried).optional(), { description: 'Text to try', label: 'Text' }),
        file: field(z.record(z.string(), z.string().max(longestTried)).optional(), {
          description: 'File with the text to try',
          label: 'Text file',
          help: 'File with the text to try',
          flag: 'file',
          syntax: 'files',
        }),
        contentRules: field(z.record(z.string(), z.string()).optional(), {
          description: "File of content rules to try in place of the policy's own",
          label: 'Content rules',
          help: "File of content rules to try in place of the policy's own",
          flag: 'content-rule',
          syntax: 'files',
        }),
        on: field(z.enum(contentSides).default('prompt'), {
          description: 'Whether the text is a prompt or an answer',
          label: 'On',
        }),
      }),
    )
    .output(triedRulesShape),
  grant: operation({
    summary: "Raise a policy's budgets in USD for a time",
    role: 'admin',
    reach: 'project',
    effect: 'write',
    show: record,
    positional: ['name'],
    examples: ['policies grant search --usd 50 --until 7d', 'policies edit search --clear grants'],
  })
    .input(
      one.extend({
        usd: field(z.number().positive().max(1e9), {
          description: 'How much more, in USD',
          label: 'More, in USD',
          prompt: 'How many USD more?',
        }),
        until: field(momentText, {
          description: 'End: a duration from now, such as 7d, or a time',
          prompt: 'Until when?',
        }),
      }),
    )
    .output(policyShape),
  remove: operation({
    summary: 'Remove a policy; refused while a key has it',
    role: 'admin',
    reach: 'project',
    effect: 'danger',
    show: record,
    positional: ['name'],
    examples: ['policies remove small-models'],
    confirm: 'Remove policy {name}? Its restrictions no longer apply.',
  })
    .input(one.extend(forceField))
    .output(removedAccess),
}
