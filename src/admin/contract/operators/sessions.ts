import { z } from 'zod'
import { nodesReached, reference, time } from '../fields.ts'
import { field, operation } from '../operation.ts'

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
  { field: 'method', title: 'METHOD' },
  { field: 'last_seen_at', title: 'LAST SEEN', format: 'age' },
  { field: 'created_at', title: 'SIGNED IN', format: 'age' },
  { field: 'expires_at', title: 'EXPIRES', format: 'age' },
  { field: 'address', title: 'ADDRESS' },
  { field: 'user_agent', title: 'BROWSER' },
  { field: 'id', title: 'ID', format: 'id' },
] as const

export const sessions = {
  list: operation({
    summary: 'List console sessions',
    role: 'admin',
    reach: 'workspace',
    effect: 'read',
    show: { as: 'table', columns, empty: 'Nobody is signed in.' },
    examples: ['sessions list', 'sessions list --operator anna'],
  })
    .input(
      z.strictObject({
        operator: field(reference.optional(), { description: 'Only sessions of this operator (name or ID)' }),
      }),
    )
    .output(z.array(sessionShape)),
  revoke: operation({
    summary: 'End one session, or all sessions of an operator',
    role: 'admin',
    reach: 'workspace',
    effect: 'danger',
    show: { as: 'record' },
    positional: ['id'],
    examples: ['sessions revoke ses_01jd3k4m5n6p7q8r9s0t1v2w3x', 'sessions revoke --operator anna'],
    confirm: 'End the session? The operator is signed out immediately.',
  })
    .input(
      z.strictObject({
        id: field(reference.optional(), { description: 'Session ID', acceptsId: true }),
        operator: field(reference.optional(), { description: 'End all sessions of this operator (name or ID)' }),
      }),
    )
    .output(z.object({ revoked: z.number(), nodes: nodesReached })),
}
