import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { boundNotes, boundProblems, firstOf } from '../../src/manifest/bounded-problems.ts'
import { kindSpecs } from '../../src/manifest/kinds.ts'
import {
  canonical,
  compareIdentities,
  describe as describeIdentity,
  type Identity,
  keyOf,
  type Plain,
  type ResourceKind,
  same,
} from '../../src/manifest/resource.ts'

const kindNames = Object.keys(kindSpecs) as ResourceKind[]
const place = fc.option(fc.constantFrom('', 'a', 'b', 'ab', 'é', '\u{1f600}', '\uffff', '-'))
const identity: fc.Arbitrary<Identity> = fc.record({
  kind: fc.constantFrom(...kindNames),
  project: place,
  environment: place,
  name: fc.constantFrom('a', 'b', 'ab', 'b-', 'é', '\u{1f600}', '\uffff'),
})
const plain: fc.Arbitrary<Plain> = fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<Plain>

/** The same with the names of every object in the opposite order. */
function turned(value: Plain): Plain {
  if (Array.isArray(value)) return value.map(turned)
  if (typeof value !== 'object' || value === null) return value
  const names = Object.entries(value).reverse()
  return Object.fromEntries(names.map(([name, inner]) => [name, turned(inner)]))
}

describe('the order of resources', () => {
  it('is one order, whatever is compared first', () => {
    fc.assert(
      fc.property(identity, identity, identity, (one, two, three) => {
        const order = (left: Identity, right: Identity) => Math.sign(compareIdentities(left, right))
        expect(order(one, one)).toBe(0)
        expect(order(one, two) + order(two, one)).toBe(0)
        if (order(one, two) <= 0 && order(two, three) <= 0) expect(order(one, three)).toBeLessThanOrEqual(0)
      }),
      { numRuns: 500 },
    )
  })

  it('puts what is referred to before what refers to it', () => {
    fc.assert(
      fc.property(fc.array(identity), (identities) => {
        const kinds = [...identities].sort(compareIdentities).map(({ kind }) => kindNames.indexOf(kind))
        expect(kinds).toEqual([...kinds].sort((one, other) => one - other))
      }),
    )
  })

  it('keeps apart what has another name or place, whatever these are', () => {
    const tricky = ['a","b', '[', '"', 'null', '\\', 'a\u0000b']
    fc.assert(
      fc.property(fc.constantFrom(...tricky), fc.constantFrom(...tricky), fc.boolean(), (one, other, isNull) => {
        const left: Identity = { kind: 'key', project: one, environment: isNull ? null : other, name: other }
        const right: Identity = { kind: 'key', project: other, environment: isNull ? null : one, name: one }
        expect(keyOf(left) === keyOf(right)).toBe(one === other)
      }),
    )
  })
})

describe('two values', () => {
  it('are the same in whatever order their names come, and no others are', () => {
    fc.assert(
      fc.property(plain, plain, (one, other) => {
        expect(same(one, turned(one))).toBe(true)
        expect(same(one, other)).toBe(canonical(one) === canonical(other))
        expect(JSON.parse(canonical(one))).toEqual(JSON.parse(JSON.stringify(one)))
      }),
      { numRuns: 300 },
    )
  })

  it.each<[Plain | undefined, Plain | undefined, boolean]>([
    [undefined, null, true],
    [[], null, false],
    [{}, [], false],
    [['a', 'b'], ['b', 'a'], false],
    [1, '1', false],
    [{ a: { c: 1, b: 2 } }, { a: { b: 2, c: 1 } }, true],
    [{ a: null }, {}, false],
  ])('%j and %j: %j', (one, other, expected) => {
    expect(same(one, other)).toBe(expected)
  })
})

it.each<[Identity, string]>([
  [{ kind: 'provider', project: null, environment: null, name: 'openai' }, 'provider openai'],
  [{ kind: 'environment', project: 'search', environment: null, name: 'staging' }, 'environment staging in search'],
  [{ kind: 'key', project: 'search', environment: 'staging', name: 'ci' }, 'key ci in search/staging'],
  [{ kind: 'route', project: 'search', environment: null, name: 'm' }, 'route m in search (all environments)'],
])('%j is called %s', (resource, text) => {
  expect(describeIdentity(resource)).toBe(text)
})

describe('many problems', () => {
  const problems = (count: number) =>
    Array.from({ length: count }, (_, index) => ({ place: `a.yaml:${index + 1}:1`, message: `problem ${index + 1}` }))

  it.each([
    [0, 0, undefined],
    [50, 50, 'problem 50'],
    [51, 51, 'there is one more problem'],
    [52, 51, 'there are 2 more problems; fix these first'],
    [5000, 51, 'there are 4950 more problems; fix these first'],
  ])('of %i are shown as %i, the last of which says %j', (count, shown, last) => {
    const bounded = boundProblems(problems(count))
    expect([bounded.length, bounded.at(-1)?.message]).toEqual([shown, last])
    // The place where the next one is.
    if (count > 50) expect(bounded.at(-1)?.place).toBe('a.yaml:51:1')
  })

  it('have a length that can be read, and no half of a character', () => {
    const long = `${'x'.repeat(399)}\u{1f600}${'y'.repeat(1000)}`
    const [first] = boundProblems([{ place: long, message: long }])
    expect(first?.message).toHaveLength(401)
    expect([first?.place.isWellFormed(), first?.message.endsWith('…')]).toEqual([true, true])
  })

  it('as sentences say how many are left out', () => {
    const notes = Array.from({ length: 53 }, (_, index) => `note ${index}`)
    expect(boundNotes(notes.slice(0, 50))).toEqual(notes.slice(0, 50))
    expect(boundNotes(notes).slice(-2)).toEqual(['note 49', 'And 3 more of this kind'])
  })

  it('as names too', () => {
    expect(firstOf([], 2)).toBe('')
    expect(firstOf(['a', 'b'], 2)).toBe('a, b')
    expect(firstOf(['a', 'b', 'c'], 2)).toBe('a, b and 1 more')
  })
})
