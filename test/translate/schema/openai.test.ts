import { describe, expect, it } from 'vitest'
import { Ledger } from '../../../src/translate/ledger.ts'
import { isStrictOutput, isStrictTool } from '../../../src/translate/schema/openai.ts'

const closed = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'], additionalProperties: false }

/** Of a strict tool of Anthropic's. */
function isOpenAiStrict(schema: unknown): boolean {
  const tool = { path: 'tools[0]', kind: 'function', name: 'f', description: null, schema, strict: true } as const
  const ledger = new Ledger('messages', 'chat', false)
  const strict = isStrictTool(tool, ledger)
  expect(ledger.losses).toEqual(strict ? [] : ['tools[0].strict'])
  return strict
}

describe('what OpenAI takes as a strict schema', () => {
  it.each([
    closed,
    { ...closed, properties: { a: { anyOf: [closed, { type: 'null' }] } } },
    { ...closed, $defs: { A: closed }, properties: { a: { type: 'array', items: { $ref: '#/$defs/A' } } } },
  ])('%j', (schema) => {
    expect(isOpenAiStrict(schema)).toBe(true)
  })

  it.each([
    { ...closed, required: [] },
    { ...closed, additionalProperties: undefined },
    { ...closed, properties: { a: { type: 'object' } } },
    { ...closed, properties: { a: { oneOf: [] } } },
    { ...closed, $defs: { A: { type: 'object', properties: {} } } },
    { ...closed, properties: { a: true } },
    { anyOf: [closed] },
    { type: 'string' },
    null,
  ])('not %j', (schema) => {
    expect(isOpenAiStrict(schema)).toBe(false)
  })
})

describe('whether an answer is held to its schema', () => {
  const output = { path: 'output_config.format', kind: 'schema', name: null, schema: closed, strict: null } as const
  const loose = { ...output, schema: { type: 'object' } }

  it('is what the client says, else what its format does', () => {
    expect(isStrictOutput({ ...loose, strict: true }, new Ledger('chat', 'responses', false))).toBe(true)
    expect(isStrictOutput(output, new Ledger('chat', 'responses', false))).toBe(false)
    expect(isStrictOutput(output, new Ledger('responses', 'chat', false))).toBe(false)
    expect(isStrictOutput(output, new Ledger('messages', 'chat', false))).toBe(true)
  })

  it('is lost where OpenAI refuses the schema', () => {
    const ledger = new Ledger('messages', 'chat', false)
    expect(isStrictOutput({ ...loose, strict: true }, ledger)).toBe(false)
    expect(ledger.losses).toEqual(['output_config.format.schema'])
  })
})
