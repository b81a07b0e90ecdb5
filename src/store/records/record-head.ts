import type { AttemptFigure } from '../../core/attempt-figures.ts'
import type { RequestRecord, TokenUsage } from '../../core/record.ts'
import { readAttempts } from './attempts-json.ts'

/** What became of a record that was written; null: what stands there stays. */
export type RecordChange = 'added' | 'replaced' | null

/** The part of a record that columns and counts are made of. It stands before the lists, which are the bulk. */
export interface RecordHead
  extends Pick<
    RequestRecord,
    | 'id'
    | 'state'
    | 'time'
    | 'lane'
    | 'project'
    | 'environment'
    | 'key'
    | 'model'
    | 'provider'
    | 'upstream_model'
    | 'status'
    | 'error'
    | 'cost'
    | 'duration_ms'
    | 'first_byte_ms'
    | 'shadow_of'
    | 'trace'
  > {
  tokens: Partial<TokenUsage> | null
  /** Of its attempts; null: exactly one, which was answered. */
  figures: AttemptFigure[] | null
}

/** Neither may stand in a string: its quotation marks would be escaped. */
const listsBegin = ',"attempts":'
const times = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

/**
 * Reads the head of a record's JSON without parsing the rest of it. Fields that are absent are null. Null for what has
 * no id, no time, or is no JSON as far as it is read.
 */
export function readHead(text: string, kind: 'admitted' | 'settled'): RecordHead | null {
  const end = text.indexOf(listsBegin)
  const short = end < 0 ? null : parse(`${text.slice(0, end)}}`)
  // A writer with another order of fields costs time, never a column.
  const found = short !== null && isWhole(short) ? short : parse(text)
  if (found === null || typeof found.id !== 'string') return null
  const time = readTime(found.time)
  if (time === null) return null
  return {
    id: found.id,
    state: found.state ?? kind,
    time,
    lane: found.lane ?? null,
    project: found.project ?? null,
    environment: found.environment ?? null,
    key: found.key ?? null,
    model: found.model ?? null,
    provider: found.provider ?? null,
    upstream_model: found.upstream_model ?? null,
    status: found.status ?? null,
    error: found.error ?? null,
    tokens: found.tokens ?? null,
    cost: found.cost ?? null,
    shadow_of: found.shadow_of ?? null,
    duration_ms: found.duration_ms ?? null,
    trace: found.trace ?? null,
    first_byte_ms: firstByteOf(found),
    figures: readFigures(text, found),
  }
}

type FoundHead = Partial<RecordHead> & Pick<Partial<RequestRecord>, 'streamed'>

/** Of a whole answer it is the time to all of it, which says nothing about the first token. */
function firstByteOf({ streamed, first_byte_ms = null }: FoundHead): number | null {
  return streamed === false ? null : first_byte_ms
}

/** A record that tells of a provider and of no attempt at it (a line of a batch) counts as one, by its own end. */
function readFigures(text: string, head: FoundHead): AttemptFigure[] | null {
  const figures = readAttempts(text, head.error ?? null)
  if (figures === null || figures.length > 0) return figures
  const { provider = null, upstream_model, status, error, duration_ms = null } = head
  if (provider === null || (!error && (status ?? 0) < 400)) return null
  const model = upstream_model ?? ''
  return [{ provider, model, outcome: 'failed', duration: duration_ms, firstByte: firstByteOf(head) }]
}

/** Shapes are vouched for by the writer; the database refuses values that its columns do not take. */
function parse(text: string): FoundHead | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : null
  } catch {
    return null
  }
}

const headFields = [
  ...(['streamed', 'id', 'time', 'state', 'lane', 'project', 'environment', 'key', 'model', 'provider'] as const),
  ...(['upstream_model', 'status', 'error', 'tokens', 'cost', 'shadow_of', 'duration_ms', 'first_byte_ms'] as const),
] as const

function isWhole(head: FoundHead): boolean {
  return headFields.every((name) => head[name] !== undefined)
}

/** As RFC 3339 with milliseconds, so that times sort as text. */
export function readTime(time: unknown): string | null {
  if (typeof time !== 'string') return null
  if (times.test(time)) return time
  const parsed = Date.parse(time)
  return Number.isNaN(parsed) ? null : new Date(parsed).toISOString()
}
