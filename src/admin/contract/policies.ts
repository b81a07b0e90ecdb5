import { z } from 'zod'
import { captureModes } from '../../core/capture.ts'
import { forceField, laneName, nameField, newNameField, owned, removed, renameField, sizeText, time } from './fields.ts'
import { field, operation } from './operation.ts'

export const policyShape = z.object({
  id: z.string(),
  name: z.string(),
  /** `workspace`, `project:P`, `environment:P/E`, `key:NAME`. */
  attached_to: z.array(z.string()),
  /** `key:NAME`: keys that name it themselves, which only `keys edit` changes. */
  held_by: z.array(z.string()),
  /** Empty: all. */
  allow_models: z.array(z.string()),
  deny_models: z.array(z.string()),
  lanes: z.array(laneName),
  max_body_bytes: z.number().nullable(),
  /** null: says nothing. Of the policies that do, the one that keeps least holds; without any, nothing is kept. */
  capture: z.enum(captureModes).nullable(),
  owned,
  created_at: time,
})

const columns = [
  { field: 'name', title: 'NAME' },
  { field: 'attached_to', title: 'APPLIES TO', format: 'list' },
  { field: 'held_by', title: 'USED BY', format: 'list' },
  { field: 'allow_models', title: 'ALLOWS', format: 'list' },
  { field: 'deny_models', title: 'DENIES', format: 'list' },
  { field: 'lanes', title: 'LANES', format: 'list' },
  { field: 'max_body_bytes', title: 'MAX BODY', format: 'bytes' },
  { field: 'capture', title: 'CAPTURE' },
] as const
const record = { as: 'record' } as const
const one = z.strictObject({ ...nameField('policy') })
const list = (flag: string, description: string, form: { label: string; help: string }) =>
  field(z.array(z.string().min(1)).optional(), { description, ...form, flag, syntax: 'list' })
const settable = {
  allowModels: list('allow-model', 'Model name or pattern to allow (default: all)', {
    label: 'Allowed models',
    help: 'Model names or patterns. Empty: all models',
  }),
  denyModels: list('deny-model', 'Model name or pattern to deny, even if it is allowed elsewhere', {
    label: 'Denied models',
    help: 'Model names or patterns. They are denied even if they are allowed elsewhere',
  }),
  lanes: field(z.array(laneName).optional(), {
    description: 'Lane to allow (default: all)',
    label: 'Allowed lanes',
    help: 'None selected: all lanes',
    flag: 'lane',
    syntax: 'list',
  }),
  maxBody: field(sizeText.optional(), {
    description: 'Maximum size of a request body',
    label: 'Max body size',
    syntax: 'size',
  }),
  capture: field(z.enum(captureModes).optional(), {
    description:
      'Whether to store request and response bodies; redacted masks secrets and personal data, and the strictest policy applies (default: none)',
    label: 'Body capture',
    help: 'Store request and response bodies. Redacted masks secrets and personal data; the strictest policy applies. Default: none are stored',
  }),
  attach: list('attach', 'Where the policy applies: workspace, project:P, environment:P/E or key:NAME', {
    label: 'Applies to',
    help: 'workspace, project:P, environment:P/E or key:NAME',
  }),
}

export const policies = {
  add: operation({
    summary: 'Add a policy: allowed models and lanes, maximum body size, body capture',
    role: 'admin',
    reach: 'project',
    effect: 'write',
    show: record,
    positional: ['name'],
    aliases: ['create'],
    examples: [
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
        clear: field(
          z.array(z.enum(['allow-models', 'deny-models', 'lanes', 'max-body', 'capture', 'attach'])).optional(),
          {
            description: 'Setting to clear',
            help: 'Settings to clear',
            syntax: 'list',
          },
        ),
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
