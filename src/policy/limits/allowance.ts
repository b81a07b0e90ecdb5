import { halfWords, type PeriodUse, periodSize, readHalf, takePeriod, wholeOf } from './period-row.ts'
import type { BudgetPeriod } from './periods.ts'

/**
 * What a node of a cluster may use of a budget that all nodes share: each half of a row has so many words more. Only the control plane
 * writes them, but for `asked`. They hold for the period that stands first; of any other this node was given nothing.
 */
const shareWords = 9
export const shareWord = {
  period: 0,
  /** Nothing is taken beyond it. */
  allowance: 1,
  /** Above this much use more is wanted, before anybody has to wait for it. */
  refill: 2,
  /** What other nodes have spent, and what they have in hand, as far as it is known. */
  othersSpent: 3,
  othersHeld: 4,
  /** More is wanted already. */
  asked: 5,
  /** Counts the answers; whoever waits for one is woken. */
  answers: 6,
  /** Until then, epoch milliseconds, the answer to a need of more than `room` is known. */
  refusedUntil: 7,
  room: 8,
} as const

export const sharedPeriodSize = periodSize + 2 * shareWords

/** What a thread of the data plane tells the control plane: this node needs more of a budget. */
export interface AllowanceWant {
  counter: string
  period: BudgetPeriod
  /** Place of the half in the memory of limits. */
  half: number
  /** The limit of all nodes together. */
  most: number
  /** Of a request that waits; 0: nobody waits. */
  need: number
  /** Nothing is refused: it is only told what is spent. */
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
    // What is given back is lowered first, and then looked at: whoever took it after that look undoes it.
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

/** Whether the control plane is to be told that more is wanted; once until it has answered. */
export function wantsMore(words: BigInt64Array, half: number, number: number): boolean {
  const share = shareOf(half, number)
  if (Atomics.load(words, share + shareWord.period) !== BigInt(number)) return true
  if (wholeOf(words, half) <= Atomics.load(words, share + shareWord.refill)) return false
  return Atomics.compareExchange(words, share + shareWord.asked, 0n, 1n) === 0n
}

/** A need like this was refused just now, so that asking again would tell nothing new. */
export function wasRefused(words: BigInt64Array, half: number, number: number, need: bigint, now: number): boolean {
  const share = shareOf(half, number)
  if (Atomics.load(words, share + shareWord.period) !== BigInt(number)) return false
  return (
    Atomics.load(words, share + shareWord.refusedUntil) > BigInt(now) &&
    Atomics.load(words, share + shareWord.room) < need
  )
}

/** Resolves at the next answer, or when the time is over; `notify` then asks for it. */
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

/** Of all nodes, as far as it is known here. */
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
