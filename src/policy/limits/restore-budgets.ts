import type { BookedAmount } from '../../core/journal-format.ts'
import type { BudgetCounters } from './budget-counters.ts'
import type { HoldLedger } from './hold-ledger.ts'
import { addHeld, addSettled, halfOf, openPeriod, readHalf } from './period-row.ts'
import { readPeriodName } from './periods.ts'

/**
 * The clock was set: what the store has of the periods of now counts at least, also where rows have gone on to other periods. `held`: of
 * batches, which were forgotten there; `open`: of requests that may still run.
 */
export function restoreBudgets(
  { rows, claimer, ledger, rowOf }: BudgetCounters['parts'],
  used: Iterable<BookedAmount>,
  held: Iterable<BookedAmount>,
  open: Iterable<BookedAmount> = [],
): void {
  const reopened = new Set<number>()
  const openHalf = ([counter, name]: BookedAmount): { half: number; number: number } | null => {
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
    const at = openHalf(booked)
    const missing = at === null ? 0 : booked[2] - readHalf(rows.words, at.half, at.number).used
    if (at !== null && missing > 0) addSettled(rows.words, at.half, BigInt(missing))
  }
  for (const booked of held) {
    const at = openHalf(booked)
    if (at !== null && reopened.has(at.half)) addHeld(rows.words, at.half, BigInt(booked[2]))
  }
  // Their holds were forgotten, too, and are released when they end. Those that have ended since then are not in the ledger any more; those
  // that began while the row was another period's are not among the open ones.
  const running = heldAt(ledger, reopened)
  for (const booked of open) {
    const at = openHalf(booked)
    const left = at === null ? undefined : running.get(at.half)
    if (at === null || left === undefined || left.count === 0) continue
    const amount = BigInt(booked[2]) < left.amount ? BigInt(booked[2]) : left.amount
    addHeld(rows.words, at.half, amount)
    left.amount -= amount
    left.count--
  }
  rows.noteSetBack()
}

function heldAt(ledger: HoldLedger, halves: ReadonlySet<number>): Map<number, { amount: bigint; count: number }> {
  const found = new Map([...halves].map((half) => [half, { amount: 0n, count: 0 }]))
  for (const [at, amount] of halves.size === 0 ? [] : ledger.held()) {
    const sum = found.get(-at)
    if (sum === undefined) continue
    sum.amount += amount
    sum.count++
  }
  return found
}
