import { open } from 'node:fs/promises'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { reachFaultPoint } from '../core/fault-point.ts'
import { type JournalEntry, mayWrite, parseSegmentName, type Writers } from '../core/journal-format.ts'
import type { RequestRecord } from '../core/record.ts'
import type { Connection } from './connection.ts'
import { touchKeys } from './keys.ts'
import { addRepeats, findDeadOwners, interruptRecords, ownerOf, type Repeat, upsertRecords } from './record-rows.ts'
import type { Database } from './schema.ts'
import {
  deleteSegment,
  ignoreMissing,
  keepSegment,
  listSegments,
  type Segment,
  setEntriesAside,
  setSegmentAside,
} from './segment-files.ts'
import { type BatchLimits, hasRest, readBatch } from './segment-read.ts'
import { findNextEntry } from './segment-resync.ts'
import { isSickness, StoreDegraded } from './store-error.ts'

export interface IngestOptions {
  connection: Connection
  journalDirectory: string
  /** Whose segments are still written; all others' are dead. */
  writers: Writers
  onRecords(records: RequestRecord[]): void
  batch?: BatchLimits
}

/**
 * One pass over the journal. Exactly once, because a batch and the offset behind it are committed together, and a
 * segment's file goes before its offset: after a crash at any point the next pass goes on where the store is.
 * Returns how many records were added or changed.
 */
export async function ingestJournal(options: IngestOptions): Promise<number> {
  const segments = await listSegments(options.journalDirectory, options.writers)
  await forgetGone(options, segments)
  const troubles: unknown[] = []
  let changed = await ingestEach(
    options,
    segments.filter((segment) => !segment.live),
    troubles,
  )
  // Only when all of the dead is in: a settled entry may stand in a later segment than its admitted one.
  if (troubles.length === 0) changed += await interruptUnsettled(options)
  changed += await ingestEach(
    options,
    segments.filter((segment) => segment.live),
    troubles,
  )
  if (troubles.length > 0) throw troubles[0]
  return changed
}

/** A segment that cannot be read keeps none of the others waiting; a sick database ends the pass. */
async function ingestEach(options: IngestOptions, segments: readonly Segment[], troubles: unknown[]): Promise<number> {
  let changed = 0
  for (const segment of segments) {
    try {
      changed += await ingestSegment(options, segment)
    } catch (error) {
      if (error instanceof StoreDegraded) throw error
      troubles.push(error)
    }
  }
  return changed
}

/** Not of the living: a segment that somebody deleted comes back under its name, and is read on where it was. */
async function forgetGone({ connection, writers }: IngestOptions, segments: readonly Segment[]): Promise<void> {
  const rows = await connection.read((db) => db.selectFrom('journal_segments').select('name').execute())
  const here = new Set(segments.map((segment) => segment.file))
  const gone = rows.map(({ name }) => name).filter((name) => !here.has(name) && !isAwaited(name, writers))
  if (gone.length > 0)
    await connection.write((db) => db.deleteFrom('journal_segments').where('name', 'in', gone).execute())
}

function isAwaited(file: string, writers: Writers): boolean {
  const name = parseSegmentName(file)
  return name !== null && mayWrite(writers, name)
}

async function ingestSegment(options: IngestOptions, segment: Segment): Promise<number> {
  const file = await open(segment.path).catch(ignoreMissing)
  if (!file) return 0
  try {
    const start = await bytesRead(options.connection, segment)
    const { changed, offset } = await ingestFrom(options, segment, file, start)
    if (segment.closed) {
      if (await hasRest(file, offset)) await setSegmentAside(options.journalDirectory, segment)
      else await deleteSegment(segment)
      reachFaultPoint('ingest.after-delete')
      await options.connection.write((db) =>
        db.deleteFrom('journal_segments').where('name', '=', segment.file).execute(),
      )
    }
    return changed
  } finally {
    await file.close()
  }
}

async function ingestFrom(
  options: IngestOptions,
  segment: Segment,
  file: Awaited<ReturnType<typeof open>>,
  start: number,
): Promise<{ changed: number; offset: number }> {
  let offset = start
  let changed = 0
  for (;;) {
    const batch = await readBatch(file, offset, options.batch)
    if (batch.entries.length > 0) {
      const records = await storeEntries(options, segment, batch.entries, batch.offset)
      reachFaultPoint('ingest.after-commit')
      if (records.length > 0) options.onRecords(records)
      changed += records.length
    }
    offset = batch.offset
    if (batch.stop !== 'more') {
      // What is still written ends in bytes that may be an entry in a moment.
      const next = segment.closed ? await findNextEntry(file, offset) : null
      if (next === null) return { changed, offset }
      await keepSegment(options.journalDirectory, segment)
      offset = next
    }
    await nextTurn()
  }
}

/** A batch whole; or, when the database refuses something in it, all but that, which is set aside: one entry must never stand in the way of all later ones. */
async function storeEntries(
  options: IngestOptions,
  segment: Segment,
  entries: readonly JournalEntry[],
  offset: number,
): Promise<RequestRecord[]> {
  const { connection, journalDirectory } = options
  try {
    return await connection.write((db) => storeBatch(db, segment, entries, offset))
  } catch (error) {
    if (error instanceof StoreDegraded) throw error
    return connection.write((db) => storeEach(db, segment, entries, offset, journalDirectory))
  }
}

async function storeEach(
  db: Database,
  segment: Segment,
  entries: readonly JournalEntry[],
  offset: number,
  journalDirectory: string,
): Promise<RequestRecord[]> {
  const changed: RequestRecord[] = []
  const refused: JournalEntry[] = []
  for (const entry of entries) {
    try {
      changed.push(...(await storeBatch(db, segment, [entry], offset)))
    } catch (error) {
      // The storage, and not this entry: after some of its faults the transaction is over, and nothing may follow.
      if (isSickness(error)) throw error
      refused.push(entry)
    }
  }
  // Before the commit: should that fail, the next try writes the same file again.
  if (refused.length > 0) await setEntriesAside(journalDirectory, segment, offset, refused)
  return changed
}

async function bytesRead(connection: Connection, segment: Segment): Promise<number> {
  const row = await connection.read((db) =>
    db.selectFrom('journal_segments').select('bytes_read').where('name', '=', segment.file).executeTakeFirst(),
  )
  return row?.bytes_read ?? 0
}

/** A batch and the offset behind it, in the caller's transaction. */
async function storeBatch(
  db: Database,
  segment: Pick<Segment, 'file' | 'boot' | 'thread'>,
  entries: readonly JournalEntry[],
  offset: number,
): Promise<RequestRecord[]> {
  const { records, repeats, lastUsed } = fold(entries)
  const changed = await upsertRecords(db, records, ownerOf(segment))
  await addRepeats(db, repeats)
  await touchKeys(db, lastUsed)
  await db
    .insertInto('journal_segments')
    .values({ name: segment.file, bytes_read: offset })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ bytes_read: offset }))
    .execute()
  reachFaultPoint('ingest.before-commit')
  return changed
}

/** One record an id: the last settled entry, else the admitted one. */
function fold(entries: readonly JournalEntry[]) {
  const records = new Map<string, RequestRecord>()
  const repeats: Repeat[] = []
  const lastUsed: Record<string, string> = {}
  for (const entry of entries) {
    if (entry.kind === 'repeated') {
      repeats.push(entry)
      continue
    }
    const { record } = entry
    if (entry.kind === 'settled' || !records.has(record.id)) records.set(record.id, record)
    const time = new Date(record.time).toISOString()
    if (record.key && (lastUsed[record.key.id] ?? '') < time) lastUsed[record.key.id] = time
  }
  return { records: [...records.values()], repeats, lastUsed }
}

async function interruptUnsettled(options: IngestOptions): Promise<number> {
  let changed = 0
  // Looked for in a read first: most passes have none, and need not take the lock.
  for (;;) {
    const owners = await options.connection.read((db) => findDeadOwners(db, options.writers))
    if (owners.length === 0) return changed
    const records = await options.connection.write((db) => interruptRecords(db, owners))
    reachFaultPoint('interrupt.after-commit')
    options.onRecords(records)
    changed += records.length
    await nextTurn()
  }
}
