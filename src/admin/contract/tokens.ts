import { z } from 'zod'
import { momentText, nameField, newNameField, reference, removed, time } from './fields.ts'
import { field, operation } from './operation.ts'
import { roleNames } from './roles.ts'

export const tokenShape = z.object({
  id: z.string(),
  name: z.string(),
  last_four: z.string(),
  state: z.enum(['active', 'expired', 'revoked']),
  role: z.enum(roleNames),
  /** null: the whole workspace. */
  project: z.string().nullable(),
  created_by: z.string(),
  created_at: time,
  expires_at: time.nullable(),
  last_used_at: time.nullable(),
  revoked_at: time.nullable(),
})

/** The one place where an API token is shown. */
export const createdTokenShape = z.object({
  id: z.string(),
  name: z.string(),
  token: z.string(),
  role: z.enum(roleNames),
  project: z.string().nullable(),
  expires_at: time.nullable(),
})

const columns = [
  { field: 'name', title: 'NAME' },
  { field: 'last_four', title: 'ENDS IN' },
  { field: 'state', title: 'STATE', format: 'state' },
  { field: 'role', title: 'ROLE' },
  { field: 'project', title: 'OF PROJECT', absent: 'all' },
  { field: 'created_by', title: 'BY' },
  { field: 'last_used_at', title: 'LAST USED', format: 'age', absent: 'never' },
  { field: 'expires_at', title: 'EXPIRES', format: 'age', absent: 'never' },
] as const
const record = { as: 'record' } as const
const one = z.strictObject(nameField('token'))

export const tokens = {
  create: operation({
    summary: 'Create an API token, which calls the operations over the console; shown once',
    role: 'admin',
    reach: 'workspace',
    effect: 'write',
    show: {
      as: 'once',
      field: 'token',
      note: 'Shown once. Use it: SPGW_TOKEN=… spgw --remote <console URL> status, or as Authorization: Bearer below /api.',
    },
    positional: ['name'],
    aliases: ['add'],
    examples: ['tokens create deploy --role admin', 'tokens create report --role viewer --project search --expires 7d'],
  })
    .input(
      z.strictObject({
        ...newNameField('token'),
        role: field(z.enum(roleNames).default('viewer'), { description: 'What it may do' }),
        project: field(reference.optional(), { description: 'Project that it is for (default: the whole workspace)' }),
        expires: field(z.union([z.literal('never'), momentText]).default('90d'), {
          description: 'How long, or until when, it works; or never',
        }),
      }),
    )
    .output(createdTokenShape),
  list: operation({
    summary: 'List API tokens',
    role: 'admin',
    reach: 'workspace',
    effect: 'read',
    show: { as: 'table', columns, empty: 'No API token yet. Create one: spgw tokens create NAME' },
    examples: ['tokens list'],
  })
    .input(z.strictObject({}))
    .output(z.array(tokenShape)),
  show: operation({
    summary: 'Show an API token (its secret is shown only when it is made)',
    role: 'admin',
    reach: 'workspace',
    effect: 'read',
    show: record,
    positional: ['name'],
    examples: ['tokens show deploy'],
  })
    .input(one)
    .output(tokenShape),
  revoke: operation({
    summary: 'End an API token at once',
    role: 'admin',
    reach: 'workspace',
    effect: 'danger',
    show: record,
    positional: ['name'],
    examples: ['tokens revoke deploy'],
    confirm: 'Revoke token {name}? Whatever uses it is refused from then on.',
  })
    .input(one)
    .output(tokenShape),
  remove: operation({
    summary: 'Remove an API token; the audit keeps its name',
    role: 'admin',
    reach: 'workspace',
    effect: 'danger',
    show: record,
    positional: ['name'],
    examples: ['tokens remove deploy'],
    confirm: 'Remove token {name}? It stops working and leaves the list.',
  })
    .input(one)
    .output(removed),
}
