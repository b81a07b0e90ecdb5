import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { StreamEvent } from '../../../src/core/bytes/stream-event.ts'
import { JsonArrayFramer } from '../../../src/core/json/json-array.ts'
import { frame, joined } from '../../support/framing.ts'

const push = (text: string, ...sizes: number[]) => frame(new JsonArrayFramer(), Buffer.from(text), sizes)
const elements = (events: readonly StreamEvent[]) =>
  events.map(({ data }) => data.toString('utf8')).filter((data) => data !== '')
const sizes = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 5 })

describe('JsonArrayFramer', () => {
  it.each([
    ['[{"a":1}\n,\n{"b":[2,{"c":"]}\\""}]}\n]', ['{"a":1}', '{"b":[2,{"c":"]}\\""}]}']],
    ['[]', []],
    [' [ 1 , "a,b" ,null,[] ] \n', ['1', '"a,b"', 'null', '[]']],
    ['{"error":{"code":503}}', ['{"error":{"code":503}}']],
    ['[{"cut":', ['{"cut":']],
  ])('reads %j, whole and byte by byte', (text, expected) => {
    for (const size of [1000, 1]) {
      const events = push(text, size)
      expect(elements(events)).toEqual(expected)
      expect(joined(events)).toBe(text)
    }
  })

  it('gives back every byte and every element, however the array was cut', () => {
    fc.assert(
      fc.property(
        fc.array(fc.jsonValue(), { maxLength: 6 }),
        fc.constantFrom(0, 1, '\r\n'),
        sizes,
        (array, indent, cuts) => {
          const text = JSON.stringify(array, null, indent)
          const events = push(text, ...cuts)
          expect(joined(events)).toBe(text)
          expect(elements(events).map((element) => JSON.parse(element))).toEqual(JSON.parse(text))
        },
      ),
      { numRuns: 500 },
    )
  })

  it('hands out an element at its last byte', () => {
    const framer = new JsonArrayFramer()
    expect(framer.push(Buffer.from('[{"a":1}')).map(({ bytes }) => bytes.toString())).toEqual(['[{"a":1}'])
    expect(framer.push(Buffer.from('\n,\n{"b"'))).toEqual([])
    expect(framer.pending).toBe(7)
    expect(framer.push(Buffer.from(':2}\n]')).map(({ bytes }) => bytes.toString())).toEqual(['\n,\n{"b":2}'])
    expect(framer.rest()).toMatchObject({ bytes: Buffer.from('\n]'), data: Buffer.alloc(0) })
    expect(framer.rest()).toBeNull()
  })

  it('releases a large element in pieces', () => {
    const framer = new JsonArrayFramer()
    const events = framer.push(Buffer.from('[{"a":"xx'))
    const head = framer.release()
    if (head !== null) events.push(head)
    events.push(...framer.push(Buffer.from('yy","usageMetadata":{}},{"b":1}]')))
    const rest = framer.rest()
    if (rest !== null) events.push(rest)
    expect(events.map(({ part, data }) => [part, data.toString()])).toEqual([
      ['head', '{"a":"xx'],
      ['tail', '[{"a":"xxyy","usageMetadata":{}}'],
      ['whole', '{"b":1}'],
      ['cut', ''],
    ])
    expect(joined(events)).toBe('[{"a":"xxyy","usageMetadata":{}},{"b":1}]')
  })
})
