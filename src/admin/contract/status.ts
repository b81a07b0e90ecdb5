import { z } from 'zod'
import { time } from './fields.ts'
import { operation } from './operation.ts'

export const statusShape = z.object({
  version: z.string(),
  started_at: time,
  gateway_url: z.string(),
  console_url: z.string().nullable(),
  data_directory: z.string(),
  process_id: z.number(),
  workers: z.number(),
  in_flight: z.number(),
  requests_since_start: z.number(),
  /** Reasons; empty is well. */
  degraded: z.array(z.string()),
  providers: z.object({ ready: z.number(), failing: z.number(), unchecked: z.number(), inactive: z.number() }),
  routes: z.number(),
  keys: z.number(),
  database_bytes: z.number(),
  journal_bytes: z.number(),
  schema_version: z.string(),
})

export const status = operation({
  summary: 'Show how the gateway is',
  role: 'viewer',
  effect: 'read',
  show: { as: 'record' },
  examples: ['status', 'status --json'],
})
  .input(z.strictObject({}))
  .output(statusShape)
