import type pg from 'pg'
import type { RecordFilter } from '../../store/api.ts'
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

export type AskPostgres = <Row extends pg.QueryResultRow>(text: string, values: unknown[]) => Promise<Row[]>

type Labelled = Omit<RecordLabelsRow, 'number'>

/** Records of all nodes, as statistics are made of them. */
export class PostgresSource implements RecordSource {
  readonly #ask: AskPostgres

  constructor(ask: AskPostgres) {
    this.#ask = ask
  }

  async *records(asked: RecordFilter, withText: boolean): AsyncGenerator<Scanned> {
    const { before: _before, ...filter } = asked
    const columns = scannedColumns.filter((name) => name !== 'label').map(readColumn)
    const labels = new MetLabels()
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
    // Of weeks there are no sums here.
    const parts = partsOf(span, Number.NEGATIVE_INFINITY, longest === 'week' ? 'day' : longest)
    for (const part of parts) {
      if (part.by === 'record') yield* this.records({ ...filter, ...timesOf(part) }, false)
      else yield* this.#sums(filter, part, withLatencies)
    }
  }

  /** In the order of their key, backwards, so that each page goes on where the one before it ended. */
  async *#sums(filter: ReadingFilter, { from, to, by }: SpanPart, withLatencies: boolean): AsyncGenerator<Counted> {
    const labels = new MetLabels()
    for (let behind: unknown[] | null = null; ; ) {
      const condition = new SqlCondition()
      addPlain(condition, filter)
      const [span, first, last] = [by, startOf(from, asSpan(by)), startOf(to, asSpan(by))].map((each) =>
        condition.value(each),
      )
      condition.add(`span = ${span} and start >= ${first} and start < ${last}`)
      if (behind !== null) {
        const key = behind.map((each) => condition.value(each))
        condition.add(`(start, node, label, state, status, error_code) < (${key.join(', ')})`)
      }
      const rows: (SumRow & Labelled & { place: string })[] = await this.#ask(
        `select start as time, node, label as place, state, nullif(status, 0) as status,
           nullif(error_code, '') as error_code,
           ${sumAmounts.map((name) => `${name}::float8 as ${name}`).join(', ')}, ${labelColumns.join(', ')},
           ${withLatencies ? 'latencies' : 'null as latencies'}
         from spgw.record_sums where ${condition.text}
         order by start desc, node desc, label desc, state desc, status desc, error_code desc limit ${pageRows}`,
        condition.values,
      )
      yield { rows: rows.map((row) => ({ ...row, label: labels.number(row) })), labels: labels.known }
      const end = rows.at(-1)
      if (rows.length < pageRows || end === undefined) return
      behind = [end.time, end.node, end.place, end.state, end.status ?? 0, end.error_code ?? '']
    }
  }
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
