import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../src/core/json/json-value.ts'
import { schemaForGemini } from '../../../src/translate/schema/gemini.ts'
import { ReferenceBudget, SchemaError } from '../../../src/translate/schema/references.ts'

function write(schema: JsonObject): { written: JsonObject; losses: string[] } {
  const losses: string[] = []
  return { written: schemaForGemini(schema, 's', (path) => losses.push(path), new ReferenceBudget()), losses }
}

const words = [
  'type',
  'format',
  'title',
  'description',
  'enum',
  'items',
  'prefixItems',
  'minItems',
  'maxItems',
  'minimum',
]
const known = new Set([
  ...words,
  'maximum',
  'anyOf',
  'properties',
  'additionalProperties',
  'required',
  'propertyOrdering',
])

/** Every keyword of a schema that comes out, at any depth. */
function keywords(schema: unknown): string[] {
  if (typeof schema !== 'object' || schema === null) return []
  return Object.entries(schema).flatMap(([name, member]) => {
    if (name === 'properties') return [name, ...Object.values(member as object).flatMap(keywords)]
    if (Array.isArray(member) && name !== 'enum' && name !== 'required' && name !== 'type') {
      return [name, ...member.flatMap(keywords)]
    }
    return [name, ...(name === 'items' || name === 'additionalProperties' ? keywords(member) : [])]
  })
}

const leaf: fc.Arbitrary<JsonObject> = fc.oneof(
  fc.record({ type: fc.constantFrom('string', 'integer', 'number', 'boolean') }),
  fc.record({ enum: fc.array(fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null)), { minLength: 1 }) }),
  fc.record({ const: fc.oneof(fc.string(), fc.boolean()) }),
  fc.record({ type: fc.constant('string'), pattern: fc.string(), minLength: fc.nat(), default: fc.string() }),
  fc.record({ $ref: fc.constantFrom('#/$defs/A', '#/$defs/B') }),
)
const { schemas } = fc.letrec<{ schemas: JsonObject }>((tie) => ({
  schemas: fc.oneof(
    { maxDepth: 3 },
    leaf,
    fc.record({ type: fc.constant('object'), properties: fc.dictionary(fc.string(), tie('schemas'), { maxKeys: 3 }) }),
    fc.record({ type: fc.constant('array'), items: tie('schemas') }),
    fc.record({ oneOf: fc.array(tie('schemas'), { maxLength: 3 }) }),
    fc.record({ allOf: fc.array(tie('schemas'), { maxLength: 2 }) }),
    fc.record({ not: tie('schemas'), if: tie('schemas'), patternProperties: fc.constant({}) }),
  ),
}))

describe('schemas for Gemini', () => {
  it('have nothing that it does not know, and say what they have lost', () => {
    const definitions = { $defs: { A: { type: 'string' }, B: { type: 'array', items: { $ref: '#/$defs/A' } } } }
    fc.assert(
      fc.property(schemas, (schema) => {
        const { written } = write({ ...schema, ...definitions })
        expect(keywords(written).filter((keyword) => !known.has(keyword))).toEqual([])
        expect(JSON.stringify(write({ ...schema, ...definitions }))).toBe(
          JSON.stringify(write({ ...schema, ...definitions })),
        )
      }),
    )
  })

  it('Bifrost 3512: a constant is an enum of one, never an open object', () => {
    expect(write({ type: 'object', properties: { a: { const: 'x' } } }).written).toEqual({
      type: 'object',
      properties: { a: { enum: ['x'] } },
    })
  })

  it('opencode 12295: definitions are put in place where they are referred to', () => {
    const { written, losses } = write({
      type: 'object',
      properties: { a: { $ref: '#/$defs/A', description: 'd' }, b: { $ref: '#/properties/a' } },
      $defs: { A: { type: 'array', items: { $ref: '#/$defs/B' } }, B: { type: 'string' } },
    })
    const list = { type: 'array', items: { type: 'string' }, description: 'd' }
    expect(written).toEqual({ type: 'object', properties: { a: list, b: list } })
    expect(losses).toEqual([])
  })

  it('OmniRoute PR 12768: what contains itself is refused by its path, and so is what refers to nothing', () => {
    const cyclic = { type: 'object', properties: { next: { $ref: '#' } } }
    expect(() => write(cyclic)).toThrow(SchemaError)
    const twice = {
      $ref: '#/$defs/A',
      $defs: { A: { anyOf: [{ $ref: '#/$defs/B' }] }, B: { items: { $ref: '#/$defs/A' } } },
    }
    expect(() => write(twice)).toThrow('#/$defs/A')
    expect(() => write({ $ref: '#/$defs/A' })).toThrow('is not in it')
    expect(() => write({ $ref: 'https://e.example/schema' })).toThrow('is not in it')
  })

  it('gemini-cli 13326: additionalProperties, null among types, and alternatives', () => {
    const { written, losses } = write({
      type: ['object', 'null'],
      additionalProperties: { type: 'string' },
      properties: { a: { nullable: true, type: 'string' }, b: { oneOf: [{ type: 'string' }] }, c: true },
    })
    expect(written).toEqual({
      type: ['object', 'null'],
      additionalProperties: { type: 'string' },
      properties: { a: { type: ['string', 'null'] }, b: { anyOf: [{ type: 'string' }] }, c: {} },
    })
    expect(losses).toEqual([])
  })

  it('what cannot be joined is lost', () => {
    const all = { allOf: [{ type: 'string' }, { type: 'number' }], anyOf: [{}], oneOf: [{ type: 'string' }] }
    expect(write(all).losses).toEqual(['s.oneOf', 's.allOf[1].type'])
    expect(write({ properties: { a: false } }).losses).toEqual(['s.properties.a'])
  })

  it('references that multiply, and schemas without a bottom, are refused', () => {
    const $defs = Object.fromEntries(
      Array.from({ length: 30 }, (_, index) => {
        const next = { $ref: `#/$defs/D${index + 1}` }
        return [`D${index}`, index === 29 ? {} : { type: 'object', properties: { a: next, b: next } }]
      }),
    )
    expect(() => write({ $ref: '#/$defs/D0', $defs })).toThrow('too large')
    let deep: JsonObject = {}
    for (let depth = 0; depth < 200; depth++) deep = { items: deep }
    expect(() => write(deep)).toThrow('too deep')
  })

  it('what each part of a schema adds is joined once, however many parts there are', () => {
    let written = 0
    const minItems = { toJSON: () => written++ }
    const parts = Array.from({ length: 1000 }, (_, index) => ({
      properties: { [`a${index}`]: {} },
      required: [`a${index}`],
      minItems: 1,
    }))
    const all = write({ type: 'object', minItems, allOf: parts })
    expect(Object.keys(all.written.properties as object)).toHaveLength(1000)
    expect(all.written.required).toHaveLength(1000)
    expect(all.losses).toHaveLength(1000)
    expect(written).toBe(1)
  })

  it('long names of properties stand in no path below them', () => {
    const inner = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`a${index}`, { pattern: 'x' }]))
    const { losses } = write({ properties: { ['n'.repeat(100_000)]: { properties: inner } } })
    expect(losses).toHaveLength(1000)
    expect(losses.reduce((sum, path) => sum + path.length, 0)).toBeLessThan(1_000_000)
  })
})
