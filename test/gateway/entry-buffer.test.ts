import { crc32 } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { entryHeaderBytes, type JournalEntry } from '../../src/core/journal-format.ts'
import { EntryBuffer } from '../../src/gateway/journal/journal.ts'

function repeated(id: string): JournalEntry {
  return { kind: 'repeated', id, count: 1, lastTime: 'now' }
}

function decode(bytes: Buffer): unknown[] {
  const found: unknown[] = []
  for (let at = 0; at < bytes.length; ) {
    const payload = bytes.subarray(at + entryHeaderBytes, at + entryHeaderBytes + bytes.readUInt32LE(at))
    expect(crc32(payload)).toBe(bytes.readUInt32LE(at + 4))
    found.push(JSON.parse(payload.toString()))
    at += entryHeaderBytes + payload.length
  }
  return found
}

describe('the buffer of entries', () => {
  it('gives back whole entries in order, however they are added and taken', () => {
    const text = fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 50 }),
      fc.integer({ min: 0, max: 200_000 }).map((length) => 'ü'.repeat(length)),
    )
    const step = fc.oneof(
      text.map((add) => ({ add })),
      fc.record({ take: fc.integer({ min: 0, max: 400_000 }), atLeastOne: fc.boolean() }),
    )
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        const buffer = new EntryBuffer()
        const expected: JournalEntry[] = []
        for (const each of steps) {
          if ('add' in each) {
            expected.push(repeated(each.add))
            buffer.add(repeated(each.add))
          } else {
            const { bytes, entries } = buffer.peek(each.take, each.atLeastOne)
            if (entries > 1 || !each.atLeastOne) expect(bytes.length).toBeLessThanOrEqual(each.take)
            if (each.atLeastOne && expected.length > 0) expect(entries).toBeGreaterThan(0)
            expect(decode(bytes)).toEqual(expected.splice(0, entries))
            buffer.drop(entries)
          }
          expect(buffer.entries).toBe(expected.length)
        }
        expect(decode(buffer.peek(Number.POSITIVE_INFINITY, false).bytes)).toEqual(expected)
      }),
      { numRuns: 200 },
    )
  })
})
