import { isOpen, type Opening } from '../core/policies/opening.ts'

const weekMinutes = 7 * 24 * 60

/** Minutes until the result of `isOpen` changes; null: it never does. */
export function nextChange(openings: readonly Opening[], minute: number): number | null {
  const now = isOpen(openings, minute)
  const waits = openings
    .map(({ start, end }) => (now ? end : start))
    .filter((change) => isOpen(openings, change) !== now)
    .map((change) => (change - minute + weekMinutes) % weekMinutes)
  return waits.length === 0 ? null : Math.min(...waits)
}

/** The time at which that many minutes have passed on the clocks of a time zone, from the start of a moment's minute. */
export function minutesLater(timeZone: string, now: number, minutes: number): number {
  const local = Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(timeZone).toPlainDateTime()
  return local.round({ smallestUnit: 'minute', roundingMode: 'floor' }).add({ minutes }).toZonedDateTime(timeZone)
    .epochMilliseconds
}
