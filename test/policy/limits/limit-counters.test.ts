import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Limit } from '../../../src/core/policies/policy-limits.ts'
import { LimitCounters, type LimitHold, type LimitRefusal } from '../../../src/policy/limits/limit-counters.ts'
import { createLimitMemory } from '../../../src/policy/limits/limit-memory.ts'
import { runThreads } from '../../support/threads.ts'

function makeLimit(kind: Limit['kind'], limit: number, more: Partial<Limit> = {}): Limit {
  const counter = `pol_1 ${more.scope ?? 'workspace'} ${kind} minute`
  return {
    counter,
    policy: 'tried',
    scope: 'workspace',
    kind,
    period: null,
    limit,
    warns: false,
    perUser: false,
    ...more,
  }
}

/** Of thousands of runs: each would take longer to get memory of its own than it takes. */
const reused = createLimitMemory(3)
const asMade = Object.values(reused).map((part) => (part instanceof SharedArrayBuffer ? part.slice(0) : null))

function makeAnew() {
  Object.values(reused).forEach((part, at) => {
    if (part instanceof SharedArrayBuffer) new Uint8Array(part).fill(0).set(new Uint8Array(asMade[at]!))
  })
  return make(reused)
}

/** Two threads of one process, at the same moment. */
function make(memory = createLimitMemory(3)) {
  const clock = { now: 1_000_000 }
  const counters = [0, 1].map((column) => new LimitCounters(memory, column, () => clock.now))
  return { memory, clock, one: counters[0]!, other: counters[1]! }
}

function held(result: LimitHold | LimitRefusal): LimitHold {
  if (!('taken' in result)) throw new Error(`refused: ${JSON.stringify(result)}`)
  return result
}

const once = { requests: 1, tokens: 0 }

describe('end users', () => {
  const perUser = [makeLimit('requests', 2, { perUser: true })]

  it('beyond the first 100,000 of a limit share one counter, and take no room from other limits', () => {
    const { one } = make()
    for (let user = 0; user < 100_000; user++) held(one.admit(perUser, `user ${user}`, once))
    held(one.admit(perUser, 'late', once))
    held(one.admit(perUser, 'later', once))
    expect(one.admit(perUser, 'last', once)).toMatchObject({ used: 2 })
    held(one.admit(perUser, 'user 7', once))
    held(one.admit([makeLimit('requests', 2, { perUser: true, counter: 'other' })], 'last', once))
  })
})

describe('requests at once', () => {
  const limits = [makeLimit('concurrency', 2)]

  it('litellm 16011: are limited over all threads, and never again by one that has ended', () => {
    const { one, other } = make()
    const first = held(one.admit(limits, null, once))
    held(other.admit(limits, null, once))
    expect(one.admit(limits, null, once)).toMatchObject({ used: 2, waitMs: 1000 })
    one.release(first)
    one.release(first)
    expect(one.used(limits[0]!)).toBe(1)
    held(other.admit(limits, null, once))
  })

  it('are given back when a thread dies, and only its own', () => {
    const { one, other } = make()
    held(one.admit(limits, null, once))
    const alive = held(other.admit(limits, null, once))
    other.reverseThread(0)
    other.reverseThread(0)
    expect(other.used(limits[0]!)).toBe(1)
    other.release(alive)
    expect(other.used(limits[0]!)).toBe(0)
  })

  it('are all taken or none', () => {
    const { one } = make()
    const narrow = makeLimit('concurrency', 5, { scope: 'key:a/b/c', counter: 'narrow' })
    const minute = makeLimit('requests', 9)
    held(one.admit(limits, null, once))
    held(one.admit(limits, null, once))
    one.admit([narrow, minute, ...limits], null, once)
    expect([one.used(narrow), one.used(minute), one.used(limits[0]!)]).toEqual([0, 0, 2])
  })

  it('of 0 let nothing pass, and waiting does not help', () => {
    expect(make().one.admit([makeLimit('concurrency', 0)], null, once)).toMatchObject({ waitMs: null })
  })

  it('are counted for each end user apart where a policy says so', () => {
    const { one } = make()
    const perUser = [makeLimit('concurrency', 1, { perUser: true })]
    held(one.admit(perUser, 'ann', once))
    held(one.admit(perUser, 'bob', once))
    expect(one.admit(perUser, 'ann', once)).toMatchObject({ used: 1 })
  })
})

describe('a limit a minute', () => {
  const limits = [makeLimit('requests', 3)]

  it('says when there will be room for this request', () => {
    const { one, clock } = make()
    for (const step of [0, 10_000, 20_000]) {
      clock.now = 1_000_000 + step
      held(one.admit(limits, null, once))
    }
    const refusal = one.admit(limits, null, once)
    expect(refusal).toMatchObject({ used: 3, waitMs: 42_000 })
    clock.now += 41_999
    expect(one.admit(limits, null, once)).not.toHaveProperty('taken')
    clock.now += 1
    held(one.admit(limits, null, once))
  })

  it('tells a request that is larger than the limit that waiting does not help', () => {
    const { one } = make()
    const tokens = [makeLimit('tokens', 100)]
    expect(one.admit(tokens, null, { requests: 1, tokens: 101 })).toMatchObject({ amount: 101, waitMs: null })
    held(one.admit(tokens, null, { requests: 1, tokens: 100 }))
  })

  it('litellm 41610: counts the tokens of a long answer when they are known, and never twice', () => {
    const { one, clock } = make()
    const tokens = [makeLimit('tokens', 100)]
    const hold = held(one.admit(tokens, null, { requests: 1, tokens: 40 }))
    one.correctTokens(hold, 30)
    expect(one.used(tokens[0]!)).toBe(30)
    clock.now += 61_000
    expect(one.used(tokens[0]!)).toBe(30)
    clock.now += 1000
    expect(one.used(tokens[0]!)).toBe(0)
    one.correctTokens(hold, 75)
    expect(one.used(tokens[0]!)).toBe(45)
    one.release(hold)
    expect(one.used(tokens[0]!)).toBe(45)
  })

  it('books the turns of a connection, and corrects them together', () => {
    const { one } = make()
    const [requests, tokens] = [makeLimit('requests', 3), makeLimit('tokens', 100)]
    const hold = held(one.admit([requests, tokens], null, { requests: 1, tokens: 0 }))
    expect(one.admitTurn(hold, { requests: 1, tokens: 20 })).toBeNull()
    expect(one.admitTurn(hold, { requests: 1, tokens: 20 })).toBeNull()
    one.correctTokens(hold, 25)
    expect([one.used(requests), one.used(tokens)]).toEqual([3, 25])
    one.correctTokens(hold, 90)
    expect(one.used(tokens)).toBe(90)
    expect(one.admitTurn(hold, { requests: 1, tokens: 1 })).toMatchObject({ limit: requests })
    expect(one.used(tokens)).toBe(90)
  })

  it('holds no more for a connection of a thousand turns than for one of two', () => {
    const { one, clock } = make()
    const limits = [makeLimit('concurrency', 1), makeLimit('requests', 5000), makeLimit('tokens', 100_000)]
    const hold = held(one.admit(limits, null, { requests: 1, tokens: 10 }))
    for (let turn = 1; turn <= 1000; turn++) {
      expect(one.admitTurn(hold, { requests: 1, tokens: 50 })).toBeNull()
      one.correctTokens(hold, turn * 10)
      clock.now += 10
    }
    expect(hold.taken).toHaveLength(3)
    expect([one.used(limits[1]!), one.used(limits[2]!)]).toEqual([1001, 10_000])
    one.release(hold)
    expect(one.used(limits[0]!)).toBe(0)
  })

  it('tells an answer what is left of the tightest, whichever comes first', () => {
    const [wide, narrow] = [makeLimit('requests', 9), makeLimit('requests', 3, { counter: 'narrow' })]
    const tokens = makeLimit('tokens', 100)
    for (const order of [
      [wide, narrow, tokens],
      [tokens, narrow, wide],
    ]) {
      const { one } = make()
      const hold = held(one.admit([makeLimit('concurrency', 1), ...order], null, { requests: 1, tokens: 30 }))
      expect(one.figures(hold)).toMatchObject({ requests: { limit: 3, left: 2 }, tokens: { limit: 100, left: 70 } })
    }
  })

  it('takes nothing where a request only asks what it would want', () => {
    const { one } = make()
    const all = [makeLimit('concurrency', 1), ...limits]
    expect(one.findWant(all, once)).toBeNull()
    expect(all.map((limit) => one.used(limit))).toEqual([0, 0])
  })

  it('lets a client that paces itself evenly have at least 96 % of it', () => {
    const { one, clock } = make()
    const hundred = [makeLimit('requests', 100)]
    let granted = 0
    for (let index = 0; index < 1000; index++) {
      clock.now += 600
      if ('taken' in one.admit(hundred, null, once)) granted++
    }
    expect(granted).toBeGreaterThanOrEqual(960)
  })

  it('counts requests as tokens are counted, however long they rest in between', () => {
    const days = 86_400_000 * 3
    const step = fc.record({
      wait: fc.oneof(
        fc.nat({ max: 3000 }),
        fc.nat({ max: 70_000 }),
        fc.nat({ max: days }),
        fc.nat({ max: 20 }).map((round) => round * 4096 * 2000),
      ),
      thread: fc.boolean(),
      undone: fc.boolean(),
    })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
        const { one, other, clock } = makeAnew()
        const requests = makeLimit('requests', 10)
        const nothing = makeLimit('concurrency', 0)
        const granted: number[] = []
        const within = (span: number) => granted.filter((at) => at > clock.now - span).length
        for (const { wait, thread, undone } of steps) {
          clock.now += wait
          const counters = thread ? one : other
          // What another limit refuses is given back.
          if (undone) counters.admit([requests, nothing], null, once)
          else if ('taken' in counters.admit([requests], null, once)) {
            expect(within(60_000)).toBeLessThan(10)
            granted.push(clock.now)
          } else expect(within(wait > 62_000 ? 0 : 62_001)).toBeGreaterThanOrEqual(10)
        }
      }),
      { numRuns: 300 },
    )
  })

  it('litellm 18730, litellm 10555: never lets more pass in any 60 seconds, and refuses nothing that has room', () => {
    const step = fc.record({
      wait: fc.oneof(fc.nat({ max: 3000 }), fc.nat({ max: 70_000 })),
      amount: fc.nat({ max: 60 }),
      thread: fc.boolean(),
      used: fc.option(fc.nat({ max: 80 })),
    })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
        const { one, other, clock } = makeAnew()
        const limit = makeLimit('tokens', 100)
        const granted: { at: number; amount: number }[] = []
        const within = (span: number) =>
          granted.filter(({ at }) => at > clock.now - span).reduce((sum, { amount }) => sum + amount, 0)
        for (const { wait, amount, thread, used } of steps) {
          clock.now += wait
          const counters = thread ? one : other
          const result = counters.admit([limit], null, { requests: 1, tokens: amount })
          if ('taken' in result) {
            expect(within(60_000) + amount).toBeLessThanOrEqual(Math.max(100, within(60_000)))
            const booked = { at: clock.now, amount }
            granted.push(booked)
            if (used === null) continue
            counters.correctTokens(result, used)
            booked.amount = used
          } else expect(within(62_001) + amount).toBeGreaterThan(100)
        }
      }),
      { numRuns: 300 },
    )
  })

  it('is exact over four threads that ask at full speed', async () => {
    const memory = createLimitMemory(5)
    const limits = [makeLimit('requests', 500), makeLimit('tokens', 100_000), makeLimit('concurrency', 4)]
    const module = new URL('./limit-thread.ts', import.meta.url)
    const threads = await runThreads<{ granted: number; most: number }>(module, 4, { memory, limits, rounds: 3000 })
    expect(threads.reduce((sum, { granted }) => sum + granted, 0)).toBe(500)
    expect(Math.max(...threads.map(({ most }) => most))).toBeLessThanOrEqual(500)
    const counters = new LimitCounters(memory, 4, () => 150_000)
    expect(counters.used(limits[1]!)).toBeLessThanOrEqual(2500)
    expect([counters.used(limits[0]!), counters.used(limits[2]!)]).toEqual([500, 0])
  })
})
