import fc from 'fast-check'
import { expect, it } from 'vitest'
import { indentJson } from '../../../src/core/json/indent-json.ts'

it('sets JSON out as JSON.stringify does', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.constantFrom(0, 1, '\t'), (value, space) => {
      expect(indentJson(JSON.stringify(value, null, space))).toBe(JSON.stringify(value, null, 2))
    }),
  )
})

it('keeps what is written as it is written', () => {
  expect(indentJson('{"n":12345678901234567890.10,"s":"\\u00e9\\/"}')).toBe(
    '{\n  "n": 12345678901234567890.10,\n  "s": "\\u00e9\\/"\n}',
  )
})

it('leaves what is no JSON', () => {
  for (const text of ['data: {}', '{"cut', '']) expect(indentJson(text)).toBeNull()
})
