import { nanoOfUsd } from '../../core/cost/money.ts'
import { reachFaultPoint } from '../../core/fault-point.ts'
import type { BatchHeldEntry, BatchUsageEntry, SettledHold } from '../../core/journal-format.ts'
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

/** What a batch has brought. Told only after the commit: a batch that is tried again would be told twice. */
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

/** Stores a batch and the offset behind it, in the caller's transaction. */
export function storeBatch(
  hot: HotStatements,
  entries: readonly FoundEntry[],
  place: BatchPlace,
  stored: Stored,
): Stored {
  const lastUsed = new Map<string, string>()
  hot.spend.begin()
  for (const entry of foldEntries(entries)) {
    if (isOfRecord(entry)) storeRecord(hot, entry, place.owner, lastUsed, stored)
    else storeOther(hot, entry, place.owner, stored)
  }
  hot.spend.flush()
  for (const [key, time] of lastUsed) hot.touchKey(key, time)
  hot.writeOffset(place.segment, place.offset)
  reachFaultPoint('ingest.before-commit')
  return stored
}

/** Stores all of a batch except what the database refuses: one entry must never block all later ones. */
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
      // The storage failed, not this entry: the transaction may be over, and nothing may follow.
      if (isUnhealthy(error)) throw error
      stored.refused.push(entry)
    }
  }
  hot.writeOffset(place.segment, place.offset)
  return stored
}

type RecordEntry = FoundEntry & { kind: 'admitted' | 'settled' }

function isOfRecord(entry: FoundEntry): entry is RecordEntry {
  return entry.kind === 'admitted' || entry.kind === 'settled'
}

function storeRecord(
  hot: HotStatements,
  entry: RecordEntry,
  owner: string,
  lastUsed: Map<string, string>,
  stored: Stored,
): void {
  const text = recordText(entry)
  const head = readHead(text, entry.kind)
  if (head === null) throw new Error(unreadable)
  if (head.key && (lastUsed.get(head.key.id) ?? '') < head.time) lastUsed.set(head.key.id, head.time)
  const change = hot.writeRecord(head, owner, text)
  if (change === null) return
  stored.add(head, text)
  if (stored.traced && head.state === 'settled') hot.traces.add(head)
  // What a budget counts stands before the record, so that its entry is not plain.
  if (!entry.plain) hot.spend.store(readCounted(entry), change)
}

const unreadable = 'this journal entry cannot be read'

/**
 * One record per id: the last settled one, else the first admitted one, which is then never parsed; all else in order.
 */
function foldEntries(entries: readonly FoundEntry[]): FoundEntry[] {
  const records = new Map<string, FoundEntry>()
  for (const entry of entries)
    if (entry.kind === 'settled' || (entry.kind === 'admitted' && !records.has(entry.id))) records.set(entry.id, entry)
  return [...records.values(), ...entries.filter((entry) => !isOfRecord(entry))]
}

/** After the records of the batch. */
function storeOther(hot: HotStatements, found: FoundEntry, owner: string, stored: Stored): void {
  const { outbox } = hot
  const entry = parseEntry(found)
  switch (entry?.kind) {
    case 'repeated':
      return hot.addRepeat(entry.id, entry.count, readTime(entry.lastTime) ?? entry.lastTime)
    case 'objects':
      hot.objects.store(entry)
      if (outbox !== null) for (const change of sharedChanges(entry)) outbox.change(change)
      return
    case 'held':
      // A settled request no longer holds anything.
      return hot.spend.raise(entry)
    case 'body': {
      const bytes = hot.bodies.store(entry)
      if (bytes !== null) outbox?.body({ id: entry.id, part: entry.part, bytes })
      return
    }
    case 'reasoning': {
      hot.reasoning.store(entry)
      const { kind, name, expiresAt, sealed } = entry
      return outbox?.change({ kind, name, expiresAt, sealed })
    }
    case 'batch-held':
      return storeBatchHeld(hot, entry, stored)
    case 'batch-usage':
      return storeBatchUsage(hot, entry, owner, stored)
    default:
      throw new Error(unreadable)
  }
}

function storeBatchUsage(hot: HotStatements, entry: BatchUsageEntry, owner: string, stored: Stored): void {
  const { batchId, time, counters = [] } = entry
  const place = { ...entry.owner, batchId }
  if (entry.unread === true) return hot.holds.end(place, time)
  // Where nodes share it, one of them counts it; which one is settled later.
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
    sum.usd += nanoOfUsd(cost?.usd ?? 0)
    sum.tokens += tokens === null ? 0 : tokens.input + tokens.output
  }
  return sum
}

/** From the end of the request that made it: should that one never settle, its hold is the batch's all the same. */
function storeBatchHeld(hot: HotStatements, entry: BatchHeldEntry, stored: Stored): void {
  hot.spend.drop(entry.requestId)
  if (hot.holds.open(entry)) {
    if (isClaimable(entry.batchId)) hot.outbox?.change(toSharedHold(entry))
    return
  }
  // Another thread's journal told of its end first.
  const released = entry.hold.map(([counter, period, held]) => ({ counter, period, held, actual: 0 }))
  stored.settledHolds.push(...released)
}
