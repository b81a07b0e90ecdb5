import { setImmediate as nextTurn } from 'node:timers/promises'
import { sql } from 'kysely'
import { noGroup } from '../../core/record.ts'
import type { RecordFilter } from '../api.ts'
import { throwIfStopped } from '../cancellation.ts'
import type { Database } from '../schema.ts'
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
      if (found.some(({ label }) => !labels.has(label))) labels = await readLabels(db)
      yield { rows: found, labels }
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

interface TagPlace {
  span: SumSpan
  start: string
  withLatencies: boolean
}

const sameOutcome = ['span', 'start', 'label', 'state', 'status', 'error_code']

/**
 * Rows for each tag, and for what has none: all without those that have any, which stand under the tag ''. In one statement, so that
 * all rows are of one moment.
 */
async function selectTagged(
  db: Database,
  filter: RecordFilter,
  chosen: LabelChoice | null,
  { span, start, withLatencies }: TagPlace,
): Promise<SumRow[]> {
  const conditions = [sql`span = ${span} and start = ${start}`, ...outcomeConditions(filter, chosen)]
  const where = sql`where ${sql.join(conditions, sql` and `)}`
  const keyOf = (table: string) =>
    sql.raw(
      `${table}.start as time, ${table}.label, ${table}.state, nullif(${table}.status, 0) as status,
      nullif(${table}.error_code, '') as error_code`,
    )
  const left = sql.raw(sumAmounts.map((name) => `a.${name} - ifnull(t.${name}, 0) as ${name}`).join(', '))
  const isSame = sql.raw(sameOutcome.map((name) => `t.${name} = a.${name}`).join(' and '))
  const hasLatencies = sql.raw(sameOutcome.map((name) => `l.${name} = a.${name}`).join(' and '))
  const untagged = sql`select ${keyOf('a')}, ${left}, ${noGroup} as tag,
      ${withLatencies ? sql`(select counts from record_latencies l where ${hasLatencies})` : sql`null`} as latencies,
      ${withLatencies ? sql`t.counts` : sql`null`} as fewer
    from (select * from record_sums ${where}) a left join tag_sums t on ${isSame} and t.tag = ''
    where a.requests > ifnull(t.requests, 0)`
  const { rows } = await sql<SumRow>`${untagged}
    union all select ${keyOf('tag_sums')}, ${sql.raw(sumAmounts.join(', '))}, tag,
      ${withLatencies ? sql`counts` : sql`null`}, null from tag_sums ${where} and tag <> ''`.execute(db)
  return rows
}
