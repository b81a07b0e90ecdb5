import { eventIterator } from '@orpc/contract'
import { z } from 'zod'
import { missingBodies } from '../../../core/capture.ts'
import { momentText, reference } from '../fields.ts'
import { field, operation } from '../operation.ts'
import { bodiesShape } from './bodies.ts'
import { recordShape } from './record.ts'
import { requestColumns } from './request-columns.ts'
import { exportRequests } from './request-export.ts'
import { noRequest, requestFilters, requestWindow } from './request-filters.ts'
import { purge } from './request-purge.ts'
import { replay } from './request-replay.ts'
import { requestPage, search } from './request-search.ts'
import { series } from './request-series.ts'
import { send } from './send.ts'

export const statsWays = [
  ...(['total', 'key', 'model', 'provider', 'project', 'environment'] as const),
  ...(['tag', 'day', 'error', 'status', 'route', 'node'] as const),
] as const
export const statsOrders = ['requests', 'errors', 'tokens', 'cost'] as const
type StatsWay = (typeof statsWays)[number]

const isWay = (text: string): text is StatsWay => statsWays.some((way) => way === text)

/** `key`, or two with a comma between them. */
const waysToGroup = z
  .string()
  .refine((text) => readWays(text) !== null, `must be one or two of ${statsWays.join(', ')}, with a comma between them`)

export function readWays(text: string): StatsWay[] | null {
  const ways = text.split(',').map((way) => way.trim())
  return ways.length <= 2 && new Set(ways).size === ways.length && ways.every(isWay) ? ways : null
}

export const statsShape = z.object({
  /** Of a key its ID, else as `group`. */
  id: z.string(),
  group: z.string(),
  /** The parts of `group`, one for each way of grouping. */
  groups: z.array(z.string()),
  requests: z.number(),
  /** Copies for shadow targets: in tokens and cost, and in nothing else. */
  shadows: z.number(),
  errors: z.number(),
  interrupted: z.number(),
  interrupted_tokens: z.number(),
  input: z.number(),
  output: z.number(),
  cache_read: z.number(),
  cache_write: z.number(),
  reasoning: z.number(),
  usd: z.number().nullable(),
  duration_p50_ms: z.number().nullable(),
  duration_p95_ms: z.number().nullable(),
  duration_p99_ms: z.number().nullable(),
  first_byte_p50_ms: z.number().nullable(),
  first_byte_p95_ms: z.number().nullable(),
})

export const requests = {
  list: operation({
    summary: 'List requests, newest first',
    role: 'viewer',
    reach: 'project',
    effect: 'read',
    show: { as: 'table', columns: requestColumns, empty: noRequest },
    examples: [
      'requests list',
      'requests list --status 4xx --since 1h',
      'requests list --errors --slower-than 5s',
      'requests list --state interrupted',
      'requests list --key ci --limit 100 --json',
    ],
  })
    .input(
      z.strictObject({
        ...requestFilters,
        ...requestWindow,
        ...requestPage,
      }),
    )
    .output(z.array(recordShape)),
  show: operation({
    summary: 'Show what happened to a request',
    role: 'viewer',
    reach: 'project',
    effect: 'read',
    show: { as: 'record' },
    positional: ['id'],
    examples: ['requests show req_01jd3k4m5n6p7q8r9s0t1v2w3x', 'requests show req_01jd3k4m5n6p7q8r9s0t1v2w3x --bodies'],
  })
    .input(
      z.strictObject({
        id: field(reference, {
          description: 'Request ID, as in the x-sp-request-id header',
          prompt: 'Request ID',
          acceptsId: true,
        }),
        bodies: field(z.boolean().default(false), {
          description:
            'Also show the request and response bodies, if a policy captured them (admins only; every access is audited)',
          label: 'Show bodies',
        }),
      }),
    )
    .output(
      recordShape.extend({
        /** Only where they were asked for; null: none were kept, or not any more. */
        bodies: bodiesShape.nullable().optional(),
        /** In a cluster, why `bodies` is null although another node may have them. */
        bodies_missing: z.enum(missingBodies).optional(),
        /** When captured bodies are deleted at the latest; left out where there are none, or another node knows. */
        bodies_until: z.string().optional(),
      }),
    ),
  tail: operation({
    summary: 'Show requests as they finish',
    role: 'viewer',
    reach: 'project',
    effect: 'read',
    show: { as: 'live', columns: requestColumns, idle: 'Waiting for requests to finish.' },
    examples: [
      'requests tail',
      'requests tail --since 15m',
      'requests tail --error rate_limited --json',
      'requests tail --tag team=search',
    ],
  })
    .input(
      z.strictObject({
        ...requestFilters,
        since: field(momentText.optional(), {
          description:
            'First show the requests since then (at most 1,000): a duration before now, such as 15m, or a time',
        }),
        allStates: field(z.boolean().default(false), {
          description: 'Also show requests when they start; each appears again under the same ID when it finishes',
        }),
      }),
    )
    .output(eventIterator(recordShape)),
  stats: operation({
    summary: 'Show totals of requests, errors, tokens, cost and latency',
    role: 'viewer',
    reach: 'project',
    effect: 'read',
    show: {
      as: 'table',
      columns: [
        { field: 'group', title: 'GROUP' },
        { field: 'requests', title: 'REQUESTS', format: 'number' },
        { field: 'errors', title: 'ERRORS', format: 'number' },
        { field: 'input', title: 'TOKENS IN', format: 'number' },
        { field: 'output', title: 'TOKENS OUT', format: 'number' },
        { field: 'usd', title: 'COST', format: 'money' },
        { field: 'interrupted', title: 'INTERRUPTED', format: 'number' },
        { field: 'first_byte_p50_ms', title: 'STREAM FIRST BYTE P50', format: 'duration' },
        { field: 'first_byte_p95_ms', title: 'STREAM FIRST BYTE P95', format: 'duration' },
        { field: 'duration_p50_ms', title: 'P50', format: 'duration' },
        { field: 'duration_p95_ms', title: 'P95', format: 'duration' },
        { field: 'duration_p99_ms', title: 'P99', format: 'duration' },
      ],
      empty: noRequest,
      // Models and tags are the clients' own words: there may be thousands.
      first: 50,
    },
    examples: [
      'requests stats --since 24h',
      'requests stats --by key,model',
      'requests stats --by key --sort cost --since 2026-01-30 --until 2026-01-31',
      'requests stats --by error --json',
    ],
  })
    .input(
      z.strictObject({
        ...requestFilters,
        ...requestWindow,
        by: field(waysToGroup.default('total'), {
          description: `How to group the totals, by one or two (key,model): ${statsWays.join(', ')}; days are those of UTC`,
          label: 'Group by',
        }),
        sort: field(z.enum(statsOrders).optional(), {
          description: 'Which groups come first: those with the most of it (default: requests, or by day the oldest)',
          label: 'Sort by',
        }),
        limit: field(z.int().min(1).optional(), {
          description:
            'Maximum number of groups, in the order of --sort; by day the latest (default: all, of which a terminal shows 50)',
          label: 'Groups',
          help: 'Maximum number of groups: the first of them, or by day the latest. Empty: all',
        }),
      }),
    )
    .output(z.array(statsShape)),
  series,
  search,
  export: exportRequests,
  replay,
  purge,
  send,
}
