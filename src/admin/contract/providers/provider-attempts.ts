import { z } from 'zod'
import { attemptFields, durationText, momentText, reference, time } from '../fields.ts'
import { field, operation } from '../operation.ts'

const milliseconds = z.number().nullable()
const pointShape = z.object({ time, ...attemptFields, duration_p50_ms: milliseconds, duration_p95_ms: milliseconds })

export const attempts = operation({
  summary: 'Show the attempts at providers over time: how many, how many failed, and how long they took',
  role: 'viewer',
  reach: 'workspace',
  effect: 'read',
  show: {
    as: 'table',
    rows: ['points'],
    columns: [
      { field: 'time', title: 'TIME', format: 'time' },
      { field: 'tried', title: 'ATTEMPTS', format: 'number' },
      { field: 'failed', title: 'FAILED', format: 'number' },
      { field: 'fell_back', title: 'FELL BACK', format: 'number' },
      { field: 'duration_p50_ms', title: 'P50', format: 'duration' },
      { field: 'duration_p95_ms', title: 'P95', format: 'duration' },
    ],
    empty: 'No attempts in this time.',
  },
  positional: ['name'],
  examples: [
    'providers attempts',
    'providers attempts openai',
    'providers attempts openai --since 24h --step 1h --json',
  ],
})
  .input(
    z.strictObject({
      name: field(reference.optional(), {
        description: 'Name or ID of one provider (default: all providers)',
        acceptsId: true,
      }),
      since: field(momentText.default('1h'), {
        description: 'Start: a duration before now, such as 24h, a day (UTC) or a time',
      }),
      step: field(z.union([z.literal('auto'), durationText]).default('auto'), {
        description: 'Length of a step: a duration, or auto for about 60 steps',
      }),
    }),
  )
  /** Every step from `since` to `until`. A request that is retried or falls back makes several attempts. */
  .output(
    z.object({
      since: time,
      until: time,
      step_ms: z.number(),
      points: z.array(pointShape),
      /** The same by provider, of those that were tried at all. */
      providers: z.array(z.object({ provider: z.string(), points: z.array(pointShape) })),
    }),
  )
