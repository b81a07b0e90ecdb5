import fc, { array, constantFrom, integer, property, record, tuple } from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  attachHealth,
  createHealthMemory,
  type Health,
  type HealthTarget,
  poolLimit,
} from '../../src/routing/health.ts'
import { answered, broken, call, cut, failTarget, refused } from './health-calls.ts'

const start = 1_790_000_000_000
const targetRows = 4096

function make(): Health {
  return attachHealth(createHealthMemory(3))
}

function target(model: string, slot = 0, pattern: string | null = null): HealthTarget {
  return { slot, model, pattern }
}

const one = target('one')
const other = target('other')

/** What a call of that key would meet. */
function stateFor(health: Health, key: string | null, at = one, now = start): string {
  return health.view(at.slot, now, 1, at, key).state
}

describe('failures of one key alone', () => {
  it('pause that key only, and tell the control plane once', () => {
    const health = make()
    const trips: unknown[] = []
    for (let count = 0; count < 6; count++) {
      const entry = health.enter(one, 'a', start)
      if (entry !== null) trips.push(health.record(entry, one, broken, 'a', start))
    }
    expect(trips).toEqual([null, null, null, null, 'caller'])
    expect(health.view(0, start, 1, one, 'a')).toMatchObject({ state: 'open', until: start + 5000, caller: true })
    expect(health.enter(one, 'a', start)).toBeNull()
    expect(call(health, one, answered, 'b', start)).toBe(true)
    expect(health.enter(one, 'a', start + 5000)).toMatchObject({ target: { own: 'probe' } })
  })

  it('pause it for all where it is the only one, as they always did', () => {
    const health = make()
    failTarget(health, one, 5, start)
    expect(health.view(0, start, 1, one)).toMatchObject({ state: 'open', until: start + 5000 })
    expect(call(health, one, answered, null, start)).toBe(false)
  })

  it('are no reason to pause others when its probe fails, again and again', () => {
    const health = make()
    failTarget(health, one, 5, start, 'a')
    for (let now = start; now < start + 600_000; now += 5000) {
      call(health, one, broken, 'a', now)
      expect(stateFor(health, 'b', one, now)).not.toBe('open')
    }
  })

  it('show as failing until a call of anybody succeeds', () => {
    const health = make()
    failTarget(health, one, 7, start, 'a')
    expect(health.viewTarget(one, start)).toMatchObject({
      state: 'doubtful',
      trouble: { inARow: 5, cause: 500, since: start },
    })
    call(health, one, answered, 'b', start)
    expect(health.viewTarget(one, start)).toEqual({ state: 'ready', since: start })
  })
})

describe('failures of two keys', () => {
  it('pause everybody', () => {
    const health = make()
    failTarget(health, one, 3, start, 'a')
    failTarget(health, one, 2, start, 'b')
    expect(stateFor(health, 'c')).toBe('open')
  })

  it('do not where calls of a third succeed between them', () => {
    const health = make()
    for (let round = 0; round < 5; round++) {
      call(health, one, broken, round % 2 === 0 ? 'a' : 'b', start)
      call(health, one, answered, 'c', start)
      call(health, one, answered, 'c', start)
    }
    expect(stateFor(health, 'c')).toBe('ready')
  })
})

describe('a call that its client or its body ended', () => {
  it('counts for nothing, and is no answer to a probe', () => {
    const health = make()
    failTarget(health, one, 5, start)
    const later = start + 6000
    for (let count = 0; count < 3; count++) expect(call(health, one, refused, null, later)).toBe(true)
    expect(health.view(0, later, 1, one)).toMatchObject({ state: 'half-open' })
    for (let count = 0; count < 20; count++) call(health, other, refused, null, start)
    expect(stateFor(health, null, other)).toBe('ready')
  })

  it('keeps nobody from probing while it is being sent', () => {
    const health = make()
    failTarget(health, one, 5, start)
    const later = start + 6000
    const unsent = health.enter(one, null, later, false)
    expect(unsent?.target?.shared).toBe('trial')
    expect(call(health, one, answered, null, later)).toBe(true)
    expect(health.view(0, later, 1, one)).toEqual({ state: 'ready' })
  })
})

describe('a model of a provider', () => {
  it('that fails closes nothing else', () => {
    const health = make()
    failTarget(health, one, 5, start)
    expect([stateFor(health, null), stateFor(health, null, other), health.view(0, start, 1).state]).toEqual([
      'open',
      'ready',
      'ready',
    ])
  })

  it('shares the trouble of its provider’s connections', () => {
    const health = make()
    for (let count = 0; count < 5; count++) call(health, one, cut, null, start)
    expect([stateFor(health, null, other), health.view(0, start, 1).state, health.view(1, start, 1).state]).toEqual([
      'open',
      'open',
      'ready',
    ])
  })

  it('behind a pattern shares the pattern’s row until it has succeeded once', () => {
    const health = make()
    const names = ['x', 'y', 'z'].map((name) => target(name, 0, 'gpt-*'))
    const [x = one, y = one, z = one] = names
    call(health, x, answered, null, start)
    for (let count = 0; count < 5; count++) call(health, count % 2 === 0 ? y : z, broken, null, start)
    expect(names.map((name) => stateFor(health, null, name))).toEqual(['ready', 'open', 'open'])
  })

  it('is one of at most 4,096 that are told apart, however many names there are', () => {
    const claimed: string[] = []
    const health = attachHealth(createHealthMemory(2), null, (_slot, model) => claimed.push(model))
    for (let name = 0; name < 3 * targetRows; name++) call(health, target(`name-${name}`), answered, null, start)
    expect(claimed.length).toBeGreaterThan(0.9 * targetRows)
    expect(claimed.length).toBeLessThanOrEqual(targetRows)
    expect(new Set(claimed).size).toBe(claimed.length)
    const unwatched = target('one-too-many')
    for (let count = 0; count < 50; count++) expect(call(health, unwatched, broken, null, start)).toBe(true)
  })

  it('that nobody was answered by takes no row of its own', () => {
    const claimed: string[] = []
    const health = attachHealth(createHealthMemory(2), null, (_slot, model) => claimed.push(model))
    for (let name = 0; name < 100; name++) call(health, target(`made-up-${name}`, 0, '*'), broken, 'a', start)
    expect(claimed).toEqual(['*'])
  })

  it('is forgotten with its provider, and no other is', () => {
    const health = make()
    const elsewhere = target('one', 1)
    for (const each of [one, elsewhere]) failTarget(health, each, 5, start)
    failTarget(health, other, 5, start, 'a')
    health.markReady(0)
    expect([stateFor(health, 'a'), stateFor(health, 'a', other), stateFor(health, null, elsewhere)]).toEqual([
      'ready',
      'ready',
      'open',
    ])
  })
})

describe('credentials', () => {
  it('take turns, those that cool down left out', () => {
    const health = make()
    const pick = () => health.pickCredential(0, 3, start)
    expect([pick(), pick(), pick(), pick()]).toEqual([0, 1, 2, 0])
    health.coolDownCredential(0, 1, start + 1000)
    expect(new Set([pick(), pick(), pick(), pick()])).toEqual(new Set([0, 2]))
    expect(health.pickCredential(0, 3, start + 1000)).toBeTypeOf('number')
  })

  it('all cooling down leave the provider out until the first is free', () => {
    const health = make()
    health.coolDownCredential(0, 0, start + 9000)
    health.coolDownCredential(0, 1, start + 4000)
    health.coolDownCredential(0, 1, start + 1000)
    expect(health.pickCredential(0, 2, start)).toBeNull()
    expect(health.view(0, start, 2)).toEqual({ state: 'cooling-down', exhausted: false, until: start + 4000 })
    expect(health.view(0, start + 4000, 2)).toEqual({ state: 'ready' })
    expect(health.view(0, start)).toEqual({ state: 'ready' })
  })

  it('out of quota say so, unless one of them waits for anything else', () => {
    const health = make()
    health.coolDownCredential(0, 0, start + 9000, true)
    health.coolDownCredential(0, 1, start + 4000, true)
    expect(health.view(0, start, 2)).toEqual({ state: 'cooling-down', exhausted: true, until: start + 4000 })
    // A limit of its rate, which ends by itself.
    health.coolDownCredential(0, 1, start + 5000)
    expect(health.view(0, start, 2)).toEqual({ state: 'cooling-down', exhausted: false, until: start + 5000 })
  })

  it('are used again at once where the clock was set back by more than any of them waits', () => {
    const health = make()
    const day = 86_400_000
    health.coolDownCredential(0, 0, start + day + 60_000, true)
    health.limitCredential(one, 0, start + day + 60_000)
    expect(health.view(0, start + day, 1)).toMatchObject({ state: 'cooling-down' })
    expect(health.view(0, start, 1, one)).toEqual({ state: 'ready' })
    expect(health.pickCredential(0, 1, start, one)).toBe(0)
    expect(health.isUsable(one, 0, start)).toBe(true)
    health.coolDownCredential(0, 0, start + 30_000)
    expect(health.view(0, start, 1)).toMatchObject({ state: 'cooling-down', until: start + 30_000 })
    health.limitCredential(one, 0, start + 30_000)
    expect(health.view(0, start + 30_000, 1, one)).toEqual({ state: 'ready' })
  })

  it('a pool beyond its limit never reaches into the next provider', () => {
    const health = make()
    for (let turn = 0; turn < 3 * poolLimit; turn++) {
      const index = health.pickCredential(0, poolLimit * 2, start) ?? 0
      expect(index).toBeLessThan(poolLimit)
      health.coolDownCredential(0, index, start + 1000)
    }
    expect(health.view(1, start, 1)).toEqual({ state: 'ready' })
  })
})

describe('a limit that a credential met', () => {
  it('holds for that model only, and passes it over while another can serve', () => {
    const health = make()
    health.limitCredential(one, 0, start + 9000)
    const picked = (at: HealthTarget) => new Set([0, 1, 2, 3].map(() => health.pickCredential(0, 2, start, at)))
    expect([picked(one), picked(other)]).toEqual([new Set([1]), new Set([0, 1])])
    health.limitCredential(one, 0, start + 1000)
    health.limitCredential(one, 1, start + 4000)
    expect(health.view(0, start, 2, one)).toEqual({ state: 'limited', until: start + 4000 })
    expect(health.pickCredential(0, 2, start, one)).toBe(1)
    expect(health.view(0, start + 4000, 2, one)).toEqual({ state: 'ready' })
  })

  it('is tried before one that this request has tried already', () => {
    const health = make()
    health.limitCredential(one, 0, start + 9000)
    expect(health.pickCredential(0, 2, start, one, [1])).toBe(0)
  })
})

describe('a credential that no check can prove', () => {
  const until = start + 30_000

  it('cools down after rejections of two keys, or five in a row', () => {
    const health = make()
    expect(health.suspectCredential(0, 0, 'a', until)).toBe(false)
    expect(health.suspectCredential(0, 0, 'b', until)).toBe(true)
    expect(health.isCoolingDown(0, 0, start)).toBe(true)
    const found = [1, 2, 3, 4, 5].map(() => health.suspectCredential(0, 1, 'a', until))
    expect(found).toEqual([false, false, false, false, true])
  })

  it('is trusted again after a call that it is accepted for', () => {
    const health = make()
    for (const key of ['a', 'b', 'a', 'b']) {
      expect(health.suspectCredential(0, 0, key, until)).toBe(false)
      health.trustCredential(0, 0)
    }
  })
})

const keys = ['a', 'b', 'c'] as const
const anyCall = record({
  key: constantFrom(...keys),
  at: constantFrom(one, other),
  outcome: constantFrom(answered, broken, broken, cut, refused),
  wait: integer({ min: 0, max: 2000 }),
})

it('whatever one key’s calls come to, a key whose own calls succeed is always let in', () => {
  fc.assert(
    property(array(tuple(anyCall, constantFrom(true, false)), { maxLength: 200 }), (calls) => {
      const health = make()
      let now = start
      for (const [{ at, outcome, wait }, bad] of calls) {
        now += wait
        if (bad) call(health, at, outcome, 'bad', now)
        else expect(call(health, at, answered, 'good', now)).toBe(true)
      }
    }),
    { numRuns: 300 },
  )
})

it('whatever happens at one model, others are kept away by failures of connections alone', () => {
  fc.assert(
    property(array(anyCall, { maxLength: 200 }), (calls) => {
      const health = make()
      let now = start
      for (const { key, outcome, wait } of calls) {
        now += wait
        call(health, one, outcome === cut ? broken : outcome, key, now)
        for (const each of keys) expect(health.view(0, now, 1, other, each)).toEqual({ state: 'ready' })
      }
    }),
    { numRuns: 300 },
  )
})

it('whatever happens, a call is let in exactly when its key’s view says so', () => {
  fc.assert(
    property(array(anyCall, { maxLength: 200 }), (calls) => {
      const health = make()
      let now = start
      for (const { key, at, outcome, wait } of calls) {
        now += wait
        const { state } = health.view(0, now, 1, at, key)
        expect(call(health, at, outcome, key, now)).toBe(state !== 'open' && state !== 'probing')
      }
    }),
    { numRuns: 300 },
  )
})
