import { describe, expect, it } from 'vitest'
import { readBounded } from '../../../src/core/text/bounded-text.ts'

async function* pieces(count: number, piece: Buffer) {
  for (let left = count; left > 0; left--) yield piece
}

describe('a text that is read within a bound', () => {
  it('is whole, whatever its pieces cut', async () => {
    async function* cut() {
      for (const byte of Buffer.from('größer')) yield Buffer.from([byte])
    }
    expect(await readBounded(cut())).toBe('größer')
  })

  it('is read no further than that', async () => {
    const mebibyte = Buffer.alloc(1024 * 1024, 'a')
    expect((await readBounded(pieces(8, mebibyte)))?.length).toBe(8 * 1024 * 1024)
    expect(await readBounded(pieces(Infinity, mebibyte))).toBeNull()
  })
})
