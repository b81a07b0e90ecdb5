import { z } from 'zod'
import { errorCodes, type RecordErrorCode } from '../../../core/errors.ts'
import { reasoningStates } from '../../../core/record.ts'
import { laneName, time } from '../fields.ts'

/** The request record of `core/record.ts` as a schema; a test holds the two to one another. */

const milliseconds = z.number().nullable()
const recordErrorCodes: [RecordErrorCode, ...RecordErrorCode[]] = ['client_closed', 'provider_error', ...errorCodes]

export const signalShape = z.object({
  rule: z.string(),
  verdict: z.enum(['pass', 'deny', 'flag', 'taken', 'skipped', 'note']),
  text: z.string(),
  data: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])).optional(),
})

const cost = z.object({ usd: z.number(), price_version: z.string() }).nullable()
const amount = z.number().nullable()

export const attemptShape = z.object({
  provider: z.string(),
  upstream_model: z.string(),
  status: z.number().nullable(),
  outcome: z.string(),
  started_ms: z.number(),
  connected_ms: milliseconds,
  first_byte_ms: milliseconds,
  ended_ms: milliseconds,
  message: z.string().nullable(),
  cost,
  reasoning: z.enum(reasoningStates).optional(),
  priced_as: z.string().optional(),
})

export const recordShape = z.object({
  id: z.string(),
  state: z.enum(['admitted', 'settled', 'interrupted']),
  node: z.string().nullable(),
  time,
  lane: laneName.nullable(),
  operation: z.string().nullable(),
  method: z.string().nullable(),
  path: z.string().nullable(),
  project: z.string().nullable(),
  environment: z.string().nullable(),
  key: z.object({ id: z.string(), name: z.string() }).nullable(),
  model: z.string().nullable(),
  route: z.string().nullable(),
  provider: z.string().nullable(),
  upstream_model: z.string().nullable(),
  status: z.number().nullable(),
  error: z
    .object({
      code: z.enum(recordErrorCodes),
      origin: z.enum(['client', 'policy', 'gateway', 'provider', 'network']),
      message: z.string(),
    })
    .nullable(),
  streamed: z.boolean(),
  tokens: z
    .object({
      input: z.number(),
      output: z.number(),
      cache_read: z.number(),
      cache_write: z.number(),
      reasoning: z.number(),
      source: z.enum(['reported', 'estimated']),
    })
    .nullable(),
  usage_detail: z
    .object({
      cache_write_1h: amount,
      audio_input: amount,
      audio_output: amount,
      audio_cached: amount,
      image_input: amount,
      image_output: amount,
      image_cached: amount,
      video_input: amount,
      searches: amount,
      file_searches: amount,
      containers: amount,
      seconds: amount,
      characters: amount,
      images: amount,
      image_size: z.string().nullable(),
      tier: z.string().nullable(),
      geo: z.string().nullable(),
      batch: z.boolean().nullable(),
    })
    .nullable(),
  cost,
  estimate_error: z.number().nullable(),
  duration_ms: milliseconds,
  first_byte_ms: milliseconds,
  trace: z
    .object({ trace_id: z.string(), parent_id: z.string(), sampled: z.boolean(), state: z.string().nullable() })
    .nullable(),
  attempts: z.array(attemptShape),
  timeline: z.array(
    z.object({
      event: z.enum([
        ...['received', 'admitted', 'attempt', 'connected', 'first_byte', 'wait', 'skipped', 'content'],
        ...['last_byte', 'done'],
      ] as const),
      at_ms: z.number(),
    }),
  ),
  policy_signals: z.array(signalShape),
  routing_signals: z.array(signalShape),
  losses: z.array(z.string()),
  reasoning: z.enum(reasoningStates).nullable(),
  provider_request_id: z.string().nullable(),
  shadow_of: z.string().nullable(),
  request_bytes: z.number(),
  response_bytes: z.number(),
  client: z.object({ address: z.string().nullable(), user_agent: z.string().nullable() }),
  tags: z.record(z.string(), z.string()),
})
