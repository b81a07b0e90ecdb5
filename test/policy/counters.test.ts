import fc, { array, boolean, integer, property, record } from 'fast-check'
import { describe, expect, it } from 'vitest'
import { attachCounters, createCounterMemory, requestsInFlight } from '../../src/policy/counters.ts'
import { createMeetings } from '../support/meeting.ts'
import { runThreads } from '../support/threads.ts'

const layout = { rows: 2, threads: 4 }

function make() {
  const buffer = createCounterMemory(layout)
  return { buffer, counters: attachCounters(buffer, layout, 0), other: attachCounters(buffer, layout, 1) }
}

/** What of a row a thread holds: its column. */
function heldBy(buffer: SharedArrayBuffer, row: number, thread: number): number {
  return Number(new BigInt64Array(buffer)[row * (1 + layout.threads) + 1 + thread])
}

describe('counters', () => {
  it('grant up to the limit and say what room is left', () => {
    const { counters, other } = make()
    expect(counters.reserve(1, 60, 100)).toEqual({ granted: true })
    expect(other.reserve(1, 41, 100)).toEqual({ granted: false, room: 40 })
    expect(other.reserve(1, 40, 100)).toEqual({ granted: true })
    expect(counters.reserve(1, 1, 100)).toEqual({ granted: false, room: 0 })
    expect(counters.reserve(1, 1, 50)).toEqual({ granted: false, room: 0 })
    expect(counters.read(0)).toBe(0)
  })

  it('book what it really came to, also when that is more than was held', () => {
    const { buffer, counters } = make()
    counters.reserve(1, 60, 100)
    counters.settle(1, 60, 10)
    expect([counters.read(1), heldBy(buffer, 1, 0)]).toEqual([10, 0])
    counters.reserve(1, 10, 100)
    counters.settle(1, 10, 95)
    expect(counters.read(1)).toBe(105)
    expect(counters.reserve(1, 1, 100)).toEqual({ granted: false, room: 0 })
  })

  it('count without a limit, by thread', () => {
    const { buffer, counters, other } = make()
    for (let count = 0; count < 3; count++) counters.reserve(requestsInFlight, 1, Number.POSITIVE_INFINITY)
    other.reserve(requestsInFlight, 1, Number.POSITIVE_INFINITY)
    expect(counters.read(requestsInFlight)).toBe(4)
    expect([0, 1].map((thread) => heldBy(buffer, requestsInFlight, thread))).toEqual([3, 1])
  })

  it("give a dead thread's holds back, and leave the others' and what was spent", () => {
    const { buffer, counters, other } = make()
    counters.reserve(1, 30, 100)
    other.reserve(1, 50, 100)
    other.settle(1, 50, 20)
    other.reserve(1, 40, 100)
    other.reserve(0, 5, 100)
    counters.reverseThread(1)
    counters.reverseThread(1)
    expect([counters.read(1), counters.read(0), heldBy(buffer, 1, 0)]).toEqual([50, 0, 30])
  })

  it('hold amounts of micro-dollars beyond 32 bits exactly', () => {
    const { counters } = make()
    const much = 9_000_000_000_000_001
    counters.reserve(1, much, Number.MAX_SAFE_INTEGER)
    expect(counters.read(1)).toBe(much)
  })

  it('always are the sum of what is held and what was spent', () => {
    const step = record({
      thread: integer({ min: 0, max: 1 }),
      amount: integer({ min: 0, max: 40 }),
      settle: boolean(),
    })
    fc.assert(
      property(array(step, { maxLength: 60 }), (steps) => {
        const { buffer, counters, other } = make()
        const held: number[][] = [[], []]
        let spent = 0
        for (const { thread, amount, settle } of steps) {
          const mine = thread === 0 ? counters : other
          const oldest = settle ? held[thread]?.shift() : undefined
          if (oldest !== undefined) {
            const actual = Math.min(amount, oldest)
            mine.settle(1, oldest, actual)
            spent += actual
          } else if (mine.reserve(1, amount, 100).granted) {
            held[thread]?.push(amount)
          }
          const sums = held.map((amounts) => amounts.reduce((sum, one) => sum + one, 0))
          expect([0, 1].map((holder) => heldBy(buffer, 1, holder))).toEqual(sums)
          expect(counters.read(1)).toBe(spent + (sums[0] ?? 0) + (sums[1] ?? 0))
          expect(counters.read(1)).toBeLessThanOrEqual(100)
        }
      }),
    )
  })
})

it('four threads on one row never overspend it, and their sums are exact', async () => {
  const buffer = createCounterMemory(layout)
  const limit = 200_000
  const rounds = 20_000
  const module = new URL('./counter-thread.ts', import.meta.url)
  const answers = await runThreads<{ spent: number; refused: number; overspent: number }>(module, 4, {
    buffer,
    layout,
    limit,
    rounds,
    arrived: createMeetings(rounds / 10),
  })
  const counters = attachCounters(buffer, layout, 0)
  expect(counters.read(1)).toBe(answers.reduce((sum, { spent }) => sum + spent, 0))
  expect(counters.read(1)).toBeLessThanOrEqual(limit)
  expect(answers.reduce((sum, { refused }) => sum + refused, 0)).toBeGreaterThan(0)
  expect(answers.reduce((sum, { overspent }) => sum + overspent, 0)).toBe(0)
  expect([0, 1, 2, 3].map((thread) => heldBy(buffer, 1, thread))).toEqual([0, 0, 0, 0])
  for (const dead of [0, 2]) counters.reverseThread(dead)
  expect(counters.read(0)).toBe(2 + 4)
})
