import { expect, it } from 'vitest'
import { schemaFromOpenApi } from '../../../src/translate/schema/openapi.ts'

it('reads the older form of schemas', () => {
  const schema = {
    type: 'OBJECT',
    nullable: true,
    propertyOrdering: ['a'],
    properties: {
      a: { type: 'STRING', nullable: true, enum: ['x'], minLength: '2', example: 'x', format: 'enum' },
      snake_case: { type: 'ARRAY', items: { type: 'TYPE_UNSPECIFIED' }, max_items: '3' },
      either: { anyOf: [{ type: 'NUMBER', maximum: 5 }], nullable: true },
    },
    required: ['a'],
  }
  expect(schemaFromOpenApi(schema)).toEqual({
    type: ['object', 'null'],
    properties: {
      a: { type: ['string', 'null'], enum: ['x', null], minLength: 2, examples: ['x'] },
      snake_case: { type: 'array', items: {}, maxItems: 3 },
      either: { anyOf: [{ type: 'number', maximum: 5 }, { type: 'null' }] },
    },
    required: ['a'],
  })
})

it('ends where a schema has no bottom', () => {
  let deep: object = {}
  for (let depth = 0; depth < 5000; depth++) deep = { items: deep }
  expect(JSON.stringify(schemaFromOpenApi(deep)).length).toBeLessThan(2000)
})
