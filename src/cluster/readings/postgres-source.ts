import type pg from 'pg'
import type { RecordFilter } from '../../store/api.ts'
import type { Counted, RecordSource, Scanned, ScannedRow, SumQuestion } from '../../store/records/record-source.ts'
import { scannedColumns } from '../../store/records/record-source.ts'
import { momentOf, partsOf, type SpanPart, startOf } from '../../store/records/sum-spans.ts'
import { labelColumns } from '../../store/replica/outbox-types.ts'
import { readColumn } from '../records/write-records.ts'
import { addFull, SqlCondition } from './condition.ts'
import { type GroupedRow, GroupedSums, type SumStretch } from './grouped-sums.ts'
import { type Labelled, MetLabels } from './met-labels.ts'
import type { ReadingFilter } from './reading.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs

export type AskPostgres = <Row extends pg.QueryResultRow>(text: string, values: unknown[]) => Promise<Row[]>

/** Records of all nodes, as statistics are made of them. */
export class PostgresSource implements RecordSource {
  readonly #ask: AskPostgres
  readonly #pageRows: number

  constructor(ask: AskPostgres, pageRows = 5000) {
    this.#ask = ask
    this.#pageRows = pageRows
  }

  records(asked: RecordFilter, withText: boolean): AsyncGenerator<Scanned> {
    return this.#records(asked, withText, new MetLabels())
  }

  async *#records(asked: RecordFilter, withText: boolean, labels: MetLabels): AsyncGenerator<Scanned> {
    const { before: _before, ...filter } = asked
    const columns = scannedColumns.filter((name) => name !== 'label').map(readColumn)
    for (let before: string | null = null; ; ) {
      const condition = new SqlCondition()
      addFull(condition, { ...filter, ...(before === null ? {} : { before }) })
      const rows: (ScannedRow & Labelled & { id: string })[] = await this.#ask(
        `select id, node, ${[...columns, ...labelColumns, ...(withText ? ['record_json'] : [])].join(', ')}
         from spgw.records where ${condition.text} order by id desc limit ${this.#pageRows}`,
        condition.values,
      )
      yield { rows: rows.map((row) => ({ ...row, label: labels.number(row) })), labels: labels.known }
      if (rows.length < this.#pageRows) return
      before = rows.at(-1)?.id ?? null
    }
  }

  async *totals(asked: RecordFilter, question: SumQuestion): AsyncGenerator<Counted> {
    const { before: _before, ...filter } = asked
    const { longest, by } = question
    const withTags = by.includes('tag')
    if (longest === null || withTags || !areSummed(filter)) return yield* this.records(filter, withTags)
    const span = {
      from: filter.since === undefined ? Number.NEGATIVE_INFINITY : Date.parse(filter.since),
      to: filter.until === undefined ? Number.POSITIVE_INFINITY : Date.parse(filter.until),
    }
    // A number is one label's in all parts.
    const sums = new GroupedSums(question, new MetLabels())
    // Weeks have no sums here, which would not go when a day's table does.
    for (const part of partsOf(span, Number.NEGATIVE_INFINITY, longest === 'hour' ? 'hour' : 'day')) {
      if (part.by === 'record') yield* this.#records({ ...filter, ...timesOf(part) }, false, sums.labels)
      else yield* this.#sums(filter, part, sums)
    }
  }

  /** Stretch by stretch, and of each page by page: PostgreSQL adds all of a stretch up for each of its pages. */
  async *#sums(filter: ReadingFilter, { from, to, by }: SpanPart, sums: GroupedSums): AsyncGenerator<Counted> {
    const span = by === 'hour' ? 'hour' : 'day'
    const [edges] = await this.#ask<{ oldest: string | null; newest: string | null }>(
      `select min(start) as oldest, max(start) as newest from spgw.record_sums
       where span = $1 and start >= $2 and start < $3`,
      [span, startOf(from, span), startOf(to, span)],
    )
    if (edges?.oldest == null || edges.newest == null) return
    const oldest = momentOf(edges.oldest)
    const length = dayMs * (span === 'hour' ? 1 : sums.isTimeless ? 28 : 7)
    const end = momentOf(edges.newest) + (span === 'hour' ? hourMs : dayMs)
    for (let past = end; past > oldest; past -= length)
      yield* this.#pages(
        filter,
        { span, first: startOf(Math.max(oldest, past - length), span), past: startOf(past, span) },
        sums,
      )
  }

  async *#pages(filter: ReadingFilter, stretch: SumStretch, sums: GroupedSums): AsyncGenerator<Counted> {
    for (let last: GroupedRow | undefined; ; ) {
      const { text, values } = sums.select(filter, stretch, { last, limit: this.#pageRows })
      const rows = await this.#ask<GroupedRow>(text, values)
      last = rows.at(-1)
      yield sums.count(rows)
      if (rows.length < this.#pageRows) return
    }
  }
}

/** Only what label and outcome tell. */
function areSummed({ tags, route, id, slowerThanMs, fellBack, failedAt, names }: ReadingFilter): boolean {
  const others = [route, id, slowerThanMs, fellBack, failedAt, names]
  return Object.keys(tags ?? {}).length === 0 && others.every((each) => each === undefined)
}

function timesOf({ from, to }: SpanPart): Pick<RecordFilter, 'since' | 'until'> {
  return {
    ...(Number.isFinite(from) ? { since: new Date(from).toISOString() } : {}),
    ...(Number.isFinite(to) ? { until: new Date(to).toISOString() } : {}),
  }
}
