import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { LineScanner } from '../../../src/core/text/line-scan.ts'

function scan(chunks: readonly Buffer[], limit: number): { lines: string[]; skipped: number } {
  const lines: string[] = []
  const scanner = new LineScanner(limit, (line) => lines.push(line.toString()))
  for (const chunk of chunks) scanner.add(chunk)
  scanner.end()
  return { lines, skipped: scanner.skipped }
}

function cut(bytes: Buffer, places: readonly number[]): Buffer[] {
  const sorted = [0, ...places.map((place) => place % (bytes.length + 1)).toSorted((one, other) => one - other)]
  return sorted.map((from, index) => bytes.subarray(from, sorted[index + 1] ?? bytes.length))
}

describe('the scanner of lines', () => {
  it('finds the same lines however the bytes are cut, and counts those that are too long', () => {
    const line = fc.string({ unit: fc.constantFrom('a', '"', '\r', 'ü', '世', '\\'), maxLength: 12 })
    fc.assert(
      fc.property(fc.array(line), fc.array(fc.nat(), { maxLength: 40 }), fc.boolean(), (lines, places, closed) => {
        const bytes = Buffer.from(lines.join('\n') + (closed ? '\n' : ''))
        const short = (text: string) => Buffer.byteLength(text) <= 16
        expect(scan(cut(bytes, places), 16)).toEqual({
          lines: lines.filter((text) => text !== '' && short(text)),
          skipped: lines.filter((text) => !short(text)).length,
        })
      }),
    )
  })

  it('searches once for a run of empty lines', () => {
    const chunk = Buffer.from(`{}${'\n'.repeat(60_000)}{}\n`)
    const search = vi.spyOn(chunk, 'indexOf')
    expect(scan([chunk], 16)).toEqual({ lines: ['{}', '{}'], skipped: 0 })
    expect(search.mock.calls.length).toBeLessThan(5)
  })

  it('goes on behind a line that is too long', () => {
    const chunks = ['short\n', 'x'.repeat(10), 'x'.repeat(10), '\nnext'].map((text) => Buffer.from(text))
    expect(scan(chunks, 16)).toEqual({ lines: ['short', 'next'], skipped: 1 })
  })
})
