import { z } from 'zod'
import { policyRules } from '../../../core/policy-rules.ts'
import {
  forceField,
  listProjectFields,
  momentText,
  nameField,
  newNameField,
  owned,
  reference,
  removed,
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

const columns: readonly Column[] = [
  { field: 'name', title: 'NAME' },
  { field: 'attached_to', title: 'APPLIES TO', format: 'list' },
  { field: 'held_by', title: 'USED BY', format: 'list' },
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
    summary: 'Add a policy: limits, allowed models and lanes, body capture',
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
    .output(policyShape),
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
      empty: 'No policy limits requests, tokens or money. Add one: spgw policies add NAME --rpm 60 --attach project:P',
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
    .output(policyShape),
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
    summary: 'Remove a policy; no key may use it',
    role: 'admin',
    reach: 'project',
    effect: 'danger',
    show: record,
    positional: ['name'],
    examples: ['policies remove small-models'],
    confirm: 'Remove policy {name}? Its restrictions no longer apply.',
  })
    .input(one.extend(forceField))
    .output(removed),
}
