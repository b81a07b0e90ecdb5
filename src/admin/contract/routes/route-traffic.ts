import { z } from 'zod'
import { attemptFields, momentText, reference, scopeFields } from '../fields.ts'
import { field, operation } from '../operation.ts'

export const targetTrafficShape = z.object({
  provider: z.string(),
  upstream_model: z.string(),
  /** Whether it is a target of the route today. */
  target: z.boolean(),
  /** Attempts, not requests: other names of `tried` and `failed`. */
  requests: z.number(),
  errors: z.number(),
  ...attemptFields,
  /** Of the attempts that the route made at any provider: from 0 to 1. */
  share: z.number(),
  duration_p95_ms: z.number().nullable(),
  first_byte_p50_ms: z.number().nullable(),
})

export const traffic = operation({
  summary: 'Show where a route sent its requests, with counts and latency',
  role: 'viewer',
  reach: 'project',
  effect: 'read',
  show: {
    as: 'table',
    columns: [
      { field: 'provider', title: 'PROVIDER' },
      { field: 'upstream_model', title: 'MODEL' },
      { field: 'share', title: 'SHARE', format: 'share' },
      { field: 'tried', title: 'TRIED', format: 'number' },
      { field: 'failed', title: 'FAILED', format: 'number' },
      { field: 'fell_back', title: 'FELL BACK', format: 'number' },
      { field: 'first_byte_p50_ms', title: 'STREAM FIRST BYTE P50', format: 'duration' },
      { field: 'duration_p95_ms', title: 'P95', format: 'duration' },
    ],
    empty: 'No requests went through this route. Try it: spgw routes test MODEL',
  },
  positional: ['model'],
  examples: ['routes traffic gpt-4o', "routes traffic 'gpt-*' --all-environments --since 24h"],
})
  .input(
    z.strictObject({
      model: field(reference, {
        description: 'Model name, pattern or ID of the route',
        prompt: 'Which route?',
        acceptsId: true,
      }),
      ...scopeFields,
      allEnvironments: field(z.boolean().default(false), {
        description: 'The route is for all environments of the project',
      }),
      since: field(momentText.default('1h'), {
        description: 'Start: a duration before now, such as 24h, a day (UTC) or a time',
      }),
    }),
  )
  .output(z.array(targetTrafficShape))
