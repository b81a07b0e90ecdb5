import fc from 'fast-check'
import { expect, it } from 'vitest'
import { bodyBytes, CaptureBudget, KeptBytes, marginBytes } from '../../src/gateway/capture/kept-bytes.ts'

const most = bodyBytes + marginBytes
const chunk = Buffer.alloc(64 * 1024, 'x')

it('keeps the beginning of what comes in pieces, and counts the rest', () => {
  const piece = fc.uint8Array({ maxLength: 4000 }).map((bytes) => Buffer.from(bytes))
  fc.assert(
    fc.property(fc.array(piece), fc.boolean(), (pieces, long) => {
      const room = new CaptureBudget()
      const kept = new KeptBytes(room)
      const all = long ? [...pieces, Buffer.alloc(most), ...pieces] : pieces
      for (const bytes of all) {
        const copy = Buffer.from(bytes)
        kept.add(copy)
        // The gateway's buffers are used again.
        copy.fill(7)
      }
      const whole = Buffer.concat(all)
      expect(kept.total).toBe(whole.length)
      expect(kept.bytes.equals(whole.subarray(0, most))).toBe(true)
      expect(room.taken).toBeLessThanOrEqual(most)
      kept.release()
      expect([room.taken, kept.bytes.length]).toEqual([0, 0])
    }),
  )
})

it('keeps no more of many answers at once than there is room for, and gives it back', () => {
  const room = new CaptureBudget()
  const all = Array.from({ length: 200 }, () => new KeptBytes(room))
  for (let piece = 0; piece < 40; piece++) for (const kept of all) kept.add(chunk)
  const held = all.map((kept) => kept.bytes.length)
  const sum = held.reduce((before, length) => before + length, 0)
  expect(Math.max(...held)).toBeLessThanOrEqual(most)
  expect(sum).toBeLessThanOrEqual(64 * 1024 * 1024)
  expect(room.taken).toBeLessThanOrEqual(64 * 1024 * 1024)
  for (const kept of all) expect(kept.total).toBe(40 * chunk.length)
  for (const kept of all) kept.release()
  expect(room.taken).toBe(0)
  const later = new KeptBytes(room)
  later.add(Buffer.from('there is room again'))
  expect(later.bytes.toString()).toBe('there is room again')
})
