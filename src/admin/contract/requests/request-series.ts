import { z } from 'zod'
import { durationText, time } from '../fields.ts'
import { field, operation } from '../operation.ts'
import { noRequest, requestFilters, requestWindow } from './request-filters.ts'

const milliseconds = z.number().nullable()

export const seriesPoint = z.object({
  /** Start of the step. */
  time,
  requests: z.number(),
  errors: z.number(),
  input: z.number(),
  output: z.number(),
  usd: z.number().nullable(),
  duration_p50_ms: milliseconds,
  duration_p95_ms: milliseconds,
  duration_p99_ms: milliseconds,
  first_byte_p50_ms: milliseconds,
  first_byte_p95_ms: milliseconds,
})

/** Every step from `since` to `until` has its point in each group. The last one may still be filling. */
export const seriesShape = z.object({
  /** Start of the first step: a multiple of the step, so that charts drawn one after another fit together. */
  since: time,
  until: time,
  step_ms: z.number(),
  /** Busiest first; the rest together as `other`. */
  groups: z.array(z.object({ group: z.string(), points: z.array(seriesPoint) })),
})

export const series = operation({
  summary: 'Show requests, errors, tokens, cost and latency over time, as for a chart',
  role: 'viewer',
  reach: 'project',
  effect: 'read',
  show: {
    as: 'table',
    rows: ['groups', 'points'],
    columns: [
      { field: 'time', title: 'TIME', format: 'time' },
      { field: 'group', title: 'GROUP' },
      { field: 'requests', title: 'REQUESTS', format: 'number' },
      { field: 'errors', title: 'ERRORS', format: 'number' },
      { field: 'input', title: 'TOKENS IN', format: 'number' },
      { field: 'output', title: 'TOKENS OUT', format: 'number' },
      { field: 'usd', title: 'COST', format: 'money' },
      { field: 'first_byte_p50_ms', title: 'STREAM FIRST BYTE P50', format: 'duration' },
      { field: 'duration_p50_ms', title: 'P50', format: 'duration' },
      { field: 'duration_p95_ms', title: 'P95', format: 'duration' },
      { field: 'duration_p99_ms', title: 'P99', format: 'duration' },
    ],
    empty: noRequest,
  },
  examples: ['requests series', 'requests series --since 7d --step 1d', 'requests series --since 1h --by model --json'],
})
  .input(
    z.strictObject({
      ...requestFilters,
      ...requestWindow,
      since: field(requestWindow.since.unwrap().default('24h'), {
        description: 'Start: a duration before now, such as 24h, a day (UTC) or a time',
      }),
      step: field(z.union([z.literal('auto'), durationText]).default('auto'), {
        description: 'Length of a step: a duration, or auto for about 60 steps',
      }),
      by: field(
        z
          .enum(['total', 'key', 'model', 'provider', 'project', 'environment', 'tag', 'status', 'error', 'node'])
          .default('total'),
        {
          description: 'How to group: the eight busiest groups, and all others as one',
          label: 'Group by',
          help: 'The eight busiest groups are shown; all others count as one',
        },
      ),
    }),
  )
  .output(seriesShape)
