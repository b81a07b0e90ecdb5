import type { BookedAmount } from '../../core/journal-format.ts'
import type { BudgetCounters } from './budget-counters.ts'
import { addHeld, addSettled, halfOf, openPeriod, readHalf } from './period-row.ts'
import { readPeriodName } from './periods.ts'

/**
 * The clock was set: what the store has of the periods of now counts at least, also where rows have gone on to other periods. `held`: of
 * batches, which were forgotten there.
 */
export function restoreBudgets(
  { rows, claimer, rowOf }: BudgetCounters['parts'],
  used: Iterable<BookedAmount>,
  held: Iterable<BookedAmount>,
): void {
  const reopened = new Set<number>()
  const open = ([counter, name]: BookedAmount): { half: number; number: number } | null => {
    const { number } = readPeriodName(name)
    const row = rowOf(counter)
    if (row === null) return null
    const isOther = Atomics.load(rows.words, halfOf(row, number)) !== BigInt(number)
    const half = openPeriod(rows.words, row, number, claimer, true)
    if (half === null) return null
    if (isOther) reopened.add(half)
    return { half, number }
  }
  for (const booked of used) {
    const place = open(booked)
    const missing = place === null ? 0 : booked[2] - readHalf(rows.words, place.half, place.number).used
    if (place !== null && missing > 0) addSettled(rows.words, place.half, BigInt(missing))
  }
  for (const booked of held) {
    const place = open(booked)
    if (place !== null && reopened.has(place.half)) addHeld(rows.words, place.half, BigInt(booked[2]))
  }
  rows.noteSetBack()
}
