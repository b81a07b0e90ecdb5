import { createHash } from 'node:crypto'
import { describeMissing } from '../../../core/degraded.ts'
import type { RequestRecord } from '../../../core/record.ts'
import type { RecordFilter } from '../../../store/api.ts'
import type { exportFormats, RequestExportEvent } from '../../contract/requests/request-export.ts'
import type { AdminContext } from '../context.ts'
import { csvHead, csvRecord } from './record-csv.ts'
import { type FilterInput, readFilter } from './record-filter.ts'

/** Read, written and sent before the next are read: whoever takes them slowly makes the store wait, and nothing pile up. */
const pageRecords = 200

interface ExportInput extends FilterInput {
  format: (typeof exportFormats)[number]
}

export async function* exportRequests(
  context: AdminContext,
  { format, limit, ...input }: ExportInput,
): AsyncGenerator<RequestExportEvent> {
  await context.runtime.ingest()
  // What comes in meanwhile is another export's.
  const filter: RecordFilter = { until: new Date().toISOString(), ...(await readFilter(context, input)) }
  // Said at the end, since any page may meet it.
  let missing: string | null = null
  const [sum] = await context.store.records.stats(filter, 'total')
  const records = Math.min((sum?.requests ?? 0) + (sum?.shadows ?? 0), limit ?? Number.POSITIVE_INFINITY)
  yield { kind: 'begin', bytes: null, summary: { format, records } }
  const hash = createHash('sha256')
  let done = 0
  let sent = 0
  const send = (text: string): RequestExportEvent => {
    const bytes = Buffer.from(text)
    hash.update(bytes)
    sent += bytes.length
    return { kind: 'bytes', base64: bytes.toString('base64') }
  }
  if (format === 'csv') yield send(csvHead())
  for await (const page of pagesOf(context, filter, limit ?? Number.POSITIVE_INFINITY)) {
    missing ??= describeMissing(context.runtime.degraded())
    yield send(page.map((record) => (format === 'csv' ? csvRecord(record) : `${JSON.stringify(record)}\n`)).join(''))
    done += page.length
    yield {
      kind: 'progress',
      stage: 'receiving',
      done: sent,
      total: Math.round((sent / done) * Math.max(done, records)),
    }
  }
  missing ??= describeMissing(context.runtime.degraded())
  yield { kind: 'end', sha256: hash.digest('hex'), ...(missing !== null && { missing }) }
}

async function* pagesOf({ store }: AdminContext, filter: RecordFilter, limit: number): AsyncGenerator<RequestRecord[]> {
  let before = filter.before
  for (let left = limit; left > 0; ) {
    const wanted = Math.min(pageRecords, left)
    const page = await store.records.list({ ...filter, limit: wanted, ...(before === undefined ? {} : { before }) })
    if (page.length > 0) yield page
    if (page.length < wanted) return
    left -= page.length
    before = page.at(-1)?.id
  }
}
