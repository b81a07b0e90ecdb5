import type { ErrorOrigin, RecordErrorCode } from './errors.ts'
import type { LaneName } from './lane.ts'
import type { TraceContext } from './trace-context.ts'

/** In sums, the name of what had none: refused before a model was read, or sent without a key. */
export const noGroup = '(none)'

/**
 * The request record: a public format (product.md section 3). Field names do not change once released;
 * a missing value is null, never left out. Times are RFC 3339 UTC, durations milliseconds.
 */
export interface RequestRecord {
  id: string
  state: 'admitted' | 'settled' | 'interrupted'
  /** Of a cluster that shares its records, the node that answered; null: there is none. */
  node: string | null
  time: string
  lane: LaneName | null
  operation: string | null
  /** Of the HTTP request, as the client wrote it; null where there was none, or none that could be read. */
  method: string | null
  /** Without the query. */
  path: string | null
  project: string | null
  environment: string | null
  key: { id: string; name: string } | null
  model: string | null
  route: string | null
  provider: string | null
  upstream_model: string | null
  status: number | null
  error: { code: RecordErrorCode; origin: ErrorOrigin; message: string } | null
  streamed: boolean
  /** While a request is admitted, and for good when it is interrupted: its hold, estimated. */
  tokens: TokenUsage | null
  usage_detail: UsageDetail | null
  cost: Cost | null
  /** In USD: by how much the use exceeded its hold. */
  estimate_error: number | null
  duration_ms: number | null
  first_byte_ms: number | null
  /** The distributed trace that the client named (`traceparent`); null: none, or none that is valid. */
  trace: TraceContext | null
  /** The last is the one whose outcome the client got. */
  attempts: AttemptRecord[]
  timeline: TimelineEntry[]
  policy_signals: Signal[]
  routing_signals: Signal[]
  losses: string[]
  /** What became of the signed reasoning of earlier turns at the last attempt; null: there was none. */
  reasoning: ReasoningState | null
  provider_request_id: string | null
  /** Id of the request that this one repeats for comparison. */
  shadow_of: string | null
  request_bytes: number
  response_bytes: number
  client: { address: string | null; user_agent: string | null }
  tags: Record<string, string>
}

/** `input` is the whole prompt with cached tokens in it, `output` with reasoning in it, whatever the provider's own convention. */
export interface TokenUsage {
  input: number
  output: number
  cache_read: number
  cache_write: number
  reasoning: number
  source: 'reported' | 'estimated'
}

/** What a vendor's usage leaves out of its counts, where its totals do not show it. */
export interface UsageConvention {
  /** Reasoning tokens are in neither the output nor the total. */
  reasoningBeside: boolean
}

/** What `TokenUsage` has no field for, and what is priced otherwise; null where it was not reported. */
export interface UsageDetail {
  cache_write_1h: number | null
  audio_input: number | null
  audio_output: number | null
  audio_cached: number | null
  image_input: number | null
  image_output: number | null
  image_cached: number | null
  video_input: number | null
  searches: number | null
  /** Calls of a search in the provider's own stores, and sessions of its code interpreter. */
  file_searches: number | null
  containers: number | null
  seconds: number | null
  characters: number | null
  images: number | null
  /** Of these images, as asked: `SIZE` or `SIZE/QUALITY`. */
  image_size: string | null
  /** As the answer says, not the request. */
  tier: string | null
  /** Where it was processed, as the answer says. */
  geo: string | null
  batch: boolean | null
}

export const blankUsageDetail: Readonly<UsageDetail> = {
  cache_write_1h: null,
  audio_input: null,
  audio_output: null,
  audio_cached: null,
  image_input: null,
  image_output: null,
  image_cached: null,
  video_input: null,
  searches: null,
  file_searches: null,
  containers: null,
  seconds: null,
  characters: null,
  images: null,
  image_size: null,
  tier: null,
  geo: null,
  batch: null,
}

export interface Cost {
  usd: number
  price_version: string
}

export interface AttemptRecord {
  provider: string
  upstream_model: string
  status: number | null
  /** `answered`, `retry`, `fallback`, `passed`, `aborted`, `cancelled` (another target was faster), or an error code. */
  outcome: string
  started_ms: number
  connected_ms: number | null
  first_byte_ms: number | null
  ended_ms: number | null
  message: string | null
  cost: Cost | null
  /** Left out where no signed reasoning of earlier turns was to go back. */
  reasoning?: ReasoningState
  /** The model that says it has answered, where its price counts and not that of `upstream_model`; else left out. */
  priced_as?: string
}

/**
 * Signed or encrypted reasoning of earlier turns, on its way back to the provider that made it. `attached`: the gateway had kept it and put
 * it back. `carried`: the client brought it. `missing`: the model reasons, but of what it thought before its calls nothing was found.
 * `stripped`: some of it was removed, since it is another provider's or was refused. Of several, the last named here counts.
 */
export const reasoningStates = ['carried', 'attached', 'missing', 'stripped'] as const
export type ReasoningState = (typeof reasoningStates)[number]

/** `at_ms` counts from the moment the request was received. */
export interface TimelineEntry {
  event:
    | 'received'
    | 'admitted'
    | 'attempt'
    | 'connected'
    | 'first_byte'
    /** A wait before the same target is tried again began. */
    | 'wait'
    /** A target was not called; which, and why, is among the routing signals. */
    | 'skipped'
    | 'content'
    | 'last_byte'
    | 'done'
  at_ms: number
}

/** One rule looked at (policy) or one decision taken (routing); `text` is the sentence people read. */
export interface Signal {
  rule: string
  verdict: 'pass' | 'deny' | 'flag' | 'taken' | 'skipped' | 'note'
  text: string
  data?: Record<string, string | number | boolean | null>
}
