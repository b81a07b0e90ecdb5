import { sql } from 'kysely'
import type { RecordFilter } from '../api.ts'
import type { Database } from '../schema.ts'
import { selectMatching } from './record-filter.ts'
import { TagReader } from './record-json.ts'
import { chooseLabels, readLabels } from './record-labels.ts'
import { type Scanned, type ScannedRow, scannedColumns } from './record-source.ts'
import { recordWindows } from './record-windows.ts'

/** In bytes; tags stand at the end of a record, and most are shorter. */
const endBytes = 512
/** So many rows are named in one query. */
const atOnce = 500

/** Every record that the filter lets through, newest first, a few milliseconds' worth at a time. `limit` and `before` do not apply. */
export async function* scanRecords(
  db: Database,
  filter: RecordFilter,
  withText: boolean,
  withRoute = false,
): AsyncGenerator<Scanned> {
  yield* scanWindows(db, filter, withRoute, (matching) =>
    (withText ? matching.select('record_json') : matching).execute(),
  )
}

/** The same with the tags of each: `tags`, or `record_json`, which has them. */
export async function* scanTagged(db: Database, filter: RecordFilter, withRoute = false): AsyncGenerator<Scanned> {
  const reader = new TagReader()
  yield* scanWindows(db, filter, withRoute, (matching) => readTagged(matching, reader))
}

async function* scanWindows(
  db: Database,
  filter: RecordFilter,
  withRoute: boolean,
  read: (matching: ScannedQuery) => Promise<ScannedRow[]>,
): AsyncGenerator<Scanned> {
  const { before: _before, ...unpaged } = filter
  const chosen = await chooseLabels(db, unpaged)
  if (chosen?.numbers.length === 0) return
  let labels = await readLabels(db)
  for await (const window of recordWindows(db, unpaged, chosen)) {
    const matching = selectScanned(selectMatching(db, unpaged, chosen, window)).orderBy('id', 'desc')
    const rows = await read(matching.$if(withRoute, (query) => query.select(route.as('route'))))
    // Records go on coming in, with labels of their own.
    if (rows.some(({ label }) => !labels.has(label))) labels = await readLabels(db)
    yield { rows, labels }
  }
}

function selectScanned(matching: ReturnType<typeof selectMatching>) {
  return matching.select(scannedColumns)
}

type ScannedQuery = ReturnType<typeof selectScanned>

const route = sql<string | null>`json_extract(record_json, '$.route')`

/** A record is 2 KB, of which nothing else is needed. SQLite finds the end of bytes at once, and that of a text by reading all. */
const ending = sql<string>`cast(substr(cast(record_json as blob), ${sql.lit(-endBytes)}) as text)`

/** Of those of a query. */
export async function readTagged(matching: ScannedQuery, reader = new TagReader()): Promise<ScannedRow[]> {
  const rows: TaggedRow[] = await matching.select(['id', ending.as('ending')]).execute()
  const untold: string[] = []
  for (const row of rows) {
    const tags = reader.read(row.ending)
    if (tags === null) untold.push(row.id)
    else row.tags = tags
  }
  for (let from = 0; from < untold.length; from += atOnce)
    await readWhole(matching, rows, untold.slice(from, from + atOnce))
  return rows
}

/** Those whose tags are longer, or stand elsewhere. */
async function readWhole(matching: ScannedQuery, rows: readonly TaggedRow[], ids: readonly string[]): Promise<void> {
  const found = await matching.where('id', 'in', ids).select(['id', 'record_json']).execute()
  const texts = new Map(found.map(({ id, record_json }) => [id, record_json]))
  for (const row of rows) {
    const text = texts.get(row.id)
    if (text !== undefined) row.record_json = text
  }
}

interface TaggedRow extends ScannedRow {
  id: string
  ending: string
}
