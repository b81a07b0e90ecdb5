import { reachFaultPoint } from '../../core/fault-point.ts'
import type { BatchUsageEntry, SettledHold } from '../../core/journal-format.ts'
import type { RequestRecord } from '../../core/record.ts'
import { sharedChanges } from '../objects/object-statements.ts'
import { type RecordHead, readHead, readTime } from '../records/record-head.ts'
import { toSharedHold } from '../replica/shared-change.ts'
import { isClaimable } from '../replica/usage-claim.ts'
import type { HotStatements } from '../sqlite/hot-statements.ts'
import { writeJson } from '../sqlite/json-column.ts'
import { isUnhealthy } from '../store-error.ts'
import type { BatchActual, HeldBatch } from './batch-hold-statements.ts'
import { type FoundEntry, parseEntry, readCounted, recordText } from './segment-reader.ts'
import { TrafficTallier } from './traffic-tally.ts'

export interface BatchPlace {
  segment: string
  /** Of what is admitted, until it is settled. */
  owner: string
  /** Behind the batch: where the next one begins. */
  offset: number
}

/** What a batch came to. To be told only when it is committed: one that is tried again would be told twice. */
export class Stored {
  /** Records added or changed. */
  changed = 0
  readonly #admitted: boolean
  /** Whether traces are made of what ends. */
  readonly traced: boolean
  /** Those of them that have ended, and where it is wanted all, as JSON; null where nobody wants to know. */
  readonly ended: string[] | null
  readonly tallier: TrafficTallier
  readonly refused: FoundEntry[] = []
  /** What batches held, and came to. */
  readonly settledHolds: SettledHold[] = []

  constructor({ ended, admitted, traces }: { ended: unknown; admitted: boolean; traces: boolean }) {
    this.traced = traces
    this.tallier = new TrafficTallier(traces)
    this.ended = ended === null ? null : []
    this.#admitted = admitted
  }

  add(head: RecordHead, text: string): void {
    this.changed++
    if (head.state !== 'admitted' || this.#admitted) this.ended?.push(text)
    if (head.state === 'settled') this.tallier.add(head)
  }
}

/** A batch and the offset behind it, in the caller's transaction. */
export function storeBatch(
  hot: HotStatements,
  entries: readonly FoundEntry[],
  place: BatchPlace,
  stored: Stored,
): Stored {
  const lastUsed = new Map<string, string>()
  hot.spend.begin()
  for (const entry of foldEntries(entries)) {
    if (entry.kind === 'repeated') addRepeat(hot, entry)
    else if (entry.kind === 'objects') storeObjects(hot, entry)
    else if (entry.kind === 'body') storeBody(hot, entry)
    else if (entry.kind === 'batch-held') storeBatchHeld(hot, entry, stored)
    else if (entry.kind === 'held') storeHeld(hot, entry)
    else if (entry.kind === 'reasoning') storeReasoning(hot, entry)
    else if (entry.kind === 'batch-usage') storeBatchUsage(hot, entry, place.owner, stored)
    else storeRecord(hot, entry, place.owner, lastUsed, stored)
  }
  hot.spend.flush()
  for (const [key, time] of lastUsed) hot.touchKey(key, time)
  hot.writeOffset(place.segment, place.offset)
  reachFaultPoint('ingest.before-commit')
  return stored
}

/** All of a batch but what the database refuses: one entry must never stand in the way of all later ones. */
export function storeEach(
  hot: HotStatements,
  entries: readonly FoundEntry[],
  place: BatchPlace,
  stored: Stored,
): Stored {
  for (const entry of entries) {
    try {
      hot.attempt(() => storeBatch(hot, [entry], place, stored))
    } catch (error) {
      // The storage, and not this entry: after some of its faults the transaction is over, and nothing may follow.
      if (isUnhealthy(error)) throw error
      stored.refused.push(entry)
    }
  }
  hot.writeOffset(place.segment, place.offset)
  return stored
}

function storeRecord(
  hot: HotStatements,
  entry: FoundEntry,
  owner: string,
  lastUsed: Map<string, string>,
  stored: Stored,
): void {
  const text = recordText(entry)
  const head = entry.kind === 'admitted' || entry.kind === 'settled' ? readHead(text, entry.kind) : null
  if (head === null) throw new Error('this journal entry cannot be read')
  if (head.key && (lastUsed.get(head.key.id) ?? '') < head.time) lastUsed.set(head.key.id, head.time)
  const change = hot.writeRecord(head, owner, text)
  if (change === null) return
  stored.add(head, text)
  if (stored.traced && head.state === 'settled') hot.traces.add(head)
  // What a budget counts stands before the record, so that its entry is not plain.
  if (!entry.plain) hot.spend.store(readCounted(entry), change)
}

/** One record an id: the last settled one, else the first admitted one, which then is never parsed; and all else in order. */
function foldEntries(entries: readonly FoundEntry[]): FoundEntry[] {
  const records = new Map<string, FoundEntry>()
  const others: FoundEntry[] = []
  for (const entry of entries) {
    if (entry.kind === 'settled' || (entry.kind === 'admitted' && !records.has(entry.id))) records.set(entry.id, entry)
    else if (entry.kind !== 'admitted') others.push(entry)
  }
  return [...records.values(), ...others]
}

function storeObjects(hot: HotStatements, found: FoundEntry): void {
  const entry = parseEntry(found)
  if (entry?.kind !== 'objects') return
  hot.objects.store(entry)
  if (hot.outbox !== null) for (const change of sharedChanges(entry)) hot.outbox.change(change)
}

/** After the records of the batch: one that has settled holds nothing more. */
function storeHeld(hot: HotStatements, found: FoundEntry): void {
  const entry = parseEntry(found)
  if (entry?.kind === 'held') hot.spend.raise(entry)
}

function storeBatchUsage(hot: HotStatements, found: FoundEntry, owner: string, stored: Stored): void {
  const entry = parseEntry(found)
  if (entry?.kind !== 'batch-usage') throw new Error("this batch's usage in the journal cannot be read")
  const { batchId, time, counters = [] } = entry
  const place = { ...entry.owner, batchId }
  if (entry.unread === true) return hot.holds.end(place, time)
  // Where nodes share it, one of them counts it: which is asked for later.
  if (hot.outbox?.claims.note(entry) === true) return
  const records = hot.batches.count(entry)
  if (records === null) return
  for (const record of records) storeMade(hot, record, owner, stored)
  settleBatch(hot, place, { actual: sumOf(records), counters }, stored)
}

/** A record that no journal holds. */
export function storeMade(hot: HotStatements, record: RequestRecord, owner: string, stored: Stored): void {
  const text = writeJson(record)
  const head = readHead(text, 'settled')
  if (head === null || hot.writeRecord(head, owner, text) === null) return
  stored.add(head, text)
  if (stored.traced) hot.traces.add(head)
}

/** What it held of budgets is replaced by what it came to. */
export function settleBatch(
  hot: HotStatements,
  place: HeldBatch,
  { actual, counters }: { actual: BatchActual; counters: NonNullable<BatchUsageEntry['counters']> },
  stored: Stored,
): void {
  const settled = hot.holds.settle(place, actual, counters)
  hot.spend.settle(settled)
  stored.settledHolds.push(...settled)
}

export function sumOf(records: readonly RequestRecord[]): BatchActual {
  const sum = { usd: 0, tokens: 0 }
  for (const { cost, tokens } of records) {
    sum.usd += Math.round((cost?.usd ?? 0) * nanoPerUsd)
    sum.tokens += tokens === null ? 0 : tokens.input + tokens.output
  }
  return sum
}

const nanoPerUsd = 1e9

/** From the end of the request that made it: should that one never settle, its hold is the batch's all the same. */
function storeBatchHeld(hot: HotStatements, found: FoundEntry, stored: Stored): void {
  const entry = parseEntry(found)
  if (entry?.kind !== 'batch-held') throw new Error('what this batch holds in the journal cannot be read')
  hot.spend.drop(entry.requestId)
  if (hot.holds.open(entry)) {
    if (isClaimable(entry.batchId)) hot.outbox?.change(toSharedHold(entry))
    return
  }
  // Another thread's journal told of its end first.
  const released = entry.hold.map(([counter, period, held]) => ({ counter, period, held, actual: 0 }))
  stored.settledHolds.push(...released)
}

function storeBody(hot: HotStatements, found: FoundEntry): void {
  const entry = parseEntry(found)
  if (entry?.kind !== 'body') throw new Error('this body in the journal cannot be read')
  const bytes = hot.bodies.store(entry)
  if (bytes !== null) hot.outbox?.body({ id: entry.id, part: entry.part, bytes })
}

function storeReasoning(hot: HotStatements, found: FoundEntry): void {
  const entry = parseEntry(found)
  if (entry?.kind !== 'reasoning') return
  hot.reasoning.store(entry)
  const { name, expiresAt, sealed } = entry
  hot.outbox?.change({ kind: 'reasoning', name, expiresAt, sealed })
}

function addRepeat(hot: HotStatements, found: FoundEntry): void {
  const entry = parseEntry(found)
  const time = entry?.kind === 'repeated' ? readTime(entry.lastTime) : null
  if (entry?.kind === 'repeated' && time !== null) hot.addRepeat(entry.id, entry.count, time)
}
