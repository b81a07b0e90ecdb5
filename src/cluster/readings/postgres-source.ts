import type { RecordFilter } from '../../store/api.ts'
import type { Counted, RecordSource, Scanned, ScannedRow, SumQuestion } from '../../store/records/record-source.ts'
import { scannedColumns } from '../../store/records/record-source.ts'
import { momentOf, partsOf, type SpanPart, startOf } from '../../store/records/sum-spans.ts'
import { labelColumns } from '../../store/replica/outbox-types.ts'
import { readColumn } from '../records/write-records.ts'
import { addFull, SqlCondition } from './condition.ts'
import { countRecords, type RecordsRow, recordSummands } from './grouped-records.ts'
import { type GroupedRow, GroupedSums, type Summands } from './grouped-sums.ts'
import { type Labelled, MetLabels } from './met-labels.ts'
import type { AskPostgres, ReadingFilter } from './reading.ts'
import { readTagDays } from './tag-days.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs
/** The most records that are grouped at once: each may have tags of its own. */
const recordsAtOnce = 20_000

type Times = Pick<SpanPart, 'from' | 'to'>
/** Each part is only requested when it is taken. */
type CountedParts = AsyncGenerator<AsyncGenerator<Counted>>

interface GroupedReading {
  filter: ReadingFilter
  sums: GroupedSums
  withTags: boolean
  withRoute: boolean
}

/** The records of all nodes, as the source for statistics. */
export class PostgresSource implements RecordSource {
  readonly #ask: AskPostgres
  readonly #pageRows: number

  constructor(ask: AskPostgres, pageRows = 5000) {
    this.#ask = ask
    this.#pageRows = pageRows
  }

  async *records(asked: RecordFilter, withText: boolean): AsyncGenerator<Scanned> {
    const { before: _before, ...filter } = asked
    const labels = new MetLabels()
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
    const withRoute = by.includes('route')
    if (longest === null) return yield* this.records(filter, withTags)
    const span = {
      from: filter.since === undefined ? Number.NEGATIVE_INFINITY : Date.parse(filter.since),
      to: filter.until === undefined ? Number.POSITIVE_INFINITY : Date.parse(filter.until),
    }
    // Label numbers are shared by all parts.
    const reading = { filter, sums: new GroupedSums(question, new MetLabels()), withTags, withRoute }
    if (withRoute || !areSummed(filter)) return yield* inTurn(this.#days(reading, span))
    // There are no sums by week, which could not be dropped together with a day's table, and no sums by tag and hour.
    const longestSum = longest === 'hour' ? 'hour' : 'day'
    for (const part of partsOf(span, Number.NEGATIVE_INFINITY, longestSum, withTags ? longestSum : 'hour')) {
      if (part.by === 'record' || (withTags && part.by === 'hour')) yield* inTurn(this.#days(reading, part))
      else yield* inTurn(withTags ? this.#tagged(reading, part) : this.#stretches(reading, part))
    }
  }

  /** Reads stretch by stretch, and each in pages: PostgreSQL adds up the whole stretch for each of its pages. */
  async *#stretches({ filter, sums }: GroupedReading, { from, to, by }: SpanPart): CountedParts {
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
    for (let past = end; past > oldest; past -= length) {
      const stretch = {
        span,
        first: startOf(Math.max(oldest, past - length), span),
        past: startOf(past, span),
      } as const
      yield this.#pages(sums, () => sums.sums(filter, stretch))
    }
  }

  async *#tagged(reading: GroupedReading, part: SpanPart): CountedParts {
    const { filter, sums } = reading
    for await (const days of readTagDays(this.#ask, filter, part)) {
      const [{ whole, start, node, requests }] = days
      if (whole) yield this.#pages(sums, () => sums.tagSums(filter, days))
      else if (requests > 0)
        for (const piece of cut(dayOf(start), requests))
          yield this.#grouped({ ...reading, filter: { ...filter, node } }, piece)
    }
  }

  /** Reads the records of each day, for parts of hours and for filters that sums cannot answer. */
  async *#days(reading: GroupedReading, { from, to }: Times): CountedParts {
    const days = await this.#ask<{ start: string; requests: number }>(
      `select start, sum(requests)::float8 as requests from spgw.record_sums
       where span = 'day' and start >= $1 and start <= $2 group by start order by start desc`,
      [startOf(from, 'day'), startOf(to, 'day')],
    )
    for (const { start, requests } of days) {
      const day = dayOf(start)
      const within = { from: Math.max(from, day.from), to: Math.min(to, day.to) }
      for (const piece of cut(within, requests)) yield this.#grouped(reading, piece)
    }
  }

  /** Requested at once, read in turn. */
  #pages(sums: GroupedSums, summands: () => Summands): AsyncGenerator<Counted> {
    const ask = (last?: GroupedRow) => {
      const { text, values } = sums.select(summands(), { last, limit: this.#pageRows })
      return begin(this.#ask<GroupedRow>(text, values))
    }
    return this.#readPages(sums, ask(), ask)
  }

  async *#readPages(
    sums: GroupedSums,
    first: Promise<GroupedRow[]>,
    ask: (last: GroupedRow) => Promise<GroupedRow[]>,
  ): AsyncGenerator<Counted> {
    for (let page: Promise<GroupedRow[]> | null = first; page !== null; ) {
      const rows: GroupedRow[] = await page
      const last = rows.at(-1)
      page = rows.length < this.#pageRows || last === undefined ? null : ask(last)
      yield sums.count(rows)
    }
  }

  #grouped({ filter, sums, ...asked }: GroupedReading, piece: Times): AsyncGenerator<Counted> {
    const { text, values } = sums.selectRecords(recordSummands(filter, piece, asked))
    return readRecords(sums, begin(this.#ask<RecordsRow>(text, values)))
  }
}

async function* readRecords(sums: GroupedSums, asked: Promise<RecordsRow[]>): AsyncGenerator<Counted> {
  yield countRecords(sums, await asked)
}

/** A failure is reported when the result's turn comes. */
function begin<Output>(asked: Promise<Output>): Promise<Output> {
  asked.catch(() => {})
  return asked
}

/** Requests one piece while the one before is read. They are read in order, because labels are numbered in order. */
async function* inTurn(pieces: CountedParts): AsyncGenerator<Counted> {
  let last: AsyncGenerator<Counted> | null = null
  for await (const piece of pieces) {
    if (last !== null) yield* last
    last = piece
  }
  if (last !== null) yield* last
}

const dayOf = (start: string): Times => ({ from: momentOf(start), to: momentOf(start) + dayMs })

/** Newest first. */
function* cut({ from, to }: Times, requests: number): Generator<Times> {
  const hours = Math.max(1, Math.floor((24 * recordsAtOnce) / Math.max(1, requests)))
  for (let end = to; end > from; end -= hours * hourMs) yield { from: Math.max(from, end - hours * hourMs), to: end }
}

/** Whether the filter only uses labels and outcomes. */
function areSummed({ tags, route, id, slowerThanMs, fellBack, failedAt, names }: ReadingFilter): boolean {
  const others = [route, id, slowerThanMs, fellBack, failedAt, names]
  return Object.keys(tags ?? {}).length === 0 && others.every((each) => each === undefined)
}
