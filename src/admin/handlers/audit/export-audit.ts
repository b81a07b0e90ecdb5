import { createHash } from 'node:crypto'
import type { AuditEvent, AuditFilter } from '../../../store/operators/audit-tables.ts'
import type { AuditExportEvent } from '../../contract/audit.ts'
import { audited } from '../audited.ts'
import type { AdminContext } from '../context.ts'
import { type AuditInput, loadProjectNames, readAuditFilter, showLine } from './show-audit.ts'

const pageLines = 500

/** What is asked for is checked at once; the rest happens as the events are asked for. */
export async function exportAudit(context: AdminContext, input: AuditInput) {
  const filter = await readAuditFilter(context, input)
  return streamEvents(context, input, filter)
}

type Filter = Omit<AuditFilter, 'limit'>

/** Gone through twice: whoever takes a file wants to know how long it is. Who takes it is its last line. */
async function* streamEvents(
  context: AdminContext,
  input: AuditInput,
  filter: Filter,
): AsyncGenerator<AuditExportEvent> {
  await note(context, input)
  const names = await loadProjectNames(context)
  const write = (line: AuditEvent) => `${JSON.stringify(showLine(line, names))}\n`
  const summary: { lines: number; head_hash: string | null } = { lines: 0, head_hash: null }
  let bytes = 0
  let last = 0
  for await (const lines of readPages(context, filter, Number.MAX_SAFE_INTEGER))
    for (const line of lines) {
      summary.lines++
      summary.head_hash = line.hash
      bytes += Buffer.byteLength(write(line))
      last = line.sequence
    }
  yield { kind: 'begin', bytes, summary }
  const hash = createHash('sha256')
  for await (const lines of readPages(context, filter, last)) {
    const text = Buffer.from(lines.map(write).join(''))
    hash.update(text)
    yield { kind: 'bytes', base64: text.toString('base64') }
  }
  yield { kind: 'end', sha256: hash.digest('hex') }
}

/** Oldest first, up to the line of this number: others are written meanwhile. */
async function* readPages({ store }: AdminContext, filter: Filter, upTo: number): AsyncGenerator<AuditEvent[]> {
  for (let after = 0; ; ) {
    const lines = await store.audit.list({ ...filter, after, oldestFirst: true, limit: pageLines })
    const within = lines.filter(({ sequence }) => sequence <= upTo)
    if (within.length > 0) yield within
    const last = lines.at(-1)
    if (last === undefined || lines.length < pageLines || last.sequence >= upTo) return
    after = last.sequence
  }
}

async function note(context: AdminContext, input: AuditInput): Promise<void> {
  await audited(context, {
    operation: 'audit.export',
    resource: { kind: 'audit', id: 'audit', name: 'audit' },
    before: null,
    after: input,
  }).audit.note()
}
