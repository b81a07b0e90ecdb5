import { z } from 'zod'
import { laneNames } from '../../../core/lane.ts'
import {
  forceField,
  listProjectFields,
  nameField,
  newNameField,
  owned,
  projectField,
  removedAccess,
  renameField,
  time,
} from '../fields.ts'
import { field, operation } from '../operation.ts'

export const environmentShape = z.object({
  id: z.string(),
  name: z.string(),
  project: z.string(),
  /** By lane, the provider that serves calls without a model; null: chosen as contract.md rule 2 says. */
  default_providers: z.object({
    openai: z.string().nullable(),
    anthropic: z.string().nullable(),
    gemini: z.string().nullable(),
  }),
  owned,
  created_at: time,
})

const columns = [
  { field: 'name', title: 'NAME' },
  { field: 'project', title: 'PROJECT' },
  { field: 'created_at', title: 'CREATED', format: 'age' },
] as const
const record = { as: 'record' } as const
const existing = z.strictObject({ ...nameField('environment'), ...projectField })

export const environments = {
  add: operation({
    summary: 'Add an environment to a project',
    role: 'admin',
    reach: 'project',
    effect: 'write',
    show: record,
    positional: ['name'],
    aliases: ['create'],
    examples: ['environments add staging', 'environments add production --project search'],
  })
    .input(z.strictObject({ ...newNameField('environment'), ...projectField }))
    .output(environmentShape),
  list: operation({
    summary: 'List environments',
    role: 'viewer',
    reach: 'project',
    effect: 'read',
    show: { as: 'table', columns, empty: 'No environments yet. Add one: spgw environments add NAME' },
    examples: ['environments list', 'environments list --all'],
  })
    .input(z.strictObject(listProjectFields))
    .output(z.array(environmentShape)),
  show: operation({
    summary: 'Show an environment',
    role: 'viewer',
    reach: 'project',
    effect: 'read',
    show: record,
    positional: ['name'],
    examples: ['environments show production'],
  })
    .input(existing)
    .output(environmentShape),
  edit: operation({
    summary: 'Rename an environment or set its default providers',
    role: 'admin',
    reach: 'project',
    effect: 'write',
    show: record,
    positional: ['name'],
    examples: ['environments edit production --default-provider openai=azure'],
  })
    .input(
      existing.extend({
        ...forceField,
        ...renameField('environment'),
        defaultProviders: field(z.partialRecord(z.enum(laneNames), z.string()).optional(), {
          description: 'Default provider of a lane, for calls that name no model; an empty value removes it',
          label: 'Default providers',
          help: 'For each lane, the provider of calls that name no model',
          flag: 'default-provider',
          syntax: 'pairs',
        }),
      }),
    )
    .output(environmentShape),
  remove: operation({
    summary: 'Remove an environment; it must not have routes or keys',
    role: 'owner',
    reach: 'project',
    effect: 'danger',
    show: record,
    positional: ['name'],
    examples: ['environments remove staging'],
    confirm: 'Remove environment {name}?',
  })
    .input(existing.extend(forceField))
    .output(removedAccess),
}
