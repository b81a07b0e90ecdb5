import { sql } from 'kysely'
import { figuresOf } from '../../core/attempt-figures.ts'
import { reachFaultPoint } from '../../core/fault-point.ts'
import { mayWrite, type SegmentName, type Writers } from '../../core/journal-format.ts'
import type { RequestRecord } from '../../core/record.ts'
import { interruptRecord } from '../ingest/interrupted.ts'
import type { Database, RecordRow } from '../schema.ts'
import type { HotStatements } from '../sqlite/hot-statements.ts'
import { writeJson } from '../sqlite/json-column.ts'
import { keepOdd } from './attempts-json.ts'
import { readRecord, withRepeats } from './record-json.ts'

/** So many are interrupted in one transaction. */
const pageRows = 100

/** Who wrote a record: of a thread that is over, what never settled is interrupted. */
export function ownerOf({ boot, thread }: Pick<SegmentName, 'boot' | 'thread'>): string {
  return `${boot}-${thread}`
}

/** Those who left something unsettled and will write no more. */
export async function findDeadOwners(db: Database, writers: Writers): Promise<string[]> {
  const rows = await db
    .selectFrom('records')
    .select('boot')
    .distinct()
    // As text, so that SQLite knows before it runs that the index of those applies.
    .where(sql<boolean>`state = 'admitted'`)
    .execute()
  return rows.map((row) => row.boot).filter((owner) => !mayWrite(writers, readOwner(owner)))
}

/** Earlier versions wrote the boot alone. */
function readOwner(owner: string): Pick<SegmentName, 'boot' | 'thread'> {
  const [boot = '', thread = '-1'] = owner.split('-')
  return { boot, thread: Number(thread) }
}

/** What these left unsettled becomes `interrupted`. One page a call. */
export function interruptRecords(hot: HotStatements, owners: readonly string[], traced: boolean): RequestRecord[] {
  const records = hot.findUnsettled(owners, pageRows).map(({ id, boot, record_json }) => {
    const record = interruptRecord(readRecord(record_json, id), hot.spend.interrupt(id))
    hot.writeRecord({ ...record, figures: keepOdd(figuresOf(record.attempts, record.error)) }, boot, writeJson(record))
    if (traced) hot.traces.add(record)
    return record
  })
  reachFaultPoint('interrupt.before-commit')
  return records
}

/** The records as stored, with a signal on those that stand for several refusals. */
export async function readRecords(
  db: Database,
  rows: readonly Pick<RecordRow, 'id' | 'record_json'>[],
): Promise<RequestRecord[]> {
  if (rows.length === 0) return []
  const ids = rows.map((row) => row.id)
  const repeats = await db.selectFrom('repeated_records').selectAll().where('id', 'in', ids).execute()
  const byId = new Map(repeats.map((repeat) => [repeat.id, repeat]))
  return rows.map((row) => withRepeats(row.record_json, row.id, byId.get(row.id)))
}
