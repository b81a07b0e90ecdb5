import type { StatsRow } from '../outputs.ts'

/** By the ID of the key; it holds those that sent something. */
export type KeyDays = ReadonlyMap<string, Pick<StatsRow, 'requests' | 'errors' | 'usd'>>

/** null while it is not known: it may have sent thousands. */
export function requestsOf(days: KeyDays | null, id: string): number | null {
  return days === null ? null : (days.get(id)?.requests ?? 0)
}

/** null: not known, or there was no request. */
export function errorRateOf(days: KeyDays | null, id: string): number | null {
  const day = days?.get(id)
  return day === undefined || day.requests === 0 ? null : day.errors / day.requests
}
