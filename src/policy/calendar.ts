export type Period = 'day' | 'month'

/**
 * The start and end, in epoch milliseconds, of the day or month that contains a moment in a time zone. The end is the start of the next
 * one.
 */
export function periodAt(period: Period, timeZone: string, now: number): { start: number; end: number } {
  const local = Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(timeZone)
  const start = (period === 'day' ? local : local.with({ day: 1 })).startOfDay()
  const end = (period === 'day' ? start.add({ days: 1 }) : start.add({ months: 1 })).startOfDay()
  return { start: start.epochMilliseconds, end: end.epochMilliseconds }
}

let lastAsked = { timeZone: '', minute: Number.NaN, local: Number.NaN }

/** Minutes since Monday midnight on the clocks of a time zone. */
export function minuteOfWeek(timeZone: string, now: number): number {
  const minute = Math.floor(now / 60_000)
  if (lastAsked.minute !== minute || lastAsked.timeZone !== timeZone) {
    const { dayOfWeek, hour, minute: past } = Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(timeZone)
    lastAsked = { timeZone, minute, local: ((dayOfWeek - 1) * 24 + hour) * 60 + past }
  }
  return lastAsked.local
}
