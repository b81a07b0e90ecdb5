import { z } from 'zod'
import { time } from '../fields.ts'

const place = {
  policy: z.string(),
  /** What shares the counter: `workspace`, `project:P`, `environment:P/E` or `key:P/E/NAME`. */
  scope: z.string(),
}

export const limitShape = z.object({
  ...place,
  /** `requests` and `tokens`: in any 60 seconds. */
  kind: z.enum(['requests', 'tokens', 'concurrency']),
  /** null: each end user has a counter of its own. */
  used: z.number().nullable(),
  /** Nodes count it together, and `used` includes what they hold in hand for the next seconds; absent: it does not. */
  used_includes_held: z.literal(true).optional(),
  limit: z.number(),
  /** When all of it is free again, if nothing more is used; null: at once. */
  resets_at: time.nullable(),
})

export const periodShape = z.object({
  ...place,
  kind: z.enum(['usd', 'tokens']),
  period: z.enum(['day', 'month']),
  used: z.number().nullable(),
  /** By requests in progress. */
  held: z.number().nullable(),
  limit: z.number(),
  /** When the next day or month of the workspace's time zone begins. */
  resets_at: time,
})

/** When requests are allowed, of one policy. */
export const hoursShape = z.object({
  policy: z.string(),
  hours: z.array(z.string()),
  time_zone: z.string(),
  open: z.boolean(),
  /** null: it is open now. */
  opens_at: time.nullable(),
  /** null: it is closed now, or always open. */
  closes_at: time.nullable(),
})

export const policyUsageShape = z.object({
  policy: z.string(),
  /** Budgets. */
  periods: z.array(periodShape),
  limits: z.array(limitShape),
})
