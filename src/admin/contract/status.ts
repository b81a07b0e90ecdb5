import { z } from 'zod'
import { partNames } from '../../core/degraded.ts'
import { nodeState, outboxShape, recordsPlace, valkeyShape } from './cluster.ts'
import { time } from './fields.ts'
import { operation } from './operation.ts'
import { periodShape } from './policies/limit-usage.ts'

const trafficShape = z.object({
  requests_per_second: z.number(),
  /** From 0 to 1; null: nothing has ended. */
  error_share: z.number().nullable(),
  duration_p95_ms: z.number().nullable(),
  /** null: nothing of it has a price. */
  usd_per_hour: z.number().nullable(),
})

export const statusShape = z.object({
  version: z.string(),
  started_at: time,
  gateway_url: z.string(),
  console_url: z.string().nullable(),
  data_directory: z.string(),
  /** What it was started with; null: no file. */
  settings_file: z.string().nullable(),
  process_id: z.number(),
  workers: z.number(),
  /** null, here and below, to whoever was given single projects only: these are sums over all. */
  in_flight: z.number().nullable(),
  /** Of large bodies that are held in memory, and how many may be. */
  held_bytes: z.number().nullable(),
  held_limit: z.number(),
  requests_since_start: z.number().nullable(),
  /** Of what has ended within the last minute. The percentile is off by 3 % at the most. */
  traffic: trafficShape.nullable(),
  /** Of policies; the 20 nearest to their end, these first. */
  budgets: z.array(periodShape),
  /** Taken out of service by `cluster drain`: what comes is still served, and `/readyz` says 503. */
  draining: z.boolean(),
  /** Empty is well. */
  degraded: z.array(z.object({ part: z.enum(partNames), reason: z.string(), since: time })),
  providers: z.object({
    ready: z.number(),
    failing: z.number(),
    recovering: z.number(),
    unchecked: z.number(),
    inactive: z.number(),
  }),
  routes: z.number(),
  keys: z.number(),
  /** null also while the store has not said. */
  database_bytes: z.number().nullable(),
  /** `records.max_disk`: beyond it the oldest bodies and records go. Null: none. */
  database_limit_bytes: z.number().nullable(),
  /** The clock was set ahead: until then no record is removed for its age. Null: it is believed. */
  removal_held_until: time.nullable(),
  journal_bytes: z.number().nullable(),
  /** What is left on the disk of the data directory. */
  disk_free_bytes: z.number().nullable(),
  schema_version: z.string().nullable(),
  /** Every request that ended before this has its record in the store. */
  records_stored_at: time.nullable(),
  /** Parts of the journal that could not be read, as files below `journal/set-aside`. */
  set_aside: z.array(z.string()),
  /** Entries that never reached the journal, since the start. */
  entries_lost: z.number(),
  /** Traces (`telemetry.otlp_endpoint`) since the start, in requests; null: none are exported, and to whoever was given single projects only. */
  traces: z
    .object({
      endpoint: z.string(),
      pending: z.number(),
      exported: z.number(),
      /** Too many waited, their record was removed, or the collector rejected them. */
      dropped: z.number(),
      /** Why the last export failed; null: it did not. */
      trouble: z.string().nullable(),
    })
    .nullable(),
  /** Of which cluster this gateway is a node; null: the settings name none. */
  cluster: z
    .object({
      /** null: it is not a member yet. */
      id: z.string().nullable(),
      /** `shared`: all nodes together keep to each budget. */
      budgets: z.enum(['shared', 'local']),
      /** `local`: each node counts limits for itself. */
      limits: z.enum(['shared', 'local']),
      /** null: none is configured; also to whoever was given single projects only. */
      valkey: valkeyShape.nullable(),
      records: recordsPlace,
      outbox: outboxShape.nullable(),
      /** This one first; of the others what they said some seconds ago. */
      nodes: z.array(
        z.object({
          name: z.string(),
          /** Of what follows nothing is known of one that is `absent` or `unknown`; `cluster status` has the words. */
          state: nodeState,
          in_flight: z.number().nullable(),
          traffic: trafficShape.nullable(),
          degraded: z.array(z.object({ part: z.string(), reason: z.string(), since: time })),
          /** By so much its clock is ahead of PostgreSQL's; negative: behind; null: they are together, or nobody knows. */
          clock_ahead_ms: z.number().nullable(),
          /** It was taken out of service by `cluster drain`; null: nothing is heard of it, or it is of a version that does not say. */
          draining: z.boolean().nullable(),
        }),
      ),
    })
    .nullable(),
  /** Threads whose event loop was blocked for more than half a second since the start, and by what. Empty is well. */
  long_turns: z.array(
    z.object({
      thread: z.string(),
      count: z.number(),
      longest_ms: z.number(),
      last_at: time,
      /** null to whoever was given single projects only. */
      last_work: z.string().nullable(),
    }),
  ),
})

export const status = operation({
  summary: 'Show the state of the gateway',
  role: 'viewer',
  reach: 'project',
  effect: 'read',
  show: { as: 'record' },
  examples: ['status', 'status --json'],
})
  .input(z.strictObject({}))
  .output(statusShape)
