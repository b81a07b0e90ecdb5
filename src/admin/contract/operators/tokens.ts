import { z } from 'zod'
import { momentText, nameField, newNameField, nodesReached, reference, removedAccess, time } from '../fields.ts'
import { field, operation } from '../operation.ts'
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
  { field: 'last_four', title: 'LAST FOUR' },
  { field: 'state', title: 'STATE', format: 'state' },
  { field: 'role', title: 'ROLE' },
  { field: 'project', title: 'PROJECT', absent: 'all' },
  { field: 'created_by', title: 'CREATED BY' },
  { field: 'last_used_at', title: 'LAST USED', format: 'age', absent: 'never' },
  { field: 'expires_at', title: 'EXPIRES', format: 'age', absent: 'never' },
] as const
const record = { as: 'record' } as const
const one = z.strictObject(nameField('token'))

export const tokens = {
  create: operation({
    summary: 'Create an API token for the admin API; it is shown only once',
    role: 'admin',
    reach: 'workspace',
    effect: 'write',
    show: {
      as: 'once',
      field: 'token',
      note: 'Shown only once. Use it as SPGW_TOKEN with spgw --remote <console URL>, or send it to <console URL>/api as Authorization: Bearer TOKEN.',
    },
    positional: ['name'],
    aliases: ['add'],
    examples: ['tokens create deploy --role admin', 'tokens create report --role viewer --project search --expires 7d'],
  })
    .input(
      z.strictObject({
        ...newNameField('token'),
        role: field(z.enum(roleNames).default('viewer'), { description: 'What the token may do' }),
        project: field(reference.optional(), {
          description: 'Limit the token to this project (default: the whole workspace)',
        }),
        expires: field(z.union([z.literal('never'), momentText]).default('90d'), {
          description: 'Expiry: a duration from now, such as 90d, a time, or never',
        }),
      }),
    )
    .output(createdTokenShape),
  list: operation({
    summary: 'List API tokens',
    role: 'admin',
    reach: 'workspace',
    effect: 'read',
    show: { as: 'table', columns, empty: 'No API tokens yet. Create one: spgw tokens create NAME' },
    examples: ['tokens list'],
  })
    .input(z.strictObject({}))
    .output(z.array(tokenShape)),
  show: operation({
    summary: 'Show an API token; its secret is shown only when it is created',
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
    summary: 'Revoke an API token',
    role: 'admin',
    reach: 'workspace',
    effect: 'danger',
    show: record,
    positional: ['name'],
    examples: ['tokens revoke deploy'],
    confirm: 'Revoke token {name}? Everything that uses it is rejected from now on.',
  })
    .input(one)
    .output(tokenShape.extend({ nodes: nodesReached })),
  remove: operation({
    summary: 'Remove an API token; the audit log keeps its name',
    role: 'admin',
    reach: 'workspace',
    effect: 'danger',
    show: record,
    positional: ['name'],
    examples: ['tokens remove deploy'],
    confirm: 'Remove token {name}? It stops working and is no longer listed.',
  })
    .input(one)
    .output(removedAccess),
}
