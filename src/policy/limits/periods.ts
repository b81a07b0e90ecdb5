import { type Period, periodAt } from '../calendar.ts'

/** A day or month in the workspace's time zone, as counters, the journal and the store name it. */
export interface BudgetPeriod {
  /** Consecutive periods have consecutive numbers. */
  number: number
  /** `2026-11-23` or `2026-11`. */
  name: string
  /** Epoch milliseconds. */
  start: number
  end: number
}

const msPerDay = 86_400_000

/** Each period is computed once: a calendar look-up takes a thousand times as long as reading the clock. */
export class Periods {
  #timeZone = ''
  #known: Partial<Record<Period, BudgetPeriod>> = {}

  at(kind: Period, timeZone: string, now: number): BudgetPeriod {
    if (timeZone !== this.#timeZone) {
      this.#timeZone = timeZone
      this.#known = {}
    }
    const known = this.#known[kind]
    if (known !== undefined && now >= known.start && now < known.end) return known
    const found = findPeriod(kind, timeZone, now)
    this.#known[kind] = found
    return found
  }
}

export function findPeriod(kind: Period, timeZone: string, now: number): BudgetPeriod {
  const { start, end } = periodAt(kind, timeZone, now)
  const { year, month, day } = Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(timeZone)
  const date = `${String(year).padStart(4, '0')}-${String(month).padStart(2, '0')}`
  if (kind === 'month') return { number: year * 12 + month, name: date, start, end }
  return {
    number: Date.UTC(year, month - 1, day) / msPerDay,
    name: `${date}-${String(day).padStart(2, '0')}`,
    start,
    end,
  }
}

/** The number and kind of a period, from its name. */
export function readPeriodName(name: string): { kind: Period; number: number } {
  const [year = 0, month = 0, day] = name.split('-').map(Number)
  if (day === undefined) return { kind: 'month', number: year * 12 + month }
  return { kind: 'day', number: Date.UTC(year, month - 1, day) / msPerDay }
}
