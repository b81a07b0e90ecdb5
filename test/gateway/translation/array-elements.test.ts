import { expect, it } from 'vitest'
import { ArrayElements } from '../../../src/gateway/translation/array-elements.ts'

it('makes one JSON array of events', () => {
  const elements = new ArrayElements()
  const written = [
    elements.write(Buffer.from('data: {"a":1}\n\n'), false),
    elements.write(Buffer.from(''), false),
    elements.write(Buffer.from('data: {"b":2}\r\n\r\ndata: {"c":3}\r\n\r\n'), true),
  ]
  expect(JSON.parse(Buffer.concat(written).toString())).toEqual([{ a: 1 }, { b: 2 }, { c: 3 }])
})

it('is an empty array where there were none', () => {
  expect(new ArrayElements().write(Buffer.alloc(0), true).toString()).toBe('[]')
})
