import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { insertMember, readAround, scanList, writeList } from '../../src/lanes/list-page.ts'
import { countUsage, type WrittenUsage } from '../../src/lanes/usage.ts'

const element = fc.record({ id: fc.string({ maxLength: 8 }), other: fc.jsonValue({ maxDepth: 2 }) })
const page = fc.record({
  data: fc.array(element, { maxLength: 8 }),
  has_more: fc.boolean(),
  last_id: fc.oneof(fc.string({ maxLength: 5 }), fc.constant(null)),
  object: fc.constant('list'),
})
const around = ['has_more', 'last_id']

/** As providers write it, and as people do. */
const written = fc.tuple(page, fc.constantFrom(undefined, 2, '\t')).map(([value, space]) => ({
  value,
  body: Buffer.from(JSON.stringify(value, null, space)),
}))

function scan(body: Buffer) {
  const list = scanList(body, 'data', 'id', around)
  if (list === null) throw new Error('it is a list')
  return list
}

describe('a list of a provider', () => {
  it('is read as JSON reads it', () => {
    fc.assert(
      fc.property(written, ({ value, body }) => {
        const list = scan(body)
        expect(list.elements.map(({ name }) => name)).toEqual(value.data.map(({ id }) => id))
        const texts = list.elements.map(({ span }) => JSON.parse(body.toString('utf8', span.start, span.end)))
        expect(texts).toEqual(JSON.parse(JSON.stringify(value.data)))
        for (const name of around) expect(readAround(body, list, name)).toBe(Reflect.get(value, name))
        expect(readAround(body, list, 'object')).toBeUndefined()
      }),
      { numRuns: 60 },
    )
  })

  it('has what is kept of it, in its order, and nothing that tells of the rest', () => {
    fc.assert(
      fc.property(written, fc.infiniteStream(fc.boolean()), fc.boolean(), ({ value, body }, keeps, hasMore) => {
        const kept = value.data.flatMap((_, index) => (keeps.next().value ? [index] : []))
        const changed = writeList(body, scan(body), kept, { has_more: hasMore, last_id: 'last', missing: 1 })
        expect(JSON.parse(changed.toString())).toEqual({
          ...JSON.parse(JSON.stringify(value)),
          ...{ data: kept.map((index) => JSON.parse(JSON.stringify(value.data[index]))) },
          ...{ has_more: hasMore, last_id: 'last' },
        })
        if (kept.length === 0) expect(changed.toString()).toMatch(/"data":\s?\[\]/)
      }),
      { numRuns: 60 },
    )
  })

  it('of which all is kept is the same bytes', () => {
    fc.assert(
      fc.property(written, ({ value, body }) => {
        const all = value.data.map((_, index) => index)
        const { has_more, last_id } = value
        const same = writeList(body, scan(body), all, { has_more, last_id })
        if (value.data.length > 0) expect(same).toBe(body)
        expect(JSON.parse(same.toString())).toEqual(JSON.parse(body.toString()))
      }),
      { numRuns: 30 },
    )
  })

  it('without its array is empty, and what is no list is none', () => {
    expect(scan(Buffer.from('{}'))).toMatchObject({ elements: [], array: null })
    expect(scan(Buffer.from('{"data":[1,"a",{"id":7},{"id":"x"}]}')).elements.map(({ name }) => name)).toEqual([
      ...['', '', '', 'x'],
    ])
    for (const text of ['', '[]', '{"data":{}}', '{"data":[1,]}', '{"data":[', '"data"', 'null'])
      expect(scanList(Buffer.from(text), 'data', 'id', around)).toBeNull()
  })

  it('gets a member before all others', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string({ maxLength: 4 }), fc.jsonValue({ maxDepth: 1 })),
        fc.string(),
        (tree, value) => {
          const body = Buffer.from(JSON.stringify(tree))
          expect(JSON.parse(insertMember(body, 'first', value).toString())).toEqual({
            first: value,
            ...JSON.parse(body.toString()),
          })
        },
      ),
      { numRuns: 40 },
    )
    expect(insertMember(Buffer.from('[1]'), 'first', 1).toString()).toBe('[1]')
  })
})

describe('usage as a provider wrote it', () => {
  const count = fc.oneof(fc.constant(0), fc.nat(50), fc.nat(1_000_000))
  const usage: fc.Arbitrary<WrittenUsage> = fc.record({
    ...{ input: fc.option(count), output: count, cacheRead: count, cacheWrite: count, reasoning: count },
    total: fc.option(count),
  })

  it('never has a part that is larger than its whole, nor less than was written', () => {
    fc.assert(
      fc.property(usage, fc.boolean(), (each, reasoningBeside) => {
        const counted = countUsage(each, { reasoningBeside })
        if (counted === null) throw new Error('so much can be used')
        expect(counted.cache_read + counted.cache_write).toBeLessThanOrEqual(counted.input)
        expect(counted.reasoning).toBeLessThanOrEqual(counted.output)
        expect(counted.input).toBeGreaterThanOrEqual(each.input ?? 0)
        expect(counted.output).toBeGreaterThanOrEqual(each.output)
      }),
      { numRuns: 300 },
    )
  })

  it('comes to the total, where that has more than both', () => {
    fc.assert(
      fc.property(usage, (each) => {
        const counted = countUsage(each, { reasoningBeside: false })
        const parts = (each.input ?? 0) + each.output
        if (each.total !== null)
          expect((counted?.input ?? 0) + (counted?.output ?? 0)).toBe(Math.max(each.total, parts))
      }),
      { numRuns: 200 },
    )
  })

  it('that nobody can have is none', () => {
    const one = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, reasoning: 0, total: null }
    for (const change of [{ input: 2e9 }, { output: 2e9 }, { reasoning: 2e9 }, { cacheRead: 2e9 }, { total: 3e9 }])
      expect(countUsage({ ...one, ...change }, { reasoningBeside: false })).toBeNull()
  })
})
