import type { StatsBy } from '../../store/api.ts'
import type { Counted, SumQuestion, SumRow } from '../../store/records/record-source.ts'
import { sumAmounts } from '../../store/records/record-sum-keys.ts'
import { labelColumns } from '../../store/replica/outbox-types.ts'
import { addPlain, SqlCondition } from './condition.ts'
import type { Labelled, MetLabels } from './met-labels.ts'
import type { ReadingFilter } from './reading.ts'

/** A range of hours or days of sums; `past` is the first one after it. */
export interface SumStretch {
  span: 'hour' | 'day'
  first: string
  past: string
}

/** One node's day. */
export interface NodeDay {
  start: string
  node: string
}

/** The rows that PostgreSQL adds up, aliased `s` with a column `start`, and the conditions on them. */
export interface Summands {
  table: string
  condition: SqlCondition
}

export type GroupedRow = Omit<SumRow, 'tag'> &
  Labelled & {
    /** As `Summands` has it; null: none. */
    tag: string | null
    /** Only where it was asked for. */
    route?: string | null
    /** Base64. */
    latencies: string | null
    fewer: string | null
  }

/** A column that rows are grouped by, and its expression for sorting, which is never null. */
interface GroupColumn {
  name: 'time' | 'node' | 'state' | 'status' | 'error_code' | 'tag' | 'route' | keyof Labelled
  grouped: string
  selected: string
  ordered: readonly string[]
  /** The sort values of a row that was read. */
  placeOf(row: GroupedRow): unknown[]
}

/**
 * Sums that PostgreSQL adds up by the columns that groups need, ignoring all others: of 90 days with hundreds of keys, a hundred thousand
 * rows become some hundreds.
 */
export class GroupedSums {
  readonly labels: MetLabels
  readonly #columns: readonly GroupColumn[]
  readonly #withTags: boolean
  readonly #withLatencies: boolean
  readonly #labelNames: string
  /** Rows are not grouped by time. */
  readonly isTimeless: boolean

  constructor({ longest, by, withLatencies }: SumQuestion, labels: MetLabels) {
    this.labels = labels
    this.isTimeless = longest === 'ever'
    this.#withTags = by.includes('tag')
    this.#withLatencies = withLatencies
    const named = new Set(by.flatMap((way) => namesOf[way] ?? []))
    this.#columns = [
      ...(this.isTimeless ? [] : [startColumn(longest === 'hour' ? hourLength : dayLength)]),
      ...(by.includes('node') ? [plainColumn('node', 's.node')] : []),
      ...[plainColumn('state', 's.state'), statusColumn, plainColumn('error_code', "nullif(s.error_code, '')")],
      ...labelColumns.filter((name) => named.has(name) || always.has(name)).map(nullableColumn),
      ...(this.#withTags ? [nullableColumn('tag')] : []),
      ...(by.includes('route') ? [nullableColumn('route')] : []),
    ]
    const grouped = new Set<string>(this.#columns.map(({ name }) => name))
    this.#labelNames = labelColumns
      .filter((name) => !grouped.has(name))
      .map((name) => `${name === 'key_name' && named.has('key_id') ? latestKeyName : 'null'} as ${name}`)
      .join(', ')
  }

  sums(filter: ReadingFilter, { span, first, past }: SumStretch): Summands {
    const condition = new SqlCondition()
    addPlain(condition, filter)
    const [of, from, to] = [span, first, past].map((each) => condition.value(each))
    condition.add(`s.span = ${of} and s.start >= ${from} and s.start < ${to}`)
    return { table: 'spgw.record_sums s', condition }
  }

  /** For consecutive days, newest first. What has no tag is the total minus what has any. */
  tagSums(filter: ReadingFilter, days: readonly [NodeDay, ...NodeDay[]]): Summands {
    const [newest] = days
    const oldest = days.at(-1) ?? newest
    const condition = new SqlCondition()
    addPlain(condition, filter)
    const [first, last] = [condition.value(oldest.start), condition.value(newest.start)]
    // For the index: PostgreSQL cannot use a comparison of both columns in an index that begins with the span.
    condition.add(`start >= ${first} and start <= ${last}`)
    condition.add(`(start, node) >= (${first}, ${condition.value(oldest.node)})`)
    condition.add(`(start, node) <= (${last}, ${condition.value(newest.node)})`)
    const columns = ['start', 'node', 'state', 'status', 'error_code', ...labelColumns, 'latencies']
    const signed = sumAmounts.map((name) => `case when tag = '' then -${name} else ${name} end`)
    const table = `(select ${columns}, ${sumAmounts}, null as tag, false as less from spgw.record_sums where span = 'day'
      union all select ${columns}, ${signed}, nullif(tag, ''), tag = '' from spgw.tag_sums) s`
    return { table, condition }
  }

  /** One page of the groups. `last`: the last row of the page before. */
  select(
    { table, condition }: Summands,
    { last, limit }: { last: GroupedRow | undefined; limit: number },
  ): { text: string; values: unknown[] } {
    const order = this.#columns.flatMap(({ ordered }) => ordered)
    if (last !== undefined) {
      const place = this.#columns.flatMap(({ placeOf }) => placeOf(last)).map((each) => condition.value(each))
      condition.add(`(${order.join(', ')}) < (${place.join(', ')})`)
    }
    const joined = (which = '') => (this.#withLatencies ? inBase64(joinedLatencies + which) : 'null')
    const latencies = this.#withTags
      ? `${joined(' filter (where not s.less)')} as latencies, ${joined(' filter (where s.less)')} as fewer`
      : `${joined()} as latencies, null as fewer`
    const text = `select ${this.#selected}, ${latencies} from ${table} where ${condition.text}
      group by ${this.#grouped} having sum(s.requests) > 0
      order by ${order.map((each) => `${each} desc`).join(', ')} limit ${limit}`
    return { text, values: condition.values }
  }

  /** The groups of records, unpaged: the caller bounds the number of records. */
  selectRecords({ table, condition }: Summands): { text: string; values: unknown[] } {
    const milliseconds = this.#withLatencies
      ? `${joinedMilliseconds('duration_ms')} as durations, ${joinedMilliseconds('first_byte_ms')} as first_bytes`
      : 'null as durations, null as first_bytes'
    const text = `select ${this.#selected}, ${milliseconds} from ${table} where ${condition.text}
      group by ${this.#grouped} order by max(s.start) desc`
    return { text, values: condition.values }
  }

  count(rows: GroupedRow[]): Counted {
    // So that a key has its latest name.
    if (this.isTimeless) rows.sort((row, other) => (row.time < other.time ? 1 : -1))
    return {
      rows: rows.map(({ tag, ...row }) => ({
        ...row,
        ...(tag === null ? {} : { tag: JSON.parse(`"${tag}"`) }),
        label: this.labels.number(row),
        latencies: readBase64(row.latencies),
        fewer: readBase64(row.fewer),
      })),
      labels: this.labels.known,
    }
  }

  get #grouped(): string {
    return this.#columns.map(({ grouped }) => grouped).join(', ')
  }

  get #selected(): string {
    return [
      ...(this.isTimeless ? ['max(s.start) as time'] : []),
      ...this.#columns.map(({ name, selected }) => `${selected} as ${name}`),
      ...sumAmounts.map((name) => `sum(s.${name})::float8 as ${name}`),
      ...[this.#withTags ? [] : ['null as tag'], this.#labelNames].flat(),
    ].join(', ')
  }
}

/** The columns that name the groups. A key has its latest name, and its scope tells it from others of that name. */
const namesOf: Partial<Record<StatsBy, readonly (keyof Labelled)[]>> = {
  key: ['key_id', 'project', 'environment'],
  model: ['model'],
  project: ['project'],
  environment: ['environment'],
}
/** Always needed, to tell requests by provider and shadow requests apart. */
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

function nullableColumn(name: 'tag' | 'route' | keyof Labelled): GroupColumn {
  const [none, collation] = name === 'shadow' ? ['0', ''] : ["''", ' collate "C"']
  const grouped = `s.${name}`
  return {
    name,
    grouped,
    selected: grouped,
    ordered: [`(${grouped} is null)`, `coalesce(${grouped}, ${none})${collation}`],
    placeOf: (row) => [row[name] == null, row[name] ?? (name === 'shadow' ? 0 : '')],
  }
}

/** Within one part all starts have the same length. */
const latestKeyName = "substr(max(s.start || coalesce(s.key_name, '')), length(max(s.start)) + 1)"

/** In the form that the store's `addLatencies` reads. */
const joinedLatencies = "string_agg(s.latencies, '\\x0000'::bytea)"
/** PostgreSQL sends bytes as hexadecimal, half as long again; decoding that took a third of the node's time. */
const inBase64 = (bytes: string) => `encode(${bytes}, 'base64')`
const readBase64 = (text: string | null) => (text === null ? null : Buffer.from(text, 'base64'))

/** All values, one after the other. */
const joinedMilliseconds = (column: string) =>
  `string_agg(int4send(least(greatest(floor(s.${column} + 0.5), 0), 2147483647)::int), ''::bytea)
    filter (where s.${column} is not null)`
