export type Period = 'day' | 'month'

/** The day or month of a time zone that a moment lies in; all in epoch milliseconds. The end is the start of the next one. */
export function periodAt(period: Period, timeZone: string, now: number): { start: number; end: number } {
  const local = Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(timeZone)
  const start = (period === 'day' ? local : local.with({ day: 1 })).startOfDay()
  const end = (period === 'day' ? start.add({ days: 1 }) : start.add({ months: 1 })).startOfDay()
  return { start: start.epochMilliseconds, end: end.epochMilliseconds }
}

let lastAsked = { timeZone: '', minute: Number.NaN, local: Number.NaN }

/** The minute of the week on the clocks of a time zone, from Monday's midnight on. */
export function minuteOfWeek(timeZone: string, now: number): number {
  const minute = Math.floor(now / 60_000)
  if (lastAsked.minute !== minute || lastAsked.timeZone !== timeZone) {
    const { dayOfWeek, hour, minute: past } = Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(timeZone)
    lastAsked = { timeZone, minute, local: ((dayOfWeek - 1) * 24 + hour) * 60 + past }
  }
  return lastAsked.local
}
