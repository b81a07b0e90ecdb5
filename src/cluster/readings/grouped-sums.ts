import type { StatsBy } from '../../store/api.ts'
import type { Counted, SumQuestion, SumRow } from '../../store/records/record-source.ts'
import { sumAmounts } from '../../store/records/record-sum-keys.ts'
import { labelColumns } from '../../store/replica/outbox-types.ts'
import { addPlain, SqlCondition } from './condition.ts'
import type { Labelled, MetLabels } from './met-labels.ts'
import type { ReadingFilter } from './reading.ts'

/** Hours or days of sums, as their rows name them; `past` is behind the last. */
export interface SumStretch {
  span: 'hour' | 'day'
  first: string
  past: string
}

export type GroupedRow = SumRow & Labelled & { latencies: Buffer | null }

/** Of what a row is made, and how it is written where rows are put in order: there nothing is null. */
interface GroupColumn {
  name: 'time' | 'node' | 'state' | 'status' | 'error_code' | keyof Labelled
  grouped: string
  selected: string
  ordered: readonly string[]
  /** The same of a row that was read. */
  placeOf(row: GroupedRow): unknown[]
}

/**
 * Rows of sums that PostgreSQL adds up to what groups are made of, whatever else keeps them apart: of 90 days with hundreds of keys
 * some hundreds are left of a hundred thousand.
 */
export class GroupedSums {
  readonly labels: MetLabels
  readonly #columns: readonly GroupColumn[]
  readonly #selected: string
  /** Rows of any time are one. */
  readonly isTimeless: boolean

  constructor({ longest, by, withLatencies }: SumQuestion, labels: MetLabels) {
    this.labels = labels
    this.isTimeless = longest === 'ever'
    const named = new Set(by.flatMap((way) => namesOf[way] ?? []))
    this.#columns = [
      ...(this.isTimeless ? [] : [startColumn(longest === 'hour' ? hourLength : dayLength)]),
      ...(by.includes('node') ? [plainColumn('node', 's.node')] : []),
      ...[plainColumn('state', 's.state'), statusColumn, plainColumn('error_code', "nullif(s.error_code, '')")],
      ...labelColumns.filter((name) => named.has(name) || always.has(name)).map(labelColumn),
    ]
    const grouped = new Set<string>(this.#columns.map(({ name }) => name))
    this.#selected = [
      ...(this.isTimeless ? ['max(s.start) as time'] : []),
      ...this.#columns.map(({ name, selected }) => `${selected} as ${name}`),
      ...sumAmounts.map((name) => `sum(s.${name})::float8 as ${name}`),
      ...labelColumns
        .filter((name) => !grouped.has(name))
        .map((name) => `${name === 'key_name' && named.has('key_id') ? latestKeyName : 'null'} as ${name}`),
      `${withLatencies ? joinedLatencies : 'null'} as latencies`,
    ].join(', ')
  }

  /** `last`: of the page before. */
  select(
    filter: ReadingFilter,
    { span, first, past }: SumStretch,
    { last, limit }: { last: GroupedRow | undefined; limit: number },
  ): { text: string; values: unknown[] } {
    const condition = new SqlCondition()
    addPlain(condition, filter)
    const [of, from, to] = [span, first, past].map((each) => condition.value(each))
    condition.add(`s.span = ${of} and s.start >= ${from} and s.start < ${to}`)
    const order = this.#columns.flatMap(({ ordered }) => ordered)
    if (last !== undefined) {
      const place = this.#columns.flatMap(({ placeOf }) => placeOf(last)).map((each) => condition.value(each))
      condition.add(`(${order.join(', ')}) < (${place.join(', ')})`)
    }
    const text = `select ${this.#selected} from spgw.record_sums s where ${condition.text}
      group by ${this.#columns.map(({ grouped }) => grouped).join(', ')}
      order by ${order.map((each) => `${each} desc`).join(', ')} limit ${limit}`
    return { text, values: condition.values }
  }

  count(rows: GroupedRow[]): Counted {
    // So that the name of a key is its latest.
    if (this.isTimeless) rows.sort((row, other) => (row.time < other.time ? 1 : -1))
    return {
      rows: rows.map((row) => ({
        ...row,
        label: this.labels.number(row),
        latencies: row.latencies === null ? null : splitLatencies(row.latencies),
      })),
      labels: this.labels.known,
    }
  }
}

/** What groups are named after. A key has one row, under its latest name. */
const namesOf: Partial<Record<StatsBy, readonly (keyof Labelled)[]>> = {
  key: ['key_id'],
  model: ['model'],
  project: ['project'],
  environment: ['environment'],
}
/** Without them it is not known who asked for something, and whom it was asked of. */
const always = new Set<string>(['provider', 'shadow'])

const dayLength = '2026-01-02'.length
const hourLength = '2026-01-02T03'.length

function startColumn(length: number): GroupColumn {
  const grouped = `left(s.start, ${length})`
  return { name: 'time', grouped, selected: grouped, ordered: [grouped], placeOf: ({ time }) => [time] }
}

function plainColumn(name: 'node' | 'state' | 'error_code', selected: string): GroupColumn {
  const grouped = `s.${name}`
  return { name, grouped, selected, ordered: [`${grouped} collate "C"`], placeOf: (row) => [row[name] ?? ''] }
}

const statusColumn: GroupColumn = {
  name: 'status',
  grouped: 's.status',
  selected: 'nullif(s.status, 0)',
  ordered: ['s.status'],
  placeOf: ({ status }) => [status ?? 0],
}

function labelColumn(name: keyof Labelled): GroupColumn {
  const [none, collation] = name === 'shadow' ? ['0', ''] : ["''", ' collate "C"']
  const grouped = `s.${name}`
  return {
    name,
    grouped,
    selected: grouped,
    ordered: [`(${grouped} is null)`, `coalesce(${grouped}, ${none})${collation}`],
    placeOf: (row) => [row[name] === null, row[name] ?? (name === 'shadow' ? 0 : '')],
  }
}

/** Starts are of one length within a part. */
const latestKeyName = "substr(max(s.start || coalesce(s.key_name, '')), length(max(s.start)) + 1)"

/** Each with its length before it. */
const joinedLatencies = "string_agg(int4send(length(s.latencies)) || s.latencies, ''::bytea)"
const lengthBytes = 4

function splitLatencies(joined: Buffer): Uint8Array[] {
  const parts: Uint8Array[] = []
  for (let begin = 0; begin < joined.length; ) {
    const end = begin + lengthBytes + joined.readInt32BE(begin)
    parts.push(joined.subarray(begin + lengthBytes, end))
    begin = end
  }
  return parts
}
