import type { Limit } from '../../core/policies/policy-limits.ts'
import type { Apart } from './bucket-clock.ts'
import { rowHead } from './limit-memory.ts'
import { requestWindow } from './request-window.ts'
import { epochAt, type LimitWindow, livesFor, tokenWindow } from './window.ts'

/** How limits per minute and requests at once are counted: by this gateway alone, or together with the other nodes of its cluster. */
export interface MinuteCounting {
  /** After a refusal, the other nodes may have more. */
  isShared: boolean
  /** Why the other nodes cannot grant anything now. */
  apart(): Apart
  windowOf(kind: Limit['kind']): LimitWindow
  epochAt(now: number): number
  /** Milliseconds until bookings in that bucket no longer count. */
  livesFor(epoch: number, now: number): number
  /** 64-bit words after a row's head, for requests at once. */
  slotSize: number
  /** Takes one of the requests at once. `used`: how many were in use before. */
  takeSlot(words: BigInt64Array, row: number, limit: number): { isTaken: boolean; used: number }
  releaseSlots(words: BigInt64Array, row: number, amount: bigint): void
  usedSlots(words: BigInt64Array, row: number): number
}

export const localCounting: MinuteCounting = {
  isShared: false,
  apart: () => null,
  windowOf: (kind) => (kind === 'requests' ? requestWindow : tokenWindow),
  epochAt,
  livesFor,
  slotSize: 1,
  takeSlot(words, row, limit) {
    const place = row + rowHead
    for (;;) {
      const found = Atomics.load(words, place)
      const used = Number(found)
      if (used >= limit) return { isTaken: false, used }
      if (Atomics.compareExchange(words, place, found, found + 1n) === found) return { isTaken: true, used }
    }
  },
  releaseSlots(words, row, amount) {
    Atomics.sub(words, row + rowHead, amount)
  },
  usedSlots: (words, row) => Number(Atomics.load(words, row + rowHead)),
}
