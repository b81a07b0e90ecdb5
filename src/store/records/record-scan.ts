import type { RecordFilter } from '../api.ts'
import type { Database } from '../schema.ts'
import { selectMatching } from './record-filter.ts'
import { chooseLabels, readLabels } from './record-labels.ts'
import { type Scanned, type ScannedRow, scannedColumns } from './record-source.ts'
import { recordWindows } from './record-windows.ts'

/** Every record that the filter lets through, newest first, a few milliseconds' worth at a time. `limit` and `before` do not apply. */
export async function* scanRecords(db: Database, filter: RecordFilter, withText: boolean): AsyncGenerator<Scanned> {
  const { before: _before, ...unpaged } = filter
  const chosen = await chooseLabels(db, unpaged)
  if (chosen?.numbers.length === 0) return
  let labels = await readLabels(db)
  for await (const window of recordWindows(db, unpaged, chosen)) {
    const matching = selectMatching(db, unpaged, chosen, window).select(scannedColumns).orderBy('id', 'desc')
    const rows: ScannedRow[] = await (withText ? matching.select('record_json') : matching).execute()
    // Records go on coming in, with labels of their own.
    if (rows.some(({ label }) => !labels.has(label))) labels = await readLabels(db)
    yield { rows, labels }
  }
}
