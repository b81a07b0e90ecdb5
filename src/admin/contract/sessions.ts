import { z } from 'zod'
import { reference, time } from './fields.ts'
import { field, operation } from './operation.ts'

export const sessionShape = z.object({
  id: z.string(),
  operator: z.string(),
  method: z.enum(['password', 'passkey', 'oidc', 'link']),
  created_at: time,
  last_seen_at: time,
  /** Unless it is used before. */
  expires_at: time,
  address: z.string(),
  user_agent: z.string(),
})

const columns = [
  { field: 'operator', title: 'OPERATOR' },
  { field: 'method', title: 'BY' },
  { field: 'last_seen_at', title: 'LAST SEEN', format: 'age' },
  { field: 'created_at', title: 'SINCE', format: 'age' },
  { field: 'expires_at', title: 'EXPIRES', format: 'age' },
  { field: 'address', title: 'ADDRESS' },
  { field: 'user_agent', title: 'BROWSER' },
  { field: 'id', title: 'ID', format: 'id' },
] as const

export const sessions = {
  list: operation({
    summary: 'List who is signed in to the console',
    role: 'admin',
    reach: 'workspace',
    effect: 'read',
    show: { as: 'table', columns, empty: 'Nobody is signed in.' },
    examples: ['sessions list', 'sessions list --operator anna'],
  })
    .input(z.strictObject({ operator: field(reference.optional(), { description: 'Of this operator: name or id' }) }))
    .output(z.array(sessionShape)),
  revoke: operation({
    summary: 'End one session, or all of an operator',
    role: 'admin',
    reach: 'workspace',
    effect: 'danger',
    show: { as: 'record' },
    positional: ['id'],
    examples: ['sessions revoke ses_01jd3k4m5n6p7q8r9s0t1v2w3x', 'sessions revoke --operator anna'],
    confirm: 'Whoever is signed in by it is signed out at once.',
  })
    .input(
      z.strictObject({
        id: field(reference.optional(), { description: 'Id of the session' }),
        operator: field(reference.optional(), { description: 'Every session of this operator: name or id' }),
      }),
    )
    .output(z.object({ revoked: z.number() })),
}
