import { describe, expect, it } from 'vitest'
import { Ledger } from '../../../src/translate/ledger.ts'
import { strictAnthropicSchema } from '../../../src/translate/schema/anthropic.ts'

function convert(schema: unknown) {
  const ledger = new Ledger('chat', 'messages', false)
  const written = strictAnthropicSchema(schema, 's', ledger)
  return { written, losses: ledger.losses, refused: ledger.refused?.message ?? null }
}

describe('a strict schema for Anthropic', () => {
  it('stays what it is where all of it is enforced', () => {
    const schema = {
      type: 'object',
      properties: {
        a: { type: ['string', 'null'], format: 'date', description: 'd' },
        b: { $ref: '#/$defs/b' },
        c: { type: 'array', items: { enum: [1, 2] }, minItems: 1 },
      },
      required: ['a'],
      additionalProperties: false,
      $defs: { b: { anyOf: [{ const: 1 }, { type: 'object', properties: {}, additionalProperties: false }] } },
    }
    expect(convert(schema)).toEqual({ written: schema, losses: [], refused: null })
  })

  it('says in words what is not enforced, and lists it', () => {
    const { written, losses } = convert({
      $schema: 'x',
      type: 'object',
      properties: {
        a: { type: 'string', description: 'A.', minLength: 3, pattern: '^a' },
        b: { oneOf: [{ type: 'string', format: 'x' }] },
      },
      additionalProperties: true,
    })
    expect(written).toEqual({
      type: 'object',
      properties: {
        a: { type: 'string', description: 'A.\n\n{minLength: 3, pattern: "^a"}' },
        b: { anyOf: [{ type: 'string', description: '{format: "x"}' }] },
      },
      additionalProperties: false,
    })
    expect(losses).toEqual([
      's.properties.a.minLength',
      's.properties.a.pattern',
      's.properties.b.oneOf',
      's.properties.b.oneOf[0].format',
      's.additionalProperties',
    ])
  })

  it.each([
    ['itself', { type: 'object', properties: { a: { $ref: '#' } } }],
    [
      'a definition that contains itself',
      { $ref: '#/$defs/a', $defs: { a: { anyOf: [{ $ref: '#/$defs/b' }] }, b: { $ref: '#/$defs/a' } } },
    ],
  ])('is refused where it contains %s', (_, schema) => {
    expect(convert(schema).refused).toMatch(/contains itself/)
  })

  it('takes a definition twice', () => {
    const a = { $ref: '#/$defs/a' }
    expect(convert({ type: 'object', properties: { x: a, y: a }, $defs: { a: { type: 'string' } } }).refused).toBeNull()
  })

  it('follows a chain of definitions, however long', () => {
    const names = Array.from({ length: 50_000 }, (_, index) => `d${index}`)
    const chain = (last: object) => {
      const parts = names.map((name, index) => [
        name,
        index + 1 < names.length ? { $ref: `#/$defs/d${index + 1}` } : last,
      ])
      return { $ref: '#/$defs/d0', $defs: Object.fromEntries(parts) }
    }
    expect(convert(chain({ type: 'string' })).refused).toBeNull()
    expect(convert(chain({ $ref: '#/$defs/d7' })).refused).toMatch(/contains itself/)
  })

  it('is refused where it is deeper than a person writes', () => {
    let schema: object = { type: 'string' }
    for (let depth = 0; depth < 500; depth++) schema = { type: 'array', items: schema }
    expect(convert(schema).refused).toMatch(/too deeply/)
  })
})
