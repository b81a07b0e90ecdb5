import { describe, expect, it } from 'vitest'
import { highestIn, noteNumbers, Placeholders } from '../../../src/policy/content/placeholders.ts'

describe('what is kept of the turns of a connection', () => {
  it('is what was used last, and no placeholder is given twice', () => {
    const placeholders = new Placeholders(() => 0)
    const mask = (value: string) => placeholders.mask('EMAIL', value, true)
    for (let turn = 0; turn < 10; turn++) {
      for (let one = 0; one < 4000; one++) mask(`${turn} ${one}`)
      expect(mask('again')).toBe('[EMAIL_4001]')
      placeholders.trim()
    }
    expect(placeholders.original('[EMAIL_4001]')).toBe('again')
    expect(placeholders.original('[EMAIL_1]')).toBeUndefined()
    expect(placeholders.original('[EMAIL_40001]')).toBe('9 3999')
    expect(mask('0 0')).toBe('[EMAIL_40002]')
  })

  it('is at most a megabyte of text', () => {
    const placeholders = new Placeholders(() => 0)
    for (let one = 0; one < 300; one++) placeholders.mask('KEY', `${one} ${'x'.repeat(8192)}`, true)
    placeholders.trim()
    const kept = Array.from({ length: 300 }, (_, one) => placeholders.original(`[KEY_${one + 1}]`)?.length ?? 0)
    expect(kept.reduce((sum, length) => sum + length)).toBeLessThan(1024 * 1024)
    expect(kept.filter((length) => length > 0)).toHaveLength(127)
  })
})

describe('what a prompt has of such texts itself', () => {
  const texts = Array.from({ length: 50_000 }, (_, one) => `[EMAIL_${one + 1}]`).join(' ')

  it('is looked through once, however much there is', () => {
    const placeholders = new Placeholders(highestIn(Buffer.from(texts)))
    const begun = performance.now()
    for (let one = 0; one < 1000; one++)
      expect(placeholders.mask('EMAIL', String(one), true)).toBe(`[EMAIL_${50_001 + one}]`)
    expect(placeholders.mask('KEY', 'k', true)).toBe('[KEY_1]')
    expect(performance.now() - begun).toBeLessThan(1000)
  })

  it('is what may be one, with a number that one may have', () => {
    const odd = '[EMAIL_7 [EMAIL_2] [EMAIL_] [EMAIL_5_1]'
    expect(highestIn(Buffer.from(odd))('EMAIL')).toBe(7)
    const known = new Map([['EMAIL', 1]])
    noteNumbers(`${odd} [KEY_012] [KEY_9999999999999999]`, known)
    expect(Object.fromEntries(known)).toEqual({ EMAIL: 2, EMAIL_5: 1, KEY: 12 })
  })
})
