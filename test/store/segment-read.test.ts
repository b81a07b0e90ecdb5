import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { JournalEntry } from '../../src/core/journal-format.ts'
import { parseEntries } from '../../src/store/segment-read.ts'
import { encodeEntry } from '../support/journal-writer.ts'

const entries = fc.array(
  fc.record({
    kind: fc.constant('repeated' as const),
    id: fc.string({ unit: 'grapheme' }),
    count: fc.nat(),
    lastTime: fc.constant('2026-01-01T00:00:00.000Z'),
  }),
  { maxLength: 8 },
)

function encode(list: readonly JournalEntry[]): Buffer {
  return Buffer.concat(list.map(encodeEntry))
}

describe('a window of a segment', () => {
  it('gives the entries that are whole, wherever it is cut', () => {
    fc.assert(
      fc.property(entries, fc.nat(), fc.boolean(), (list, cut, last) => {
        const bytes = encode(list)
        const at = bytes.length === 0 ? 0 : cut % (bytes.length + 1)
        const batch = parseEntries(bytes.subarray(0, at), 100, 1000, last)
        const whole = list.slice(0, batch.entries.length)
        expect(batch.entries).toEqual(whole)
        expect(batch.offset).toBe(100 + encode(whole).length)
        expect(encode(list.slice(0, whole.length + 1)).length > at || whole.length === list.length).toBe(true)
        const rest = bytes.subarray(encode(whole).length, at)
        if (!last) expect(batch.stop).toBe('more')
        else expect(batch.stop).toBe(rest.some((byte) => byte !== 0) ? 'torn' : 'end')
      }),
    )
  })

  it('ends at zeros, and at the limit of entries', () => {
    fc.assert(
      fc.property(entries, fc.integer({ min: 1, max: 9 }), (list, most) => {
        const bytes = Buffer.concat([encode(list), Buffer.alloc(64)])
        const batch = parseEntries(bytes, 0, most, true)
        expect(batch.entries).toEqual(list.slice(0, most))
        expect(batch.stop).toBe(list.length < most ? 'end' : 'more')
      }),
    )
  })

  it('never throws, and never takes what has another checksum', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.boolean(), (bytes, last) => {
        expect(parseEntries(Buffer.from(bytes), 0, 10, last).entries).toEqual([])
      }),
    )
  })
})
