import fc, { array, bigInt, constantFrom, float, integer, option, property, record } from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Candidate } from '../../src/routing/candidates.ts'
import { type Figures, orderCandidates } from '../../src/routing/strategy.ts'
import type { SnapshotRoute } from '../../src/store/configuration/snapshot.ts'
import { makeProvider, makeTarget } from '../support/snapshot.ts'

const now = 1_790_000_000_000

interface Known {
  /** null: none. */
  ms: number | null
  age?: number
  nano?: bigint | null
  priority?: number
  weight?: number
}

/** Named `a`, `b`, … in their order. */
function order(strategy: SnapshotRoute['strategy'], known: Known[], random: () => number = () => 0.5) {
  const candidates = known.map(({ priority = 0, weight = 1 }, place): Candidate => {
    const provider = makeProvider(String.fromCharCode(97 + place), { slot: place })
    return {
      provider,
      upstreamModel: 'm',
      target: makeTarget(provider.name, { priority, weight }),
      watched: { slot: place, model: 'm', pattern: null },
      lastResort: false,
      translated: null,
      reason: 'ready',
    }
  })
  const figures: Figures = {
    latencyOf: ({ slot }) => {
      const { ms = null, age = 0 } = known[slot] ?? {}
      return ms === null ? null : { ms, at: now - age }
    },
    costOf: ({ slot }) => known[slot]?.nano ?? null,
  }
  const { ordered, signal } = orderCandidates(strategy, candidates, { now, random, figures })
  return {
    names: ordered.map(({ provider }) => provider.name).join(''),
    text: signal?.text ?? null,
    candidates,
    ordered,
  }
}

/** The same numbers again and again, in another order for each seed. */
function numbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 48271) % 2147483647
    return state / 2147483647
  }
}

function firsts(known: Known[], rounds = 4000): Record<string, number> {
  const random = numbers(7)
  const counted: Record<string, number> = {}
  for (let round = 0; round < rounds; round++) {
    const first = order('latency', known, random).names.charAt(0)
    counted[first] = (counted[first] ?? 0) + 1 / rounds
  }
  return counted
}

describe('latency', () => {
  it('takes the faster of two, and says what it went by', () => {
    const { names, text } = order('latency', [{ ms: 300 }, { ms: 100 }])
    expect(names).toBe('ba')
    expect(text).toBe('Chosen by latency: a 300 ms, b 100 ms.')
  })

  it('draws two of several, so that not all go to the fastest, and none to the slowest first', () => {
    const counted = firsts([{ ms: 100 }, { ms: 200 }, { ms: 300 }])
    expect(counted.a).toBeGreaterThan(0.6)
    expect(counted.a).toBeLessThan(0.75)
    expect(counted.c).toBeUndefined()
  })

  it('starts a new target at the median of the others', () => {
    expect(order('latency', [{ ms: 100 }, { ms: 900 }, { ms: null }, { ms: 300 }]).names).toMatch(/^a|^d|^c/)
    const between = [{ ms: 100 }, { ms: null }, { ms: 900 }]
    expect(order('latency', between, () => 0.999).names).toMatch(/b.*c/)
    expect(order('latency', [{ ms: null }, { ms: null }]).text).toContain('not measured yet')
  })

  it('tries a target whose figure is old once in twenty calls', () => {
    const counted = firsts([{ ms: 100 }, { ms: 60_000, age: 40_000 }])
    expect(counted.b).toBeGreaterThan(0.03)
    expect(counted.b).toBeLessThan(0.07)
    expect(firsts([{ ms: 100 }, { ms: 60_000, age: 1000 }]).b).toBeUndefined()
  })

  it('chooses among targets of one priority', () => {
    expect(order('latency', [{ ms: 900 }, { ms: 800 }, { ms: 1, priority: 1 }]).names).toBe('bac')
  })
})

describe('cost', () => {
  it('takes the cheapest first, and what has no price last', () => {
    const { names, text } = order('cost', [
      { ms: null, nano: null },
      { ms: null, nano: 2_500_000n },
      { ms: null, nano: 1_000_000n },
    ])
    expect(names).toBe('cba')
    expect(text).toBe('Chosen by estimated cost: a without a price, b $0.0025, c $0.001.')
  })

  it('takes the faster of equally cheap ones', () => {
    const cheap = { nano: 5n }
    expect(
      order('cost', [
        { ms: null, ...cheap },
        { ms: 200, ...cheap },
        { ms: 100, ...cheap },
      ]).names,
    ).toBe('cba')
    expect(
      order('cost', [
        { ms: null, nano: null },
        { ms: 200, nano: null },
        { ms: null, nano: null },
      ]).names,
    ).toBe('bac')
  })

  it('chooses among targets of one priority', () => {
    expect(
      order('cost', [
        { ms: 1, nano: 9n },
        { ms: 1, nano: 1n, priority: 3 },
      ]).names,
    ).toBe('ab')
  })
})

const anyKnown = record({
  ms: option(integer({ min: 1, max: 2_000_000 })),
  age: integer({ min: 0, max: 90_000 }),
  nano: option(bigInt({ min: 0n, max: 10n ** 12n })),
  priority: integer({ min: 0, max: 2 }),
  weight: float({ min: 1, max: 100, noNaN: true }),
})

it('every strategy keeps every candidate once, and priorities in their order', () => {
  const strategies = constantFrom('priority', 'weighted', 'latency', 'cost')
  fc.assert(
    property(strategies, array(anyKnown, { maxLength: 8 }), integer({ min: 1, max: 1e6 }), (strategy, known, seed) => {
      const sorted = known.toSorted((one, other) => one.priority - other.priority)
      const { candidates, ordered } = order(strategy, sorted, numbers(seed))
      expect(new Set(ordered)).toEqual(new Set(candidates))
      expect(ordered).toHaveLength(candidates.length)
      const priorities = ordered.map(({ target }) => target.priority)
      expect(priorities).toEqual(priorities.toSorted((one, other) => one - other))
    }),
    { numRuns: 500 },
  )
})
