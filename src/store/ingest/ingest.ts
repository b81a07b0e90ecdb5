import { closeSync, openSync } from 'node:fs'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { reachFaultPoint } from '../../core/fault-point.ts'
import { mayWrite, parseSegmentName, type SettledHold, type Writers } from '../../core/journal-format.ts'
import type { TrafficTally } from '../../core/traffic-tally.ts'
import { findDeadOwners, interruptRecords, ownerOf } from '../records/record-rows.ts'
import type { Connection } from '../sqlite/connection.ts'
import type { HotStatements } from '../sqlite/hot-statements.ts'
import { writeJson } from '../sqlite/json-column.ts'
import { StoreDegraded } from '../store-error.ts'
import {
  deleteSegment,
  ignoreMissing,
  keepSegment,
  listSegments,
  type Segment,
  setEntriesAside,
  setSegmentAside,
} from './segment-files.ts'
import { type BatchLimits, type FoundEntry, SegmentReader } from './segment-reader.ts'
import { findNextEntry } from './segment-resync.ts'
import { type BatchPlace, Stored, storeBatch, storeEach } from './store-batch.ts'

/** Listeners of ingestion; null where nobody listens. */
export interface Audience {
  /** Records that have ended, as JSON, in the order of their segments. */
  ended: ((records: string[]) => void) | null
  /** Whether requests that have not ended yet are included. */
  admitted: boolean
  /** What settled, summed. */
  traffic: ((tally: TrafficTally) => void) | null
  /** What batches held of budgets, and came to. */
  holds: ((settled: SettledHold[]) => void) | null
  /** Whether settled requests are exported as traces. */
  traces: boolean
}

export interface IngestionOptions {
  connection: Connection
  journalDirectory: string
  audience: Audience
  batch?: BatchLimits
}

/**
 * Reads the journal into the store. Exactly once, because a batch and the offset behind it are committed together, and
 * a segment's file goes before its offset: after a crash at any point the next pass goes on where the store is.
 */
export class Ingestion {
  readonly #options: IngestionOptions
  readonly #reader: SegmentReader
  /** What `journal_segments` holds, so that a pass that finds nothing asks the database nothing. */
  #offsets: Map<string, number> | null = null

  constructor(options: IngestionOptions) {
    this.#options = options
    this.#reader = new SegmentReader(options.batch)
  }

  /** One pass, never two at a time. `writers`: whose segments are still written. Returns how many records were added or changed. */
  async pass(writers: Writers): Promise<number> {
    const segments = await listSegments(this.#options.journalDirectory, writers)
    await this.#forgetRemoved(segments, writers)
    const troubles: unknown[] = []
    const dead = segments.filter((segment) => !segment.live)
    const live = segments.filter((segment) => segment.live)
    let changed = await this.#readEach(dead, troubles)
    // Only after all segments of dead threads are in: a settled entry may stand in a later segment than its admitted
    // one.
    if (troubles.length === 0) changed += await this.#interruptUnsettled(writers)
    changed += await this.#readEach(live, troubles)
    if (troubles.length > 0) throw troubles[0]
    return changed
  }

  async #knownOffsets(): Promise<Map<string, number>> {
    if (this.#offsets === null) {
      const rows = await this.#options.connection.read((db) => db.selectFrom('journal_segments').selectAll().execute())
      this.#offsets = new Map(rows.map((row) => [row.name, row.bytes_read]))
    }
    return this.#offsets
  }

  /**
   * Not for running threads: a segment that somebody deleted comes back under its name, and is read from the same
   * offset.
   */
  async #forgetRemoved(segments: readonly Segment[], writers: Writers): Promise<void> {
    const here = new Set(segments.map((segment) => segment.file))
    for (const name of (await this.#knownOffsets()).keys())
      if (!here.has(name) && !isAwaited(name, writers)) await this.#forget(name)
  }

  async #forget(name: string): Promise<void> {
    await this.#options.connection.write((db) => db.deleteFrom('journal_segments').where('name', '=', name).execute())
    this.#offsets?.delete(name)
  }

  /** A segment that cannot be read does not hold up the others; an unhealthy database ends the pass. */
  async #readEach(segments: readonly Segment[], troubles: unknown[]): Promise<number> {
    let changed = 0
    for (const segment of segments) {
      try {
        changed += await this.#readSegment(segment)
      } catch (error) {
        if (error instanceof StoreDegraded) throw error
        troubles.push(error)
      }
    }
    return changed
  }

  async #readSegment(segment: Segment): Promise<number> {
    const file = openSegment(segment)
    if (file === null) return 0
    try {
      const { changed, offset } = await this.#readFile(segment, file)
      if (segment.closed) {
        if (this.#reader.hasRest(file, offset)) await setSegmentAside(this.#options.journalDirectory, segment)
        else await deleteSegment(segment)
        reachFaultPoint('ingest.after-delete')
        await this.#forget(segment.file)
      }
      return changed
    } finally {
      closeSync(file)
    }
  }

  async #readFile(segment: Segment, file: number): Promise<{ changed: number; offset: number }> {
    const offsets = await this.#knownOffsets()
    let offset = offsets.get(segment.file) ?? 0
    let changed = 0
    for (;;) {
      const batch = this.#reader.readBatch(file, offset)
      if (batch.entries.length > 0) {
        const stored = await this.#store(segment, batch.entries, batch.offset)
        reachFaultPoint('ingest.after-commit')
        offsets.set(segment.file, batch.offset)
        notify(this.#options.audience, stored)
        changed += stored.changed
      }
      offset = batch.offset
      if (batch.stop !== 'more') {
        // A segment that is still being written may end in a part of an entry.
        const next = segment.closed ? findNextEntry(file, offset) : null
        if (next === null) return { changed, offset }
        await keepSegment(this.#options.journalDirectory, segment)
        offset = next
      }
      await nextTurn()
    }
  }

  /** Stores the whole batch; or, when the database refuses an entry, all but that one, which is set aside. */
  async #store(segment: Segment, entries: readonly FoundEntry[], offset: number): Promise<Stored> {
    const { connection, journalDirectory, audience } = this.#options
    const begin = () => new Stored(audience)
    const place: BatchPlace = { segment: segment.file, owner: ownerOf(segment), offset }
    try {
      return await connection.writeHot((hot) => storeBatch(hot, entries, place, begin()))
    } catch (error) {
      if (error instanceof StoreDegraded) throw error
      return await connection.writeHot((hot) => {
        const stored = storeEach(hot, entries, place, begin())
        // Before the commit: should that fail, the next try writes the same file again.
        if (stored.refused.length > 0) setEntriesAside(journalDirectory, segment, offset, stored.refused)
        return stored
      })
    }
  }

  async #interruptUnsettled(writers: Writers): Promise<number> {
    const { connection, audience } = this.#options
    let changed = 0
    // Looked up with a read first: most passes find none, and need not take the lock.
    for (;;) {
      const owners = await connection.read((db) => findDeadOwners(db, writers))
      if (owners.length === 0) return changed
      const records = await connection.writeHot((hot) => interruptRecords(hot, owners, audience.traces))
      reachFaultPoint('interrupt.after-commit')
      audience.ended?.(records.map(writeJson))
      changed += records.length
      await nextTurn()
    }
  }
}

/** In one transaction; listeners are told after the commit. */
export async function storeAndNotify(
  connection: Connection,
  audience: Audience,
  run: (hot: HotStatements, stored: Stored) => void,
): Promise<Stored> {
  const stored = await connection.writeHot((hot) => {
    const begun = new Stored(audience)
    run(hot, begun)
    return begun
  })
  notify(audience, stored)
  return stored
}

function notify(audience: Audience, { ended, tallier, settledHolds }: Stored): void {
  if (ended !== null && ended.length > 0) audience.ended?.(ended)
  const tally = audience.traffic === null ? null : tallier.take()
  if (tally !== null) audience.traffic?.(tally)
  if (settledHolds.length > 0) audience.holds?.(settledHolds)
}

function isAwaited(file: string, writers: Writers): boolean {
  const name = parseSegmentName(file)
  return name !== null && mayWrite(writers, name)
}

function openSegment(segment: Segment): number | null {
  try {
    return openSync(segment.path, 'r')
  } catch (error) {
    ignoreMissing(error)
    return null
  }
}
