import { sql } from 'kysely'
import { reachFaultPoint } from '../core/fault-point.ts'
import { mayWrite, type SegmentName, type Writers } from '../core/journal-format.ts'
import type { RequestRecord } from '../core/record.ts'
import { interruptRecord } from './interrupted.ts'
import { writeJson } from './json-column.ts'
import { readRecord } from './record-json.ts'
import type { Database, RecordRow } from './schema.ts'

/** One statement's rows: 22 values each stay far below every engine's limit. */
const chunkRows = 100

/**
 * Writes records and returns those that were added or changed. An admitted record is only ever added; anything else
 * replaces what stands there, so that reading a journal twice changes nothing.
 */
export async function upsertRecords(
  db: Database,
  records: readonly RequestRecord[],
  owner: string,
): Promise<RequestRecord[]> {
  const changed: RequestRecord[] = []
  for (let start = 0; start < records.length; start += chunkRows) {
    const chunk = records.slice(start, start + chunkRows)
    const rows = chunk.map((record) => toRow(record, owner))
    const written = await db
      .insertInto('records')
      .values(rows)
      .onConflict((conflict) =>
        conflict
          .column('id')
          .doUpdateSet((set) => Object.fromEntries(replaced.map((column) => [column, set.ref(`excluded.${column}`)])))
          .where(sql<string>`excluded.state`, '<>', 'admitted'),
      )
      .returning('id')
      .execute()
    const ids = new Set(written.map((row) => row.id))
    changed.push(...chunk.filter((record) => ids.has(record.id)))
  }
  return changed
}

const replaced = [
  'state',
  'time',
  'lane',
  'project',
  'environment',
  'key_id',
  'key_name',
  'model',
  'provider',
  'status',
  'error_code',
  'streamed',
  'input',
  'output',
  'cache_read',
  'cache_write',
  'reasoning',
  'usd',
  'duration_ms',
  'record_json',
] as const satisfies (keyof RecordRow)[]

function toRow(record: RequestRecord, owner: string): RecordRow {
  const { tokens, key } = record
  return {
    id: record.id,
    boot: owner,
    state: record.state,
    time: new Date(record.time).toISOString(),
    lane: record.lane,
    project: record.project,
    environment: record.environment,
    key_id: key?.id ?? null,
    key_name: key?.name ?? null,
    model: record.model,
    provider: record.provider,
    status: record.status,
    error_code: record.error?.code ?? null,
    streamed: Number(record.streamed),
    input: tokens?.input ?? null,
    output: tokens?.output ?? null,
    cache_read: tokens?.cache_read ?? null,
    cache_write: tokens?.cache_write ?? null,
    reasoning: tokens?.reasoning ?? null,
    usd: record.cost?.usd ?? null,
    duration_ms: record.duration_ms,
    record_json: writeJson(record),
  }
}

/** Who wrote a record: of a thread that is over, what never settled is interrupted. */
export function ownerOf({ boot, thread }: Pick<SegmentName, 'boot' | 'thread'>): string {
  return `${boot}-${thread}`
}

/** Those who left something unsettled and will write no more. */
export async function findDeadOwners(db: Database, writers: Writers): Promise<string[]> {
  const rows = await db.selectFrom('records').select('boot').distinct().where('state', '=', 'admitted').execute()
  return rows.map((row) => row.boot).filter((owner) => !mayWrite(writers, readOwner(owner)))
}

/** Earlier versions wrote the boot alone. */
function readOwner(owner: string): Pick<SegmentName, 'boot' | 'thread'> {
  const [boot = '', thread = '-1'] = owner.split('-')
  return { boot, thread: Number(thread) }
}

/** What these left unsettled becomes `interrupted`. One page a call. */
export async function interruptRecords(db: Database, owners: readonly string[]): Promise<RequestRecord[]> {
  const rows = await db
    .selectFrom('records')
    .select(['id', 'boot', 'record_json'])
    .where('state', '=', 'admitted')
    .where('boot', 'in', owners)
    .orderBy('id')
    .limit(chunkRows)
    .execute()
  const records: RequestRecord[] = []
  for (const row of rows) {
    const record = interruptRecord(readRecord(row.record_json, row.id))
    records.push(...(await upsertRecords(db, [record], row.boot)))
  }
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
  return rows.map((row) => {
    const record = readRecord(row.record_json, row.id)
    const repeat = byId.get(row.id)
    if (!repeat) return record
    const text = `${repeat.count} more refusals from the same address share this record, the last at ${repeat.last_time}`
    const data = { count: repeat.count, last_time: repeat.last_time }
    return { ...record, policy_signals: [...record.policy_signals, { rule: 'repeated', verdict: 'note', text, data }] }
  })
}
