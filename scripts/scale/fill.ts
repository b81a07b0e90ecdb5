import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { formatSegmentName } from '../../src/core/journal-format.ts'
import type { RequestRecord } from '../../src/core/record.ts'
import type { StoreClient } from '../../src/store/api.ts'
import { encodeSettled } from '../fill/encode-settled.ts'
import { inventRecord } from '../fill/invent-record.ts'
import { inventMoments } from '../fill/moments.ts'
import { Random } from '../fill/random.ts'

const dayMs = 86_400_000
const pieceRecords = 20_000
const keysOf = 4
const projects = Array.from({ length: 8 }, (_, index) => (index === 0 ? 'default' : `project-${index}`))

/** What occurs once, on the oldest day: the hardest to find. */
export const rare = {
  project: 'once-project',
  key: 'once-key',
  model: 'once-model',
  provider: 'once-provider',
  error: 'request_too_large',
  status: 418,
} as const

export interface Filling {
  store: StoreClient
  journalDirectory: string
  records: number
  days: number
  onStored(records: number): void
}

/** Through the journal, as the gateway's own records come in: the next segment is written while one is stored. */
export async function fillStore({ store, journalDirectory, records, days, onStored }: Filling): Promise<void> {
  const boot = `filled${Date.now().toString(36)}`
  const part = join(journalDirectory, '..', 'filling.part')
  let sequence = 0
  let made = 0
  let storing: Promise<unknown> = Promise.resolve()
  for (const piece of pieces(inventAll(records, days))) {
    writeFileSync(part, Buffer.concat(piece), { mode: 0o600 })
    await storing
    renameSync(part, join(journalDirectory, formatSegmentName({ boot, thread: 0, sequence: sequence++ })))
    storing = store.ingest()
    made += piece.length
    onStored(made)
    // The store's thread is onStored, and stores while the next piece is made.
    await new Promise(setImmediate)
  }
  await storing
}

function* inventAll(records: number, days: number): Generator<Buffer> {
  const random = new Random(1)
  const until = Date.now()
  const from = until - days * dayMs
  let index = 0
  for (const moment of inventMoments(random, records, from, until)) {
    const record = spread(inventRecord(random, moment, false, new Map()), random)
    yield encodeSettled(index === 100 ? makeRare(record) : record)
    index++
  }
}

/** Over projects and keys, so that there are as many labels as a company has. */
function spread(record: RequestRecord, random: Random): RequestRecord {
  const project = random.pick(projects)
  const key = `${record.key?.name}-${Math.floor(random.next() * keysOf)}`
  return { ...record, project, key: { id: `key_${project}_${key}`, name: key } }
}

function makeRare(record: RequestRecord): RequestRecord {
  const { project, key, model, provider, status } = rare
  const error = { code: rare.error, origin: 'gateway', message: 'Once.' } as const
  return {
    ...record,
    project,
    key: { id: `key_${key}`, name: key },
    model,
    provider,
    status,
    error,
    tags: { once: 'yes' },
  }
}

function* pieces(entries: Iterable<Buffer>): Generator<Buffer[]> {
  let piece: Buffer[] = []
  for (const entry of entries) {
    piece.push(entry)
    if (piece.length < pieceRecords) continue
    yield piece
    piece = []
  }
  if (piece.length > 0) yield piece
}
