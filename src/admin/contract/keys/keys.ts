import { z } from 'zod'
import {
  durationText,
  forceField,
  listScopeFields,
  momentText,
  nodesReached,
  owned,
  reference,
  removedAccess,
  scopeFields,
  slug,
  tagField,
  tags,
  time,
} from '../fields.ts'
import { field, operation } from '../operation.ts'
import { models } from './key-models.ts'
import { usage } from './key-usage.ts'

export const keyShape = z.object({
  id: z.string(),
  name: z.string(),
  project: z.string(),
  environment: z.string(),
  last_four: z.string(),
  state: z.enum(['active', 'expired', 'revoked']),
  policy: z.string().nullable(),
  tags,
  created_at: time,
  created_by: z.string(),
  expires_at: time.nullable(),
  revoked_at: time.nullable(),
  last_used_at: time.nullable(),
  /** While a rotation's grace runs: when the secret before stops working. */
  grace_ends_at: time.nullable(),
  owned,
})

/** The one place where a gateway key is shown. */
export const createdKeyShape = z.object({
  id: z.string(),
  name: z.string(),
  key: z.string(),
  project: z.string(),
  environment: z.string(),
  expires_at: time.nullable(),
})
export const rotatedKeyShape = createdKeyShape.extend({ grace_ends_at: time.nullable(), nodes: nodesReached })

const columns = [
  { field: 'name', title: 'NAME' },
  { field: 'last_four', title: 'LAST FOUR' },
  { field: 'state', title: 'STATE', format: 'state' },
  { field: 'project', title: 'PROJECT' },
  { field: 'environment', title: 'ENVIRONMENT' },
  { field: 'last_used_at', title: 'LAST USED', format: 'age' },
  { field: 'expires_at', title: 'EXPIRES', format: 'age' },
  { field: 'policy', title: 'POLICY' },
] as const
const record = { as: 'record' } as const
const one = z.strictObject({
  key: field(reference, { description: 'Name, ID or last four of the key', prompt: 'Which key?', acceptsId: true }),
  ...scopeFields,
})
const policy = (description: string, empty?: string) => field(reference.optional(), { description, empty })

export const keys = {
  create: operation({
    summary: 'Create a gateway key for a project and environment; it is shown only once',
    role: 'admin',
    reach: 'project',
    effect: 'write',
    show: { as: 'once', field: 'key' },
    aliases: ['add'],
    examples: ['keys create --name ci', 'keys create --name batch --environment staging --expires 90d'],
  })
    .input(
      z.strictObject({
        name: field(slug, { description: 'Name of the key', prompt: 'Name' }),
        ...scopeFields,
        expires: field(momentText.optional(), {
          description: 'Expiry: a duration from now, such as 90d, or a time (default: never)',
        }),
        policy: policy('Policy to apply to the key'),
        ...tagField,
      }),
    )
    .output(createdKeyShape),
  list: operation({
    summary: 'List keys',
    role: 'viewer',
    reach: 'project',
    effect: 'read',
    show: { as: 'table', columns, empty: 'No keys yet. Create one: spgw keys create --name NAME' },
    examples: ['keys list', 'keys list -p search', 'keys list -p search -e staging'],
  })
    .input(z.strictObject(listScopeFields))
    .output(z.array(keyShape)),
  show: operation({
    summary: 'Show a key; its secret is shown only when it is created',
    role: 'viewer',
    reach: 'project',
    effect: 'read',
    show: record,
    positional: ['key'],
    examples: ['keys show ci'],
  })
    .input(one)
    .output(keyShape),
  usage,
  models,
  edit: operation({
    summary: 'Change the name, expiry, policy or tags of a key',
    role: 'admin',
    reach: 'project',
    effect: 'write',
    show: record,
    positional: ['key'],
    examples: ['keys edit ci --expires 30d', 'keys edit ci --policy none'],
  })
    .input(
      one.extend({
        ...forceField,
        name: field(slug.optional(), { description: 'New name of the key', label: 'Name' }),
        expires: field(z.union([z.literal('never'), momentText]).optional(), {
          description: 'Expiry: a duration from now, such as 90d, a time, or never',
          empty: 'never',
        }),
        policy: policy('Policy to apply to the key; none removes it', 'none'),
        ...tagField,
      }),
    )
    .output(keyShape.extend({ nodes: nodesReached })),
  rotate: operation({
    summary: 'Give a key a new secret; the old one stays valid for a grace period',
    role: 'admin',
    reach: 'project',
    effect: 'write',
    show: { as: 'once', field: 'key' },
    positional: ['key'],
    examples: ['keys rotate ci', 'keys rotate ci --grace 0s'],
  })
    .input(
      one.extend({
        grace: field(durationText.default('24h'), {
          description: 'How long the old secret stays valid; 0s: not at all',
          label: 'Grace period',
          syntax: 'duration',
        }),
      }),
    )
    .output(rotatedKeyShape),
  revoke: operation({
    summary: 'Revoke a key',
    role: 'admin',
    reach: 'project',
    effect: 'danger',
    show: record,
    positional: ['key'],
    examples: ['keys revoke ci', 'keys revoke ci --close-streams'],
    confirm: 'Revoke key {key}? Applications that use it are rejected from now on.',
  })
    .input(
      one.extend({
        closeStreams: field(z.boolean().default(false), {
          description: 'Also stop requests in progress',
          label: 'Also stop requests in progress',
          help: 'Otherwise they run to completion',
        }),
      }),
    )
    .output(keyShape.extend({ nodes: nodesReached })),
  remove: operation({
    summary: 'Remove a key; request records keep its name',
    role: 'admin',
    reach: 'project',
    effect: 'danger',
    show: record,
    positional: ['key'],
    examples: ['keys remove ci'],
    confirm: 'Remove key {key}? It stops working and is no longer listed.',
  })
    .input(one.extend(forceField))
    .output(removedAccess),
}
