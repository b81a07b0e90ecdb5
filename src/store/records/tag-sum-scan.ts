import { setImmediate as nextTurn } from 'node:timers/promises'
import { sql } from 'kysely'
import { noGroup } from '../../core/record.ts'
import type { RecordFilter } from '../api.ts'
import { throwIfStopped } from '../cancellation.ts'
import type { Database } from '../schema.ts'
import { changeLatencies, readLatencies } from './latency-blob.ts'
import { type LabelChoice, readLabels } from './record-labels.ts'
import { scanRecords } from './record-scan.ts'
import type { Counted, SumRow } from './record-source.ts'
import { type SumSpan, sumAmounts } from './record-sum-keys.ts'
import { outcomeConditions } from './sum-outcomes.ts'
import { momentOf, type SpanPart, spanOf, startOf } from './sum-spans.ts'

export interface TagPart extends Pick<SpanPart, 'from' | 'to'> {
  by: SumSpan
  withLatencies: boolean
}

const dayMs = 86_400_000

/**
 * Of whole days or weeks what has ended, a row for each tag. A week that has too many rows is read by its days, and such a day by its
 * records.
 */
export async function* scanTagSums(
  db: Database,
  filter: RecordFilter,
  chosen: LabelChoice | null,
  part: TagPart,
): AsyncGenerator<Counted> {
  const { from, to, by: span, withLatencies } = part
  const oldest = startOf(from, span)
  let labels = await readLabels(db)
  for (let below = startOf(to, span); ; await nextTurn()) {
    throwIfStopped()
    const start = await startBelow(db, span, below, oldest)
    if (start === null) return
    below = start
    const found = await selectTagged(db, filter, chosen, { span, start, withLatencies })
    // After reading: a span that overflows loses its rows.
    if (!(await overflows(db, span, start))) {
      const rows = addUntagged(found)
      if (rows.some(({ label }) => !labels.has(label))) labels = await readLabels(db)
      yield { rows, labels }
    } else if (span === 'week')
      yield* scanTagSums(db, filter, chosen, { ...part, ...between(start, 7 * dayMs), by: 'day' })
    else yield* scanEnded(db, { ...filter, ...spanOf(between(start, dayMs)) })
  }
}

function between(start: string, lengthMs: number): Pick<SpanPart, 'from' | 'to'> {
  const from = momentOf(start)
  return { from, to: from + lengthMs }
}

/** What is under way is read apart from all sums. */
async function* scanEnded(db: Database, filter: RecordFilter): AsyncGenerator<Counted> {
  for await (const { rows, labels } of scanRecords(db, filter, true))
    yield { rows: rows.filter(({ state }) => state !== 'admitted'), labels }
}

async function startBelow(db: Database, span: SumSpan, below: string, oldest: string): Promise<string | null> {
  const { rows } = await sql<{ start: string | null }>`select max(start) as start from record_sums
    where span = ${span} and start < ${below} and start >= ${oldest}`.execute(db)
  return rows[0]?.start ?? null
}

async function overflows(db: Database, span: SumSpan, start: string): Promise<boolean> {
  const found = db.selectFrom('tag_sum_overflows').select('start').where('span', '=', span).where('start', '=', start)
  return (await found.executeTakeFirst()) !== undefined
}

/** Of a label and outcome: first all records, then those with any tag, then those with each of them. */
interface FoundRow extends Omit<SumRow, 'tag'> {
  /** null: all; '': any. */
  tag: string | null
}

interface TagPlace {
  span: SumSpan
  start: string
  withLatencies: boolean
}

/** In one statement, so that all rows are of one moment. */
async function selectTagged(
  db: Database,
  filter: RecordFilter,
  chosen: LabelChoice | null,
  { span, start, withLatencies }: TagPlace,
): Promise<FoundRow[]> {
  const conditions = [sql`span = ${span} and start = ${start}`, ...outcomeConditions(filter, chosen)]
  const where = sql`where ${sql.join(conditions, sql` and `)}`
  const columns = sql.join(
    ['start', 'label', 'state', 'status', 'error_code', ...sumAmounts].map((name) => sql.ref(name)),
  )
  const counts = withLatencies ? sql`counts` : sql`null`
  const all = sql`select ${columns}, null as tag, ${withLatencies ? sql`counts` : sql`null`} as latencies from record_sums
    ${withLatencies ? sql`left join record_latencies using (span, start, label, state, status, error_code)` : sql``} ${where}`
  const { rows } = await sql<FoundRow & { start: string }>`${all}
    union all select ${columns}, tag, ${counts} as latencies from tag_sums ${where}`.execute(db)
  return rows.map(({ start: time, status, error_code, ...row }) => ({
    ...row,
    time,
    status: status === 0 ? null : status,
    error_code: error_code === '' ? null : error_code,
  }))
}

/** Rows for each tag, and for what has none: all without those that have any. */
function addUntagged(found: readonly FoundRow[]): SumRow[] {
  const nameOf = ({ label, state, status, error_code }: FoundRow) => `${label} ${state} ${status} ${error_code}`
  const any = new Map(found.filter(({ tag }) => tag === '').map((row) => [nameOf(row), row]))
  return found.flatMap(({ tag, ...row }) => {
    if (tag === '') return []
    if (tag !== null) return [{ ...row, tag }]
    const tagged = any.get(nameOf({ tag, ...row }))
    const rest = tagged === undefined ? row : subtract(row, tagged)
    return rest.requests === 0 ? [] : [{ ...rest, tag: noGroup }]
  })
}

function subtract(all: SumRow, some: Omit<FoundRow, 'tag'>): SumRow {
  const rest = { ...all }
  for (const amount of sumAmounts) rest[amount] -= some[amount]
  if (all.latencies === null || some.latencies === null) return rest
  const fewer = new Map<number, number>()
  readLatencies(some.latencies, (place, count) => fewer.set(place, -count))
  return { ...rest, latencies: changeLatencies(all.latencies, fewer) }
}
