import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { DerivedField } from '../../../src/console/app/contract/derived.ts'
import { type FormValues, inputOf, problemsOf, valuesOf } from '../../../src/console/app/parts/form-values.ts'

const field = (name: string, shape: DerivedField['shape'], more: Partial<DerivedField> = {}): DerivedField => ({
  ...{ name, shape, choices: null, required: false, nullable: true, fallback: null, label: null, description: '' },
  ...{ prompt: null, secret: false, flag: null, syntax: null, minimum: null, maximum: null },
  ...more,
})

const fields = [
  field('title', 'text'),
  field('rpm', 'number'),
  field('active', 'boolean', { fallback: true }),
  field('models', 'list'),
  field('lanes', 'list', { choices: ['openai', 'anthropic', 'gemini'] }),
  field('tags', 'pairs'),
]
const word = fc.stringMatching(/^[a-z][a-z0-9-]{0,6}$/)
/** A resource as an operation answers it. */
const record = fc.record({
  title: fc.option(word),
  rpm: fc.option(fc.integer({ min: 0, max: 9999 })),
  active: fc.boolean(),
  models: fc.array(word, { maxLength: 3 }),
  lanes: fc.subarray(['openai', 'anthropic', 'gemini']),
  tags: fc.dictionary(word, word, { maxKeys: 3 }),
})
type Resource = typeof record extends fc.Arbitrary<infer Value> ? Value : never

/** What the gateway makes of an edit: null clears, and an empty pair goes. */
function edited(before: Resource, input: Record<string, unknown>): Record<string, unknown> {
  const { tags, ...rest } = input
  const merged = { ...before.tags, ...(tags as Record<string, string> | undefined) }
  return { ...before, ...rest, tags: Object.fromEntries(Object.entries(merged).filter(([, text]) => text !== '')) }
}

describe('any form of a resource', () => {
  it('that nobody has touched sends nothing', () => {
    fc.assert(
      fc.property(record, (resource) => {
        const values = valuesOf(fields, resource)
        expect(inputOf(fields, values, structuredClone(values))).toEqual({})
        expect(problemsOf(fields, values, values)).toEqual({})
      }),
    )
  })

  it('makes of the one resource the other', () => {
    fc.assert(
      fc.property(record, record, (before, after) => {
        const input = inputOf(fields, valuesOf(fields, after), valuesOf(fields, before))
        expect(edited(before, input)).toEqual(after)
      }),
      { numRuns: 300 },
    )
  })

  it('leaves to others what one has not changed: two who edit different fields at once both have their way', () => {
    const names = fc.subarray(
      Object.keys(fields[0] === undefined ? {} : Object.fromEntries(fields.map((f) => [f.name, 0]))),
    )
    fc.assert(
      fc.property(record, record, record, names, (before, one, other, mine) => {
        const was = valuesOf(fields, before)
        const choose = (of: Resource, isMine: boolean): FormValues =>
          Object.fromEntries(
            Object.entries(valuesOf(fields, of)).map(([name, value]) => [
              name,
              mine.includes(name) === isMine ? value : (was[name] ?? value),
            ]),
          )
        const first = inputOf(fields, choose(one, true), was)
        const second = inputOf(fields, choose(other, false), was)
        expect(Object.keys(first).filter((name) => name in second)).toEqual([])
        const together = edited(edited(before, first) as Resource, second)
        const turned = edited(edited(before, second) as Resource, first)
        expect(together).toEqual(turned)
      }),
    )
  })

  it('from nothing sends what was filled in, and says what is missing', () => {
    const needed = fields.map((each) => ({ ...each, required: true }))
    fc.assert(
      fc.property(record, (resource) => {
        const values = valuesOf(needed, resource)
        const input = inputOf(needed, values, null)
        const problems = problemsOf(needed, values, null)
        for (const { name } of needed.filter(({ shape }) => shape !== 'boolean'))
          expect(name in problems, name).toBe(!(name in input))
      }),
    )
  })
})

describe('pairs', () => {
  const tags = (values: [string, string][], was: [string, string][] | null) =>
    inputOf(fields, { tags: values }, was === null ? null : { tags: was }).tags

  it.each<[string, [string, string][], [string, string][] | null, unknown]>([
    ['of a new resource', [['a', '1']], null, { a: '1' }],
    ['without a name', [['', '1']], null, undefined],
    ['none at all', [], null, undefined],
    ['with blanks around a name', [[' a ', '1']], null, { a: '1' }],
    [
      'of one name, of which the last counts',
      [
        ['a', '1'],
        ['a', '2'],
      ],
      null,
      { a: '2' },
    ],
    ['of which one was renamed', [['b', '1']], [['a', '1']], { a: '', b: '1' }],
    [
      'of which all went',
      [],
      [
        ['a', '1'],
        ['b', '2'],
      ],
      { a: '', b: '' },
    ],
    [
      'of which one went and came back',
      [
        ['b', '2'],
        ['a', '1'],
      ],
      [
        ['a', '1'],
        ['b', '2'],
      ],
      { a: '1', b: '2' },
    ],
  ])('%s', (_what, values, was, sent) => {
    expect(tags(values, was)).toEqual(sent)
  })
})
