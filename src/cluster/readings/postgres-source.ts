import type pg from 'pg'
import type { RecordFilter } from '../../store/api.ts'
import { durationSteps } from '../../store/records/duration-counts.ts'
import { firstBytePlace, LatencyWriter, readLatencies } from '../../store/records/latency-blob.ts'
import type {
  Counted,
  RecordSource,
  Scanned,
  ScannedRow,
  SumQuestion,
  SumRow,
} from '../../store/records/record-source.ts'
import { scannedColumns } from '../../store/records/record-source.ts'
import { sumAmounts } from '../../store/records/record-sum-keys.ts'
import { partsOf, type SpanPart, startOf } from '../../store/records/sum-spans.ts'
import { labelColumns } from '../../store/replica/outbox-types.ts'
import type { RecordLabelsRow } from '../../store/schema.ts'
import { readColumn } from '../records/write-records.ts'
import { addFull, addPlain, SqlCondition } from './condition.ts'
import type { ReadingFilter } from './reading.ts'

const pageRows = 5000
const weekMs = 7 * 86_400_000

/** Weeks are counted from the epoch. */
const roundUp = (moment: number): number => Math.ceil(moment / weekMs) * weekMs

export type AskPostgres = <Row extends pg.QueryResultRow>(text: string, values: unknown[]) => Promise<Row[]>

type Labelled = Omit<RecordLabelsRow, 'number'>

/** Records of all nodes, as statistics are made of them. */
export class PostgresSource implements RecordSource {
  readonly #ask: AskPostgres

  constructor(ask: AskPostgres) {
    this.#ask = ask
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
         from spgw.records where ${condition.text} order by id desc limit ${pageRows}`,
        condition.values,
      )
      yield { rows: rows.map((row) => ({ ...row, label: labels.number(row) })), labels: labels.known }
      if (rows.length < pageRows) return
      before = rows.at(-1)?.id ?? null
    }
  }

  async *totals(asked: RecordFilter, question: SumQuestion): AsyncGenerator<Counted> {
    const { before: _before, ...filter } = asked
    const { longest, withTags, withLatencies } = question
    if (longest === null || withTags || !areSummed(filter)) return yield* this.records(filter, withTags)
    const span = {
      from: filter.since === undefined ? Number.NEGATIVE_INFINITY : Date.parse(filter.since),
      to: filter.until === undefined ? Number.POSITIVE_INFINITY : Date.parse(filter.until),
    }
    // A number is one label's in all parts.
    const labels = new MetLabels()
    for (const part of partsOf(span, Number.NEGATIVE_INFINITY, longest)) {
      if (part.by === 'record') yield* this.#records({ ...filter, ...timesOf(part) }, false, labels)
      else if (part.by === 'week') yield* this.#weeks(filter, part, { withLatencies, joined: true, labels })
      else yield* this.#sums(filter, part, { withLatencies, joined: false, labels })
    }
  }

  /** Weeks have no sums here, which would not go when a day's table does: PostgreSQL adds up those of their days. */
  async *#weeks(filter: ReadingFilter, { from, to }: SpanPart, form: SumForm): AsyncGenerator<Counted> {
    const [edges] = await this.#ask<{ oldest: string | null; newest: string | null }>(
      `select min(start) as oldest, max(start) as newest from spgw.record_sums
       where span = 'day' and start >= $1 and start < $2`,
      [startOf(from, 'day'), startOf(to, 'day')],
    )
    if (edges?.oldest == null || edges.newest == null) return
    const oldest = Date.parse(edges.oldest)
    for (let end = roundUp(Date.parse(edges.newest) + 1); end > oldest; end -= weekMs)
      yield* this.#sums(filter, { from: end - weekMs, to: end, by: 'day' }, form)
  }

  /**
   * In the order of their key, backwards, so that each page goes on where the one before it ended. `joined`: what differs in its
   * beginning alone is one row.
   */
  async *#sums(
    filter: ReadingFilter,
    { from, to, by }: SpanPart,
    { withLatencies, joined, labels }: SumForm,
  ): AsyncGenerator<Counted> {
    const key = [...(joined ? [] : ['start']), 'node', 'label', 'state', 'status', 'error_code']
    const one = (name: string) => (joined ? `max(${name})` : name)
    const all = (name: string) => (joined ? `sum(${name})` : name)
    const columns = [
      ...[`${one('start')} as time`, 'node', 'label as place', 'state', 'nullif(status, 0) as status'],
      "nullif(error_code, '') as error_code",
      ...sumAmounts.map((name) => `${all(name)}::float8 as ${name}`),
      ...labelColumns.map((name) => `${one(name)} as ${name}`),
      `${withLatencies ? (joined ? joinedLatencies : 'latencies') : 'null'} as latencies`,
    ]
    for (let behind: unknown[] | null = null; ; ) {
      const condition = new SqlCondition()
      addPlain(condition, filter)
      const [span, first, last] = [by, startOf(from, asSpan(by)), startOf(to, asSpan(by))].map((each) =>
        condition.value(each),
      )
      condition.add(`span = ${span} and start >= ${first} and start < ${last}`)
      if (behind !== null) {
        const values = behind.map((each) => condition.value(each))
        condition.add(`(${key.join(', ')}) < (${values.join(', ')})`)
      }
      const rows: PlacedRow[] = await this.#ask(
        `select ${columns.join(', ')} from spgw.record_sums where ${condition.text}
         ${joined ? `group by ${key.join(', ')}` : ''}
         order by ${key.map((name) => `${name} desc`).join(', ')} limit ${pageRows}`,
        condition.values,
      )
      const end = rows.at(-1)
      if (joined) rows.sort((row, other) => (row.time < other.time ? 1 : -1))
      yield {
        rows: rows.map((row) => ({
          ...row,
          label: labels.number(row),
          latencies: joined ? addUpLatencies(row.latencies) : row.latencies,
        })),
        labels: labels.known,
      }
      if (rows.length < pageRows || end === undefined) return
      behind = [end.node, end.place, end.state, end.status ?? 0, end.error_code ?? '']
      if (!joined) behind.unshift(end.time)
    }
  }
}

interface SumForm {
  withLatencies: boolean
  joined: boolean
  labels: MetLabels
}

/** `place`: of its label, in the key. */
type PlacedRow = SumRow & Labelled & { place: string; latencies: Buffer | null }

/** Each with its length before it. */
const joinedLatencies = "string_agg(int4send(length(latencies)) || latencies, ''::bytea)"
const lengthBytes = 4

/** By place; empty between two rows. There are tens of thousands of them, and a map for each took half of the time. */
const counts = new Float64Array(firstBytePlace(durationSteps))

function addUpLatencies(joined: Buffer | null): Buffer | null {
  if (joined === null) return null
  let last = -1
  const add = (place: number, count: number) => {
    counts[place] = (counts[place] ?? 0) + count
    if (place > last) last = place
  }
  for (let begin = 0; begin < joined.length; ) {
    const end = begin + lengthBytes + joined.readInt32BE(begin)
    readLatencies(joined.subarray(begin + lengthBytes, end), add)
    begin = end
  }
  const written = new LatencyWriter()
  for (let place = 0; place <= last; place++) written.put(place, counts[place] ?? 0)
  counts.fill(0, 0, last + 1)
  return written.finish()
}

/** Numbers for labels as they are met: the newest first, so that it has the greatest. */
class MetLabels {
  readonly known = new Map<number, RecordLabelsRow>()
  readonly #numbers = new Map<string, number>()

  number(row: Labelled): number {
    const words = labelColumns.map((column) => row[column])
    const text = JSON.stringify(words)
    const found = this.#numbers.get(text)
    if (found !== undefined) return found
    const number = Number.MAX_SAFE_INTEGER - this.#numbers.size
    this.#numbers.set(text, number)
    const { lane, project, environment, key_id, key_name, model, provider, shadow } = row
    this.known.set(number, { number, lane, project, environment, key_id, key_name, model, provider, shadow })
    return number
  }
}

/** Only what label and outcome tell. */
function areSummed({ tags, route, id, slowerThanMs, fellBack, failedAt, names }: ReadingFilter): boolean {
  const others = [route, id, slowerThanMs, fellBack, failedAt, names]
  return Object.keys(tags ?? {}).length === 0 && others.every((each) => each === undefined)
}

function asSpan(by: SpanPart['by']): 'hour' | 'day' {
  return by === 'day' ? 'day' : 'hour'
}

function timesOf({ from, to }: SpanPart): Pick<RecordFilter, 'since' | 'until'> {
  return {
    ...(Number.isFinite(from) ? { since: new Date(from).toISOString() } : {}),
    ...(Number.isFinite(to) ? { until: new Date(to).toISOString() } : {}),
  }
}
