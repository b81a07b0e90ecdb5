import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { JournalEntry } from '../../../src/core/journal-format.ts'
import { type FoundEntry, findEntries, parseEntry, recordText } from '../../../src/store/ingest/segment-reader.ts'
import { encodeEntry, encodePayload } from '../../support/journal-writer.ts'
import { admitted, sampleRecord, settled } from '../../support/sample-record.ts'
import { anyText } from '../support.ts'

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
        const batch = findEntries(bytes.subarray(0, at), 100, 1000, last)
        const whole = list.slice(0, batch.entries.length)
        expect(batch.entries.map(parseEntry)).toEqual(whole)
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
        const batch = findEntries(bytes, 0, most, true)
        expect(batch.entries.map(parseEntry)).toEqual(list.slice(0, most))
        expect(batch.stop).toBe(list.length < most ? 'end' : 'more')
      }),
    )
  })

  it('never throws, and never takes what has another checksum', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.boolean(), (bytes, last) => {
        expect(findEntries(Buffer.from(bytes), 0, 10, last).entries).toEqual([])
      }),
    )
  })
})

describe('an entry found', () => {
  const only = (bytes: Buffer): FoundEntry => {
    const [entry, ...more] = findEntries(bytes, 0, 10, true).entries
    if (entry === undefined || more.length > 0) throw new Error('one entry')
    return entry
  }

  it('has its kind, its id and the record byte for byte, without being parsed', () => {
    fc.assert(
      fc.property(anyText(), fc.boolean(), (model, ended) => {
        const record = sampleRecord({ model })
        const entry = ended ? settled(record) : admitted(record)
        const found = only(encodeEntry(entry))
        expect(found).toMatchObject({ kind: entry.kind, id: record.id, plain: true })
        if ('record' in entry) expect(recordText(found)).toBe(JSON.stringify(entry.record))
      }),
    )
  })

  it('is parsed where it looks otherwise: another order of fields, an id of another form', () => {
    const { id, ...rest } = sampleRecord()
    const turned = only(encodePayload(Buffer.from(JSON.stringify({ record: { ...rest, id }, kind: 'settled' }))))
    expect(turned).toMatchObject({ kind: 'settled', id, plain: false })
    expect(JSON.parse(recordText(turned))).toEqual({ ...rest, id })
    for (const strange of ['', 'with "quotes"', 'x'.repeat(500), 'Größe']) {
      const found = only(encodeEntry(settled(sampleRecord({ id: strange }))))
      expect(found).toMatchObject({ kind: 'settled', id: strange, plain: false })
    }
  })
})
