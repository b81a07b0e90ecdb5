import { z } from 'zod'
import { listScopeFields, reference, time } from '../fields.ts'
import { field, operation } from '../operation.ts'
import { hoursShape, limitShape, periodShape } from '../policies/limit-usage.ts'

const sumShape = z.object({
  requests: z.number(),
  tokens: z.number(),
  /** null: nothing of it has a price. */
  usd: z.number().nullable(),
  resets_at: time,
})

export const usageShape = z.object({
  key: z.object({ id: z.string(), name: z.string() }),
  project: z.string(),
  environment: z.string(),
  /** What policies limit, of all that apply to the key; empty: nothing is limited. */
  limits: z.array(limitShape),
  /** Their budgets. */
  periods: z.array(periodShape),
  /** Of each policy that allows certain hours only; all of them must be open. */
  hours: z.array(hoursShape),
  /** Days and months are those of the workspace's time zone. */
  today: sumShape,
  /** null: only where one key is asked for. */
  month: sumShape.nullable(),
  last_used_at: time.nullable(),
})

export const usage = operation({
  summary: 'Show the usage of keys and the limits of their policies',
  role: 'viewer',
  reach: 'project',
  effect: 'read',
  show: {
    as: 'table',
    columns: [
      { field: 'key.name', title: 'KEY' },
      { field: 'today.requests', title: 'TODAY', format: 'number', unit: 'req' },
      { field: 'today.tokens', title: 'TOKENS', format: 'number' },
      { field: 'today.usd', title: 'COST', format: 'money' },
      { field: 'month.requests', title: 'THIS MONTH', format: 'number', unit: 'req', optional: true },
      { field: 'month.usd', title: 'MONTH COST', format: 'money', optional: true },
      { field: 'limits', title: 'LIMITS', format: 'nearest', absent: 'none' },
      { field: 'periods', title: 'BUDGETS', format: 'nearest', absent: 'none' },
      { field: 'hours', title: 'HOURS', format: 'list', optional: true },
      { field: 'last_used_at', title: 'LAST USED', format: 'age' },
    ],
    empty: 'No keys yet. Create one: spgw keys create --name NAME',
  },
  positional: ['key'],
  examples: ['keys usage', 'keys usage ci', 'keys usage -p search --json'],
})
  .input(
    z.strictObject({
      key: field(reference.optional(), {
        description: 'Name, ID or last four of one key (default: all keys)',
        acceptsId: true,
      }),
      ...listScopeFields,
    }),
  )
  .output(z.array(usageShape))
