import { type AskedTools, addTools, type CacheWrites } from '../cost/asked-tools.ts'
import type { ObjectName } from './stored-object.ts'
/** An object that an answer names as created. */
export interface CreatedObject extends ObjectName {
  /** Of a file with a batch's results: the batch. */
  batchId?: string
  /** Of a file that a batch may read: what its lines name. */
  input?: BatchInput
}

/**
 * What the lines of a file name that a batch may read, as they were seen when the file passed. The file itself is not
 * kept, and its provider reads it hours later: what it names is judged by this when a batch is to be made of it.
 */
export interface BatchInput {
  lines: number
  models: string[]
  objects: ObjectName[]
  /** Why not all of it is known, as half a sentence; null: it is. */
  unread: string | null
  /** What they ask for, by model; left out by gateways that counted nothing. */
  asks?: BatchAsk[]
}

/** What the requests of a batch by one model may come to, as far as they say so themselves. */
export interface BatchAsk {
  /** null: the batch's own. */
  model: string | null
  /** Models that may answer in its place. Left out: none, and by earlier versions. */
  others?: readonly string[]
  lines: number
  bytes: number
  /** Bytes of the largest, since its length may choose other rates. */
  longest: number
  /** Output tokens that they allow: those that set a limit. */
  output: number
  /** Answers of those that set none. */
  unlimited: number
  /** What they let tools of the provider do. Left out, as what follows: nothing, and by earlier versions. */
  tools?: AskedTools
  /**
   * Bytes of those that have their prompt written to the provider's cache, and of those that have it kept there for
   * longer.
   */
  written?: number
  writtenLong?: number
  /** Where one of them asks to be processed. */
  geo?: string
}

/** Sets of models that are counted separately. */
const mostAsks = 200
/** No list of names is written so. */
const manyNames = ''

/** One request of a batch. */
export interface LineAsk {
  model: string | null
  others?: readonly string[]
  bytes: number
  /** What it allows; null: it sets no limit. */
  output: number | null
  /** How many answers it asks for; left out: one. */
  answers?: number
  tools?: AskedTools | null
  writes?: CacheWrites | null
  geo?: string | null
}

/** Names are the client's own: one may contain whatever would separate two. */
function nameAsk({ model, others = [] }: Pick<BatchAsk, 'model' | 'others'>): string {
  return JSON.stringify([...new Set([model, ...others])].sort())
}

/** The same asks, so that more can be added to them. */
export function resumeBatchAsks(asks: readonly BatchAsk[]): Map<string, BatchAsk> {
  return new Map(asks.map((ask, place) => [place < mostAsks ? nameAsk(ask) : manyNames, ask]))
}

export function addBatchAsk(asks: Map<string, BatchAsk>, line: LineAsk): void {
  const { model, others = [], bytes, output, answers = 1 } = line
  const none: BatchAsk = { model, lines: 0, bytes: 0, longest: 0, output: 0, unlimited: 0 }
  const named = nameAsk({ model, others })
  // Clients choose these names, in as many orders and sets as they like: what is too many counts together.
  const key = asks.size < mostAsks || asks.has(named) ? named : manyNames
  const ask = asks.getOrInsertComputed(key, () => (others.length === 0 ? none : { ...none, others }))
  if (key === manyNames)
    ask.others = [...new Set([...(ask.others ?? []), ...others, ...(model === null ? [] : [model])])]
  ask.lines++
  ask.bytes += bytes
  ask.longest = Math.max(ask.longest, bytes)
  ask.output += output ?? 0
  if (output === null) ask.unlimited += answers
  const { tools = null, writes = null, geo = null } = line
  const used = addTools(ask.tools, tools)
  if (used !== undefined) ask.tools = used
  if (writes === 'short') ask.written = (ask.written ?? 0) + bytes
  if (writes === 'long') ask.writtenLong = (ask.writtenLong ?? 0) + bytes
  if (geo !== null) ask.geo = geo
}

/** Of a file that comes in several calls: where the next one must go on, and what was seen so far. */
export interface HeldInput {
  /** Bytes of the file so far. */
  offset: number
  input: BatchInput
  /** The beginning of the line that has not ended. */
  rest: Uint8Array
}
