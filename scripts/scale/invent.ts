import { parentPort, workerData } from 'node:worker_threads'
import type { RequestRecord } from '../../src/core/record.ts'
import { encodeSettled } from '../fill/encode-settled.ts'
import { inventRecord } from '../fill/invent-record.ts'
import { inventMoments } from '../fill/moments.ts'
import { Random } from '../fill/random.ts'
import type { Inventing, Piece } from './piece.ts'

/** A thread that invents records while another one stores them: a piece for each message, and null after the last. */

const pieceRecords = 20_000
const keysOf = 4
const projects = Array.from({ length: 8 }, (_, index) => (index === 0 ? 'default' : `project-${index}`))

function* inventAll({ records, from, until, seed }: Inventing): Generator<Buffer> {
  const random = new Random(seed)
  for (const moment of inventMoments(random, records, from, until))
    yield encodeSettled(spread(inventRecord(random, moment, false, new Map()), random))
}

/** Over projects and keys, so that there are as many labels as a company has. */
function spread(record: RequestRecord, random: Random): RequestRecord {
  const project = random.pick(projects)
  const key = `${record.key?.name}-${Math.floor(random.next() * keysOf)}`
  return { ...record, project, key: { id: `key_${project}_${key}`, name: key } }
}

function* pieces(entries: Iterable<Buffer>): Generator<Piece> {
  let piece: Buffer[] = []
  for (const entry of entries) {
    piece.push(entry)
    if (piece.length < pieceRecords) continue
    yield join(piece)
    piece = []
  }
  if (piece.length > 0) yield join(piece)
}

/** In memory of its own, which can be given to the other thread. */
function join(entries: readonly Buffer[]): Piece {
  const window = Buffer.from(new ArrayBuffer(entries.reduce((sum, { length }) => sum + length, 0)))
  let at = 0
  for (const entry of entries) at += entry.copy(window, at)
  return { window, records: entries.length }
}

const made = pieces(inventAll(workerData as Inventing))
parentPort?.on('message', () => {
  const { value } = made.next()
  if (value === undefined) parentPort?.postMessage(null)
  else parentPort?.postMessage(value, [value.window.buffer as ArrayBuffer])
})
