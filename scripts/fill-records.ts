import { closeSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { loadSettings } from '../src/config/load.ts'
import { formatSegmentName } from '../src/core/journal-format.ts'
import { layFoundation } from '../src/daemon/foundation.ts'
import { encodeEntry } from './bench/sample-entries.ts'
import { inventRecord, type KeyIds } from './fill/invent-record.ts'
import { findKeyIds, makeResources } from './fill/make-resources.ts'
import { inventMoments } from './fill/moments.ts'
import { Random } from './fill/random.ts'

/**
 * Fills a data directory that no gateway uses with invented records, in the way that the gateway's own come in: through
 * the journal. `node scripts/fill-records.ts --data-dir DIR [--records 100000] [--days 7] [--resources]`.
 * `--resources` also makes the providers, routes and keys that the records name.
 */
const { values } = parseArgs({
  options: {
    'data-dir': { type: 'string' },
    records: { type: 'string', default: '100000' },
    days: { type: 'string', default: '7' },
    seed: { type: 'string', default: '1' },
    resources: { type: 'boolean', default: false },
  },
})

const pieceRecords = 10_000
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
    yield encodeEntry('settled', inventRecord(random, moment, troubled, keyIds))
  }
}

async function fill(dataDirectory: string): Promise<void> {
  const settings = loadSettings({ flags: { dataDir: dataDirectory }, environment: {} })
  const foundation = await layFoundation({ settings, credentialsDirectory: null, boot: 'filling' })
  const { store, journalDirectory } = foundation
  try {
    if (values.resources) await makeResources(store)
    // Of a run that is over: its segments are read to the end and deleted.
    const boot = `filled${Date.now().toString(36)}`
    let sequence = 0
    let file = -1
    let made = 0
    const bring = async () => {
      closeSync(file)
      await store.ingest()
      process.stderr.write(`\r${made} records`)
    }
    for (const entry of inventAll(await findKeyIds(store))) {
      if (made % pieceRecords === 0)
        file = openSync(
          join(journalDirectory, formatSegmentName({ boot, thread: 0, sequence: sequence++ })),
          'wx',
          0o600,
        )
      writeSync(file, entry)
      made++
      if (made % pieceRecords === 0) await bring()
    }
    if (made % pieceRecords !== 0) await bring()
    process.stderr.write('\n')
  } finally {
    await store.close()
  }
}

const dataDirectory = values['data-dir']
if (dataDirectory === undefined) throw new Error('--data-dir is missing')
await fill(dataDirectory)
