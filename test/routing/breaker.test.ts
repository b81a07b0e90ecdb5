import fc, { array, constantFrom, integer, oneof, property, record } from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Breaker, type BreakerEntry, breakerWords } from '../../src/routing/breaker.ts'

const start = 1_790_000_000_000

function makeMemory(): BigInt64Array {
  return new BigInt64Array(new SharedArrayBuffer(2 * breakerWords * BigInt64Array.BYTES_PER_ELEMENT))
}

/** With states in the words of a health view. */
function attach(words: BigInt64Array, thread: number | null = null) {
  const breaker = new Breaker(words, { rowWords: breakerWords, offset: 0, rows: 2 }, thread)
  const view = (row: number, now: number) => {
    const { phase, until } = breaker.state(row, now)
    if (phase === 'closed') return { state: 'ready' }
    return phase === 'half-open' ? { state: phase } : { state: phase, until }
  }
  return {
    view,
    enter: (row: number, now: number) => breaker.enter(row, now),
    recordSuccess: (row: number, entry: BreakerEntry, now: number) => breaker.recordSuccess(row, entry, now),
    recordFailure: (row: number, entry: BreakerEntry, now: number) => breaker.recordFailure(row, entry, now),
    abandon: (row: number, entry: BreakerEntry) => breaker.abandon(row, entry),
    abandonAll: (dead: number) => breaker.abandonAll(dead),
  }
}

type Health = ReturnType<typeof attach>

function make(): Health {
  return attach(makeMemory())
}

function fail(health: Health, times: number, now = start): void {
  for (let count = 0; count < times; count++) health.recordFailure(0, 'pass', now)
}

describe('the breaker', () => {
  it('opens after five failures in a row, for five seconds', () => {
    const health = make()
    fail(health, 4)
    expect(health.view(0, start)).toEqual({ state: 'ready' })
    fail(health, 1)
    expect(health.view(0, start)).toEqual({ state: 'open', until: start + 5000 })
    expect(health.enter(0, start + 4999)).toBeNull()
    expect(health.view(0, start + 5000)).toEqual({ state: 'half-open' })
    expect(health.view(1, start)).toEqual({ state: 'ready' })
  })

  it('counts failures in a row only', () => {
    const health = make()
    for (let round = 0; round < 3; round++) {
      fail(health, 4)
      health.recordSuccess(0, 'pass', start)
    }
    expect(health.view(0, start)).toEqual({ state: 'ready' })
  })

  it('opens when half of twenty calls within thirty seconds failed, and not for older ones', () => {
    for (const [step, state] of [
      [1400, 'open'],
      [3000, 'ready'],
    ] as const) {
      const health = make()
      for (let call = 0; call < 10; call++) {
        health.recordSuccess(0, 'pass', start + 2 * call * step)
        health.recordFailure(0, 'pass', start + (2 * call + 1) * step)
      }
      expect(health.view(0, start + 19 * step).state).toBe(state)
    }
  })

  it('gives up the probes of a dead thread, and nobody else’s', () => {
    const memory = makeMemory()
    const [dying, living] = [attach(memory, 0), attach(memory, 1)]
    for (const slot of [0, 1]) for (let count = 0; count < 5; count++) dying.recordFailure(slot, 'pass', start)
    const later = start + 6000
    expect([dying.enter(0, later), living.enter(1, later)]).toEqual(['probe', 'probe'])
    attach(memory).abandonAll(0)
    expect([living.view(0, later).state, living.view(1, later).state]).toEqual(['half-open', 'probing'])
    living.recordSuccess(1, 'probe', later)
    attach(memory).abandonAll(1)
    expect(living.view(1, later).state).toBe('ready')
  })

  it('grants one probe, whose success closes it with a clean slate', () => {
    const health = make()
    fail(health, 5)
    const later = start + 6000
    expect(health.enter(0, later)).toBe('probe')
    expect(health.enter(0, later)).toBeNull()
    expect(health.view(0, later)).toMatchObject({ state: 'probing' })
    health.recordSuccess(0, 'probe', later)
    expect(health.enter(0, later)).toBe('pass')
    fail(health, 4, later)
    expect(health.view(0, later)).toEqual({ state: 'ready' })
  })

  it('forgets the window and the failed probes when it closes', () => {
    const health = make()
    for (let call = 0; call < 10; call++) {
      health.recordSuccess(0, 'pass', start)
      health.recordFailure(0, 'pass', start)
    }
    expect(health.enter(0, start + 5000)).toBe('probe')
    health.recordFailure(0, 'probe', start + 5000)
    expect(health.enter(0, start + 15_000)).toBe('probe')
    health.recordSuccess(0, 'probe', start + 15_000)
    fail(health, 2, start + 15_000)
    expect(health.view(0, start + 15_000)).toEqual({ state: 'ready' })
    fail(health, 3, start + 15_000)
    expect(health.view(0, start + 15_000)).toEqual({ state: 'open', until: start + 20_000 })
  })

  it('doubles its time with each failed probe, up to five minutes', () => {
    const health = make()
    fail(health, 5)
    let now = start
    const durations: number[] = []
    for (let round = 0; round < 9; round++) {
      const view = health.view(0, now)
      const until = view.until ?? now
      durations.push(until - now)
      now = until
      expect(health.enter(0, now)).toBe('probe')
      health.recordFailure(0, 'probe', now)
    }
    expect(durations).toEqual([5000, 10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000, 300_000])
  })

  it('lets the next one probe when a probe ends without a word, or never ends', () => {
    const health = make()
    fail(health, 5)
    expect(health.enter(0, start + 5000)).toBe('probe')
    health.abandon(0, 'probe')
    expect(health.enter(0, start + 5000)).toBe('probe')
    expect(health.enter(0, start + 64_999)).toBeNull()
    expect(health.enter(0, start + 65_000)).toBe('probe')
  })

  it('is not moved by stragglers while it is open', () => {
    const health = make()
    fail(health, 5)
    health.recordSuccess(0, 'pass', start + 1)
    fail(health, 50, start + 4000)
    health.abandon(0, 'pass')
    expect(health.view(0, start + 4000)).toEqual({ state: 'open', until: start + 5000 })
  })

  it('never waits longer than its longest when the clock steps back', () => {
    const health = make()
    fail(health, 5, start + 86_400_000)
    expect(health.enter(0, start)).toBe('probe')
  })
})

const anyStep = oneof(
  record({ act: constantFrom('enter' as const), wait: integer({ min: 0, max: 4000 }) }),
  record({
    act: constantFrom('fail' as const, 'fail' as const, 'succeed' as const, 'abandon' as const),
    wait: integer({ min: 0, max: 200 }),
  }),
)

/** Calls enter and end in any order; the oldest one under way ends first. */
it('whatever happens, lets at most one probe go at a time, and nobody in while it is open', () => {
  fc.assert(
    property(array(anyStep, { minLength: 20, maxLength: 150 }), (steps) => {
      const health = make()
      let now = start
      let leasedUntil = 0
      const underWay: BreakerEntry[] = []
      for (const { act, wait } of steps) {
        now += wait
        const before = health.view(0, now)
        if (act === 'enter') {
          const entry = health.enter(0, now)
          const wanted = { ready: 'pass', 'half-open': 'probe' }[before.state as string] ?? null
          expect(entry).toBe(wanted)
          if (entry === 'probe') {
            expect(leasedUntil).toBeLessThanOrEqual(now)
            leasedUntil = now + 60_000
          }
          if (entry) underWay.push(entry)
          continue
        }
        const entry = underWay.shift()
        if (!entry) continue
        if (entry === 'probe') leasedUntil = 0
        if (act === 'fail') health.recordFailure(0, entry, now)
        if (act === 'succeed') health.recordSuccess(0, entry, now)
        if (act === 'abandon') health.abandon(0, entry)
        const after = health.view(0, now)
        if (before.state !== 'ready' && entry === 'pass') expect(after).toEqual(before)
        if (entry === 'probe' && before.state === 'probing') {
          expect(after.state).toBe({ fail: 'open', succeed: 'ready', abandon: 'half-open' }[act])
        }
      }
    }),
    { numRuns: 500 },
  )
})
