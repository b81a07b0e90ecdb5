import type { AttemptCounts } from '../../core/attempt-figures.ts'
import type { LaneName } from '../../core/lane.ts'
import type { Cost, RequestRecord } from '../../core/record.ts'

export interface RecordTables {
  records: {
    list(filter: RecordFilter): RequestRecord[]
    /** The same, with what is found within so many milliseconds. */
    search(filter: RecordFilter, withinMs: number): FoundRecords
    /** A `req_` id; an id that shared a record (contract.md rule 16) resolves to that record. */
    get(id: string): RequestRecord | null
    /** Busiest group first, days in order. `limit` and `before` do not apply. */
    stats(filter: RecordFilter, by: StatsBy | StatsBy[]): StatsRow[]
    /** By key, and of it what came at or after `lately` (RFC 3339, UTC). `limit` and `before` do not apply. */
    usage(filter: RecordFilter, lately: string): UsageRow[]
    /** Busiest group first, the rest together as `other`. `limit` and `before` do not apply. */
    series(filter: RecordFilter, question: SeriesQuestion): SeriesGroup[]
    /** Attempts step by step, of whatever requests. `limit` and `before` do not apply. */
    attemptSeries(filter: RecordFilter, question: AttemptQuestion): AttemptSeries
    /** Attempts by provider. `limit` and `before` do not apply. */
    attempts(filter: RecordFilter): ProviderAttempts[]
    /** Where attempts were sent, busiest first, without what was asked in these environments. `limit` and `before` do not apply. */
    targets(filter: RecordFilter, notIn: readonly string[]): TargetRow[]
    /** Puts another cost on these, and returns how many there were. */
    reprice(costs: readonly RecordCost[]): number
  }
}

/** Of a record, and of the attempt that had its answer. */
export interface RecordCost {
  id: string
  cost: Cost
  attempt: Cost | null
  /** Why it is not whole: the price has no rate for a part of what it used. Absent: it has one for all. */
  unpriced?: string
}

export interface FoundRecords {
  records: RequestRecord[]
  /** Where the next page begins, as its `before`; null: there is none. */
  before: string | null
  /** RFC 3339: how far back the search came before its time was over; null: the page is whole. */
  searchedUntil: string | null
}

/** How long records and bodies are kept, in milliseconds, and how much. */
export interface Retention {
  recordsMs: number
  bodiesMs: number
  /** Of the database; beyond it the oldest bodies go, then the oldest records. Null: whatever it takes. */
  mostBytes: number | null
}

/** What is removed; `filter.before` is where the next slice begins. */
export interface PurgeQuestion {
  filter: RecordFilter
  /** Only what was captured: the records stay. */
  bodies: boolean
}

export interface PurgeSlice {
  /** Records, or bodies. */
  removed: number
  /** Where the next slice begins; null: nothing is left. */
  before: string | null
}

export interface RecordFilter {
  project?: string
  /** Ids: of these projects only, as they were called when the request came, whatever else is asked. */
  projects?: string[]
  environment?: string
  key?: string
  model?: string
  provider?: string
  /** A status (`429`), or a class (`4xx`). */
  status?: string
  error?: string
  /** Only what ended in an error: with an error code, or a status from 400 on. */
  errors?: true
  /** Only what took at least so many milliseconds. */
  slowerThanMs?: number
  /** Only what one target failed and another was asked for. */
  fellBack?: true
  /** Only what an attempt at this provider failed for. */
  failedAt?: string
  state?: RequestRecord['state']
  lane?: LaneName
  /** Only where records of several nodes are read. */
  node?: string
  since?: string
  until?: string
  /** Part of an id. */
  id?: string
  /** Model name or pattern of the route that it matched. */
  route?: string
  /** With all of these; null: whatever the value. */
  tags?: Record<string, string | null>
  /** Records older than this id (paging backwards). */
  before?: string
  limit: number
}

export type StatsBy =
  | 'key'
  | 'model'
  | 'provider'
  | 'project'
  | 'tag'
  | 'status'
  | 'error'
  | 'day'
  | 'total'
  | 'environment'
  | 'route'
  /** Only where records of several nodes are read. */
  | 'node'

/** What records add up to. */
export interface RecordSums {
  /** That clients sent. */
  requests: number
  /** Copies for shadow targets: in tokens and cost, and in nothing else. */
  shadows: number
  errors: number
  interrupted: number
  /** Of `input` and `output`, what interrupted requests are charged: their holds. */
  interrupted_tokens: number
  input: number
  output: number
  cache_read: number
  cache_write: number
  reasoning: number
  usd: number | null
  duration_p50_ms: number | null
  duration_p95_ms: number | null
  duration_p99_ms: number | null
  first_byte_p50_ms: number | null
  first_byte_p95_ms: number | null
}

export interface StatsRow extends RecordSums {
  /** Of a key its id, else as `group`. */
  id: string
  group: string
  /** The parts of `group`: one for each way of grouping. */
  groups: string[]
}

export interface UsageSum {
  requests: number
  /** Of input and output. */
  tokens: number
  /** Those that no provider has written: of answers out of the cache, which no budget counts. */
  cached: number
  /** null: nothing of it has a price. */
  usd: number | null
}

export interface UsageRow {
  /** Of the key; `-`: none. */
  id: string
  whole: UsageSum
  lately: UsageSum
}

export interface ProviderAttempts extends AttemptSums {
  provider: string
}

/** What attempts add up to. */
export interface AttemptSums extends AttemptCounts {
  duration_p95_ms: number | null
  first_byte_p50_ms: number | null
}

export interface TargetRow extends AttemptSums {
  provider: string
  upstream_model: string
}

export interface AttemptQuestion {
  /** Its name; null: all of them. */
  provider: string | null
  /** Start of the first step, milliseconds since the epoch. */
  from: number
  stepMs: number
  steps: number
}

export interface AttemptSeries {
  /** Of all that the question is about. */
  points: AttemptPoint[]
  /** Of each that was tried at all. */
  providers: { provider: string; points: AttemptPoint[] }[]
}

export interface AttemptPoint {
  /** Start of the step. */
  time: string
  tried: number
  /** Those that fell back, too. */
  failed: number
  fell_back: number
  duration_p50_ms: number | null
  duration_p95_ms: number | null
}

export interface SeriesQuestion {
  by: Exclude<StatsBy, 'day'>
  /** Start of the first step, milliseconds since the epoch. */
  from: number
  stepMs: number
  steps: number
  /** So many groups are told apart. */
  most: number
}

export interface SeriesPoint
  extends Omit<
    RecordSums,
    'shadows' | 'interrupted' | 'interrupted_tokens' | 'cache_read' | 'cache_write' | 'reasoning'
  > {
  /** Start of the step. */
  time: string
}

export interface SeriesGroup {
  group: string
  points: SeriesPoint[]
}
