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
  { field: 'attached_to', title: 'ATTACHED TO', format: 'list' },
  { field: 'held_by', title: 'HELD BY', format: 'list' },
  { field: 'allow_models', title: 'ALLOWS', format: 'list' },
  { field: 'deny_models', title: 'DENIES', format: 'list' },
  { field: 'lanes', title: 'LANES', format: 'list' },
  { field: 'max_body_bytes', title: 'LARGEST BODY', format: 'bytes' },
  { field: 'capture', title: 'CAPTURES' },
] as const
const record = { as: 'record' } as const
const one = z.strictObject({ ...nameField('policy') })
const list = (description: string, flag: string) =>
  field(z.array(z.string().min(1)).optional(), { description, flag, syntax: 'list' })
const settable = {
  allowModels: list('Model name or pattern that is allowed (repeat for several; default: all)', 'allow-model'),
  denyModels: list('Model name or pattern that is denied; beats what is allowed', 'deny-model'),
  lanes: field(z.array(laneName).optional(), {
    description: 'Lane that is allowed (repeat for several; default: all)',
    flag: 'lane',
    syntax: 'list',
  }),
  maxBody: field(sizeText.optional(), { description: 'Largest request body', syntax: 'size' }),
  capture: field(z.enum(captureModes).optional(), {
    description:
      'Bodies kept on the record: none, redacted (secrets and personal data masked) or full; of several policies the one that keeps least holds (default: nothing is kept)',
  }),
  attach: list('What it holds for: workspace, project:P, environment:P/E or key:NAME', 'attach'),
}

export const policies = {
  add: operation({
    summary: 'Add a policy: models and lanes allowed, largest body, capture of bodies',
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
    show: { as: 'table', columns, empty: 'No policy yet: nothing is limited. Add one: spgw policies add NAME' },
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
    summary: 'Change a policy; a list that is given replaces the one before',
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
            description: 'What to empty (repeat for several)',
            syntax: 'list',
          },
        ),
      }),
    )
    .output(policyShape),
  remove: operation({
    summary: 'Remove a policy; refused while a key names it',
    role: 'admin',
    reach: 'project',
    effect: 'danger',
    show: record,
    positional: ['name'],
    examples: ['policies remove small-models'],
    confirm: 'Remove policy {name}? What it forbids becomes allowed.',
  })
    .input(one.extend(forceField))
    .output(removed),
}
