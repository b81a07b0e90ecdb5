import { tokenColumns } from './record-columns.ts'
import type { RecordSumRow } from './sum-rows.ts'

export type SumSpan = 'hour' | 'day' | 'week'

/** SumSpan, start, label, state, status and error code of a row of sums. */
export type SumKey = [span: SumSpan, start: string, label: number, state: string, status: number, error: string]

/** What tells rows of sums apart. */
export const sumKey = ['span', 'start', 'label', 'state', 'status', 'error_code']
export const isSumKey = sumKey.map((name) => `${name} = ?`).join(' and ')

export const sumAmounts = ['requests', ...tokenColumns, 'usd_nano', 'priced'] as const satisfies (keyof RecordSumRow)[]
export type SumAmounts = Pick<RecordSumRow, (typeof sumAmounts)[number]>

const dayLength = '2026-01-02'.length
const hourLength = '2026-01-02T03'.length

const weekMs = 7 * 86_400_000

/** In which hour a time (RFC 3339, UTC) is counted. */
export function hourOf(time: string): string {
  return time.slice(0, hourLength)
}

/** In which day (UTC). */
export function dayOf(time: string): string {
  return time.slice(0, dayLength)
}

/** In which hour, day and week; weeks are counted from the epoch. */
export function spansOf(time: string): Record<SumSpan, string> {
  const day = dayOf(time)
  const week = new Date(Math.floor(Date.parse(day) / weekMs) * weekMs).toISOString().slice(0, dayLength)
  return { hour: hourOf(time), day, week }
}
