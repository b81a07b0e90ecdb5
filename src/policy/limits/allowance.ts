import { halfWords, type PeriodUse, periodSize, readHalf, takePeriod, wholeOf } from './period-row.ts'
import type { BudgetPeriod } from './periods.ts'

/**
 * A node's allowance of a budget that all nodes share: additional words for each half of a row. Only the control plane writes them, except
 * `asked`. They are valid for the period in the first word; for any other period the allowance is zero.
 */
const shareWords = 9
export const shareWord = {
  period: 0,
  /** The most that this node may use. */
  allowance: 1,
  /** When use exceeds this, more is requested, before any request has to wait. */
  refill: 2,
  /** What other nodes have spent and hold, as far as it is known. */
  othersSpent: 3,
  othersHeld: 4,
  /** More has been requested already. */
  asked: 5,
  /** Counts the answers; a change wakes those that wait for one. */
  answers: 6,
  /** Epoch milliseconds: until then, a need of more than `room` is known to be refused. */
  refusedUntil: 7,
  room: 8,
} as const

export const sharedPeriodSize = periodSize + 2 * shareWords

/** Sent by a data-plane thread to the control plane: this node needs more of a budget. */
export interface AllowanceWant {
  counter: string
  period: BudgetPeriod
  /** Index of the half in the limits' memory. */
  half: number
  /** The limit of all nodes together. */
  most: number
  /** What a waiting request needs; 0: none is waiting. */
  need: number
  /** The budget only warns: nothing is refused, and only spending is reported. */
  warns: boolean
}

export const shareOf = (half: number, number: number): number =>
  half + periodSize + (number % 2) * (shareWords - halfWords)

export function takeAllowed(
  words: BigInt64Array,
  half: number,
  number: number,
  { amount, most }: { amount: bigint; most: bigint },
): boolean {
  for (;;) {
    const bound = boundAt(words, half, number, most)
    if (!takePeriod(words, half, amount, bound)) return false
    // The allowance may be lowered at the same time: it is lowered first, then use is checked. So a request that took too much after that
    // check undoes it here.
    const later = boundAt(words, half, number, most)
    if (later >= bound || wholeOf(words, half) <= later) return true
    takePeriod(words, half, -amount, null)
  }
}

function boundAt(words: BigInt64Array, half: number, number: number, most: bigint): bigint {
  const share = shareOf(half, number)
  if (Atomics.load(words, share + shareWord.period) !== BigInt(number)) return 0n
  const given = Atomics.load(words, share + shareWord.allowance)
  return given < most ? given : most
}

/** Whether to tell the control plane that more is wanted; true only once until it has answered. */
export function wantsMore(words: BigInt64Array, half: number, number: number): boolean {
  const share = shareOf(half, number)
  if (Atomics.load(words, share + shareWord.period) !== BigInt(number)) return true
  if (wholeOf(words, half) <= Atomics.load(words, share + shareWord.refill)) return false
  return Atomics.compareExchange(words, share + shareWord.asked, 0n, 1n) === 0n
}

/** Whether such a need was refused just now, so that asking again would give the same answer. */
export function wasRefused(words: BigInt64Array, half: number, number: number, need: bigint, now: number): boolean {
  const share = shareOf(half, number)
  if (Atomics.load(words, share + shareWord.period) !== BigInt(number)) return false
  return (
    Atomics.load(words, share + shareWord.refusedUntil) > BigInt(now) &&
    Atomics.load(words, share + shareWord.room) < need
  )
}

/** Resolves at the next answer, or after the time; `notify` asks for it. */
export async function nextAnswer(
  words: BigInt64Array,
  half: number,
  { number, ms, notify }: { number: number; ms: number; notify(): void },
): Promise<void> {
  const place = shareOf(half, number) + shareWord.answers
  const waiting = Atomics.waitAsync(words, place, Atomics.load(words, place), ms)
  notify()
  await waiting.value
}

/** The use of all nodes, as far as it is known here. */
export function readShared(words: BigInt64Array, half: number, number: number): PeriodUse {
  const own = readHalf(words, half, number)
  const share = shareOf(half, number)
  if (Atomics.load(words, share + shareWord.period) !== BigInt(number))
    return { ...own, shared: { elsewhere: 0, free: 0 } }
  const word = (place: number) => Number(Atomics.load(words, share + place))
  const elsewhere = word(shareWord.othersHeld)
  return {
    used: own.used + word(shareWord.othersSpent),
    held: own.held + elsewhere,
    holders: own.holders,
    shared: { elsewhere, free: word(shareWord.allowance) - own.used - own.held },
  }
}
