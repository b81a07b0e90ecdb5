import fc, { array, bigInt, integer, property, record } from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  affinityKey,
  conversationKeys,
  createAffinityMemory,
  keepAffinity,
  recall,
  stayAt,
} from '../../src/routing/affinity.ts'
import type { Candidate } from '../../src/routing/candidates.ts'
import type { Plan } from '../../src/routing/plan.ts'
import { makeProvider, makeRoute, makeTarget } from '../support/snapshot.ts'

const now = 1_800_000_000_000
const minute = 60_000
const findAffinity = (words: BigUint64Array, key: bigint, at: number) =>
  recall(words, { signed: key, cached: null }, at)?.place ?? null
const fresh = () => new BigUint64Array(createAffinityMemory())

describe('the table of conversations', () => {
  it('finds each where it was kept last, until its time is over', () => {
    const anyKept = record({
      key: bigInt({ min: 1n, max: 2n ** 62n }),
      slot: integer({ min: 0, max: 4095 }),
      credential: integer({ min: 0, max: 63 }),
      ttl: integer({ min: 1, max: 86_400 }),
    })
    fc.assert(
      property(array(anyKept, { maxLength: 200 }), (kept) => {
        const words = fresh()
        for (const { key, slot, credential, ttl } of kept)
          keepAffinity(words, key, { slot, model: 'm', credential }, now + ttl * 1000, now)
        const last = new Map(kept.map((each) => [each.key, each]))
        for (const { key, slot, credential, ttl } of last.values()) {
          expect(findAffinity(words, key, now)).toMatchObject({ slot, credential, until: now + ttl * 1000 })
          expect(findAffinity(words, key, now + ttl * 1000)).toBeNull()
        }
      }),
      { numRuns: 50 },
    )
  })

  it('takes the room of what ends soonest where a set is full', () => {
    const words = fresh()
    const keys = Array.from({ length: 9 }, (_, place) => (BigInt(place + 1) << 32n) | 7n)
    for (const [place, key] of keys.entries())
      keepAffinity(words, key, { slot: place, model: 'm', credential: 0 }, now + (place === 3 ? 1 : 5) * minute, now)
    const found = keys.map((key) => findAffinity(words, key, now)?.slot ?? null)
    expect(found).toEqual([0, 1, 2, null, 4, 5, 6, 7, 8])
  })

  it('tells projects and routes apart', () => {
    const one = affinityKey('prj_a', 'rte_1', 'hello')
    expect(affinityKey('prj_b', 'rte_1', 'hello')).not.toBe(one)
    expect(affinityKey('prj_a', 'rte_2', 'hello')).not.toBe(one)
  })

  it('goes by a signature first, and by the beginning of the prompt only on a sticky route', () => {
    const words = fresh()
    const signs = { start: 'begin', signature: 'signed' }
    keepAffinity(words, affinityKey('p', 'r', 'begin'), { slot: 1, model: 'm', credential: 0 }, now + minute, now)
    const plain = conversationKeys('p', { id: 'r', sticky: false }, signs)
    const sticky = conversationKeys('p', { id: 'r', sticky: true }, signs)
    expect(recall(words, plain, now)).toBeNull()
    expect(recall(words, sticky, now)).toMatchObject({ place: { slot: 1 }, why: 'cached' })
    keepAffinity(words, affinityKey('p', 'r', 'signed'), { slot: 2, model: 'm', credential: 0 }, now + minute, now)
    expect(recall(words, plain, now)).toMatchObject({ place: { slot: 2 }, why: 'signed' })
    expect(recall(words, sticky, now)).toMatchObject({ place: { slot: 2 }, why: 'signed' })
  })
})

describe('a plan with what is remembered', () => {
  const candidate = (name: string, slot: number, more: Partial<Candidate> = {}): Candidate => ({
    provider: makeProvider(name, { slot }),
    upstreamModel: 'm',
    target: makeTarget(`${name}:m`),
    watched: { slot, model: 'm', pattern: null },
    lastResort: false,
    translated: null,
    reason: 'ready',
    ...more,
  })
  const planOf = (...candidates: Candidate[]): Plan => ({
    fault: null,
    route: makeRoute('m', []),
    candidates,
    skipped: [],
    signals: [],
  })
  const placeOf = (slot: number, model = 'm', credential = 0) => {
    const words = fresh()
    keepAffinity(words, 1n, { slot, model, credential }, now + minute, now)
    const place = findAffinity(words, 1n, now)
    if (place === null) throw new Error('nothing was kept')
    return { place, why: 'cached' as const }
  }
  const order = ({ candidates }: Plan) => candidates.map(({ provider }) => provider.name)

  it('has the remembered target first, with its credential, and says so', () => {
    const plan = stayAt(planOf(candidate('a', 0), candidate('b', 1)), placeOf(1), () => true)
    expect(order(plan)).toEqual(['b', 'a'])
    expect(plan.candidates[0]).toMatchObject({ preferredCredential: 0 })
    expect(plan.signals.at(-1)).toMatchObject({ rule: 'affinity', text: expect.stringContaining('stays with b (m)') })
  })

  it('never beats health', () => {
    const plain = planOf(candidate('a', 0), candidate('b', 1))
    expect(stayAt(plain, placeOf(1), () => false)).toBe(plain)
    const limited = planOf(candidate('a', 0), candidate('b', 1, { lastResort: true }))
    expect(stayAt(limited, placeOf(1), () => true)).toBe(limited)
    // A target that fails is no candidate at all.
    const failing = planOf(candidate('a', 0))
    expect(stayAt(failing, placeOf(1), () => true)).toBe(failing)
  })

  it('knows nothing of another model there, or of a credential that is gone', () => {
    const plain = planOf(candidate('a', 0), candidate('b', 1))
    expect(stayAt(plain, placeOf(1, 'other'), () => true)).toBe(plain)
    expect(stayAt(plain, placeOf(1, 'm', 3), () => true)).toBe(plain)
  })
})
