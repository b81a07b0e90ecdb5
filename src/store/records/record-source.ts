import type { RecordFilter, StatsBy } from '../api.ts'
import type { RecordLabelsRow, RecordRow } from '../schema.ts'
import { countedColumns } from './record-columns.ts'
import type { SumSpan } from './record-sum-keys.ts'
import type { RecordSumRow } from './sum-rows.ts'

export const scannedColumns = [...countedColumns, 'attempts_json'] as const satisfies (keyof RecordRow)[]

interface AskedNames {
  /** Which node answered; only where records of several are read. */
  node?: string
  /** Only where it was asked for: model name or pattern of the route that was matched. */
  route?: string | null
}

/** What sums are made of. `record_json` only where it was asked for. */
export type ScannedRow = Pick<RecordRow, (typeof scannedColumns)[number]> &
  Partial<Pick<RecordRow, 'record_json'>> &
  AskedNames & {
    /** As `nameTags()` reads them of `record_json`; the same list for records with the same tags. */
    tags?: readonly string[]
  }

/** Sums of records that have ended and have label, outcome and hour or day in common; `time` is how that begins. */
export type SumRow = Omit<RecordSumRow, 'span' | 'start' | 'status' | 'error_code'> &
  AskedNames & {
    time: string
    status: number | null
    error_code: string | null
    /** As `latency-blob.ts` has them, one or several. */
    latencies: Uint8Array | null
    /** Of those latencies, the ones that are not among these records. */
    fewer?: Uint8Array | null
    /** Only where it was asked for: what they have in common as well, `-` without any. */
    tag?: string
  }

export interface Scanned {
  rows: readonly ScannedRow[]
  /** Of these rows at least. */
  labels: ReadonlyMap<number, RecordLabelsRow>
}

export interface Counted {
  rows: readonly (ScannedRow | SumRow)[]
  /** Of these rows at least. */
  labels: ReadonlyMap<number, RecordLabelsRow>
}

export interface SumQuestion {
  /** The longest span that may be told at once: a chart's step is not longer; `ever`: whatever the time. Null: each record by itself. */
  longest: SumSpan | 'ever' | null
  /**
   * What groups are made of: rows need not be told apart by more. By tag there is a row for each of a record's tags, where sums tell
   * it.
   */
  by: readonly StatsBy[]
  /** Else the latencies of sums are left out. */
  withLatencies: boolean
}

/** Records wherever they are, newest first, page by page: what statistics are made of. `limit` and `before` do not apply. */
export interface RecordSource {
  /** Every record that the filter lets through. */
  records(filter: RecordFilter, withText: boolean): AsyncIterable<Scanned>
  /** The same, from sums where they tell it. */
  totals(filter: RecordFilter, question: SumQuestion): AsyncIterable<Counted>
}

/** Whether it is a copy for a shadow target, or sums of such. */
export function isShadow(labels: ReadonlyMap<number, RecordLabelsRow>, { label }: { label: number }): boolean {
  return labels.get(label)?.shadow === 1
}
