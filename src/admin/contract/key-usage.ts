import { z } from 'zod'
import { reference, scopeFields, time } from './fields.ts'
import { field, operation } from './operation.ts'

export const usageShape = z.object({
  what: z.enum(['requests', 'tokens', 'usd', 'concurrent']),
  window: z.enum(['now', 'minute', 'day', 'month']),
  used: z.number(),
  /** null: no policy limits it. */
  limit: z.number().nullable(),
  /** The one that limits it; null with `limit`. */
  policy: z.string().nullable(),
  /** When it begins anew; null: it does not. */
  resets_at: time.nullable(),
})

export const usage = operation({
  summary: 'Show what a key has used, beside what its policies allow',
  role: 'viewer',
  reach: 'project',
  effect: 'read',
  show: {
    as: 'table',
    columns: [
      { field: 'what', title: 'WHAT' },
      { field: 'window', title: 'IN A' },
      { field: 'used', title: 'USED', format: 'number' },
      { field: 'limit', title: 'OF', format: 'number', absent: 'no limit' },
      { field: 'policy', title: 'POLICY' },
      { field: 'resets_at', title: 'RESETS', format: 'age' },
    ],
    empty: 'Nothing is counted for this key.',
  },
  positional: ['key'],
  examples: ['keys usage ci', 'keys usage ci --json'],
})
  .input(
    z.strictObject({
      key: field(reference, { description: 'Name, id or last four of the key', prompt: 'Which key?' }),
      ...scopeFields,
    }),
  )
  .output(z.array(usageShape))
