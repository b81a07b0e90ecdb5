import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { loadSettings } from '../src/config/load.ts'
import { formatSegmentName } from '../src/core/journal-format.ts'
import { layFoundation } from '../src/daemon/foundation.ts'
import { encodeSettled } from './fill/encode-settled.ts'
import { inventRecord, type KeyIds } from './fill/invent-record.ts'
import { findKeyIds, makeResources } from './fill/make-resources.ts'
import { inventMoments } from './fill/moments.ts'
import { Random } from './fill/random.ts'
import { readFlags } from './read-flags.ts'

const help = `node scripts/fill-records.ts --data-dir DIR [--records N] [--days N] [--seed N] [--resources]

Fills a data directory that no gateway uses with invented records, in the way that the gateway's own come in: through the
journal.

  --records N   as many (100000)
  --days N      of as many days (7)
  --seed N      others, of the same kind (1)
  --resources   also make the providers, routes and keys that the records name
`
const { values } = readFlags(help, {
  options: {
    'data-dir': { type: 'string' },
    records: { type: 'string', default: '100000' },
    days: { type: 'string', default: '7' },
    seed: { type: 'string', default: '1' },
    resources: { type: 'boolean', default: false },
  },
})

const pieceRecords = 5000
const dayMs = 86_400_000
const hourMs = 3_600_000

function* inventAll(keyIds: KeyIds): Generator<Buffer> {
  const random = new Random(Number(values.seed))
  const until = Date.now()
  const from = until - Number(values.days) * dayMs
  // One bad hour, so that charts and lists have something to show.
  const badHour = from + (until - from) * 0.7
  for (const moment of inventMoments(random, Number(values.records), from, until)) {
    const troubled = moment >= badHour && moment < badHour + hourMs
    yield encodeSettled(inventRecord(random, moment, troubled, keyIds))
  }
}

function* inPieces<Item>(items: Iterable<Item>, size: number): Generator<Item[]> {
  let piece: Item[] = []
  for (const item of items) {
    piece.push(item)
    if (piece.length < size) continue
    yield piece
    piece = []
  }
  if (piece.length > 0) yield piece
}

async function fill(dataDirectory: string): Promise<void> {
  const settings = loadSettings({ flags: { dataDir: dataDirectory }, environment: {} })
  const foundation = await layFoundation({ settings, credentialsDirectory: null, boot: 'filling' })
  const { store, journalDirectory } = foundation
  try {
    if (values.resources) await makeResources(store)
    // Of a run that is over: what stands in its segments is read to the end, so each gets its name when it is whole.
    const boot = `filled${Date.now().toString(36)}`
    const part = join(dataDirectory, 'filling.part')
    let made = 0
    let sequence = 0
    for (const entries of inPieces(inventAll(await findKeyIds(store)), pieceRecords)) {
      writeFileSync(part, Buffer.concat(entries), { mode: 0o600 })
      renameSync(part, join(journalDirectory, formatSegmentName({ boot, thread: 0, sequence: sequence++ })))
      await store.ingest()
      made += entries.length
      process.stderr.write(`\r${made} records`)
    }
    process.stderr.write('\n')
  } finally {
    await store.close()
  }
}

const dataDirectory = values['data-dir']
if (dataDirectory === undefined) throw new Error('--data-dir is missing')
await fill(dataDirectory)
