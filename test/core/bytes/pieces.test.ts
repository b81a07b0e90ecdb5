import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Pieces, replaceSpan } from '../../../src/core/bytes/pieces.ts'
import { LastBytes } from '../../../src/gateway/answer/last-bytes.ts'

const chunks = fc
  .array(fc.oneof(fc.nat(5), fc.nat(9000), fc.nat(70_000)), { maxLength: 300 })
  .map((sizes) => sizes.map((size, index) => Buffer.alloc(size, `${index},`)))

describe('pieces', () => {
  it('are the bytes in their order', () => {
    fc.assert(
      fc.property(chunks, (all) => {
        const pieces = new Pieces(all.length % 2 === 0)
        for (const chunk of all) pieces.add(chunk)
        const whole = Buffer.concat(all)
        expect(pieces.size).toBe(whole.length)
        expect(Buffer.concat(pieces.list()).equals(whole)).toBe(true)
        expect(pieces.join().equals(whole)).toBe(true)
      }),
      { numRuns: 30 },
    )
  })

  it('of a byte each are kept together, and no block is kept for a few bytes', () => {
    const pieces = new Pieces()
    for (let index = 0; index < 300_000; index++) pieces.add(Buffer.from([index & 255]))
    expect(pieces.list().length).toBeLessThan(100)
    const mixed = new Pieces()
    for (let index = 0; index < 200; index++) {
      mixed.add(Buffer.alloc(4096))
      mixed.add(Buffer.alloc(1))
    }
    const memory = new Set(mixed.list().map(({ buffer }) => buffer))
    const held = [...memory].reduce((sum, { byteLength }) => sum + byteLength, 0)
    expect(held).toBeLessThan(2 * mixed.size)
  })

  it('of a large body lie apart, and are free at once', () => {
    const pieces = new Pieces(true)
    const all = Array.from({ length: 80 }, (_, index) => Buffer.alloc(60_000, index))
    const copied = all.map((chunk) => pieces.add(chunk))
    // From the second MiB on.
    expect(copied.indexOf(true)).toBe(17)
    expect(copied.slice(17)).not.toContain(false)
    const held = pieces.list().slice(17)
    expect(Buffer.concat(held).equals(Buffer.concat(all.slice(17)))).toBe(true)
    pieces.free()
    expect([pieces.size, pieces.list(), held.map(({ length }) => length)]).toEqual([0, [], held.map(() => 0)])
  })

  it('have a span replaced wherever they are cut', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(20), { maxLength: 10 }), fc.nat(100), fc.nat(10), (sizes, from, length) => {
        const all = sizes.map((size, index) => Buffer.alloc(size, 97 + index))
        const whole = Buffer.concat(all).toString()
        const start = Math.min(from, whole.length - 1)
        const end = Math.min(start + length, whole.length)
        fc.pre(start >= 0 && end > start)
        const replaced = Buffer.concat(replaceSpan(all, start, end, Buffer.from('NEW'))).toString()
        expect(replaced).toBe(`${whole.slice(0, start)}NEW${whole.slice(end)}`)
      }),
    )
  })
})

describe('a tail', () => {
  it('is the last bytes, however they came', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(40_000), { maxLength: 20 }), (sizes) => {
        const tail = new LastBytes()
        const all = sizes.map((size, index) => Buffer.alloc(size, `${index};`))
        for (const chunk of all) tail.add(chunk)
        expect(tail.bytes().toString()).toBe(
          Buffer.concat(all)
            .subarray(-16 * 1024)
            .toString(),
        )
      }),
    )
  })
})
