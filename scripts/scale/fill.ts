import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { newId } from '../../src/core/ids.ts'
import { findEntries } from '../../src/store/ingest/segment-reader.ts'
import { Stored, storeBatch } from '../../src/store/ingest/store-batch.ts'
import { blankRecord } from '../../src/store/records/blank-record.ts'
import type { Connection } from '../../src/store/sqlite/connection.ts'
import { lockDatabase } from '../../src/store/sqlite/lock.ts'
import { openStore } from '../../src/store/sqlite/open.ts'
import { encodeSettled } from '../fill/encode-settled.ts'
import { copyWeek } from './copy-week.ts'
import { type Inventing, type Piece, rare } from './piece.ts'

export const dayMs = 86_400_000
export const weekMs = 7 * dayMs
/** Not to be checkpointed before there is as much, since the same pages of indexes and sums change all the time. */
const checkpointBytes = 512 * 1024 * 1024
const cacheKiB = 1024 * 1024

export interface Filling {
  databasePath: string
  records: number
  days: number
  onStored(records: number): void
}

/**
 * The oldest week and the current one go through the code that stores a batch of the journal, without the journal and in larger
 * transactions; the weeks between are copies of the oldest, with its sums. It takes a third of the time, and what is stored is the same.
 */
export async function fillStore({ databasePath, records, days, onStored }: Filling): Promise<void> {
  const file = { path: databasePath }
  const lock = await lockDatabase(file)
  const store = await openStore(file)
  const { connection } = store
  // A power cut in the midst of it may cost all, and it is done again then.
  connection.sqlite.pragma('synchronous = off')
  connection.sqlite.pragma(`cache_size = -${cacheKiB}`)
  try {
    const until = Date.now()
    // As the sums count weeks: from the epoch.
    const thisWeek = Math.floor(until / weekMs) * weekMs
    const weeks = Math.max(1, Math.round(days / 7))
    const from = thisWeek - weeks * weekMs
    const ofWeek = Math.round((records * weekMs) / (until - from))
    let stored = 0
    const onMore = (more: number) => {
      stored += more
      onStored(stored)
    }
    await invent(connection, { records: ofWeek, from, until: from + weekMs, seed: 1 }, onMore)
    for (let later = 1; later < weeks; later++) {
      await copyWeek(connection, { from, later })
      onMore(ofWeek)
    }
    await invent(connection, { records: records - stored - 1, from: thisWeek, until, seed: 2 }, onMore)
    await storePiece(connection, makeRare(from))
    onMore(1)
    await connection.checkpoint(0)
  } finally {
    await store.close()
    lock.release()
  }
}

/** The next piece is invented while one is stored. */
export async function invent(
  connection: Connection,
  workerData: Inventing,
  onMore: (more: number) => void | Promise<void>,
): Promise<void> {
  const inventor = new Worker(new URL('invent.ts', import.meta.url), { workerData })
  try {
    let piece = await nextPiece(inventor)
    while (piece !== null) {
      const next = nextPiece(inventor)
      await storePiece(connection, piece)
      await onMore(piece.records)
      piece = await next
    }
  } finally {
    await inventor.terminate()
  }
}

async function nextPiece(inventor: Worker): Promise<Piece | null> {
  inventor.postMessage('next')
  const [piece] = (await once(inventor, 'message')) as [Piece | null]
  return piece
}

export async function storePiece(connection: Connection, { window, records }: Piece): Promise<void> {
  const { entries } = findEntries(Buffer.from(window.buffer), 0, records, true)
  const place = { segment: 'filled', owner: 'filled', offset: 0 }
  const nobody = { ended: null, admitted: false, traces: false }
  await connection.writeHot((hot) => storeBatch(hot, entries, place, new Stored(nobody)))
  await connection.checkpoint(checkpointBytes)
}

/** On the oldest day. */
export function makeRare(from: number): Piece {
  const { project, key, model, provider, status } = rare
  const time = from + 1000
  const entry = encodeSettled({
    ...blankRecord(),
    id: newId('req', time),
    time: new Date(time).toISOString(),
    ...{ state: 'settled', lane: 'openai', operation: 'chat', project, environment: 'production' },
    ...{ key: { id: `key_${key}`, name: key }, model, provider, upstream_model: model, status },
    error: { code: rare.error, origin: 'gateway', message: 'Once.' },
    tags: { once: 'yes' },
  })
  const window = new Uint8Array(entry.length)
  window.set(entry)
  return { window, records: 1 }
}
