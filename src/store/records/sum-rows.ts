/** The tables of sums (docs/decisions/0061). */
export interface SumTables {
  record_sums: RecordSumRow
  record_latencies: RecordLatencyRow
  /** One row: ids from here on are in the sums as they come; '': all. `tagged_from`: in those by tag. */
  record_sum_state: { summed_from: string; tagged_from: string }
  tag_sums: TagSumRow
  /** Days and weeks with more rows than are kept: they have none. */
  tag_sum_overflows: { span: string; start: string }
}

/** Of which records a row of sums is made: those that have ended, of one hour, day or week (UTC), one label and one outcome. */
interface RecordSumKey {
  span: string
  /** `2026-01-02`, or `2026-01-02T03`. */
  start: string
  label: number
  state: string
  /** 0: none. */
  status: number
  /** '': none. */
  error_code: string
}

export interface RecordSumRow extends RecordSumKey {
  requests: number
  input: number
  output: number
  cache_read: number
  cache_write: number
  reasoning: number
  usd_nano: number
  /** So many of them have a cost. */
  priced: number
}

interface RecordLatencyRow extends RecordSumKey {
  /** As `latency-blob.ts` writes them. */
  counts: Uint8Array
}

/** Of a day or week: the records that have this tag. */
interface TagSumRow extends RecordSumRow, RecordLatencyRow {
  /** `name=value`; '': the records that have any. */
  tag: string
}
