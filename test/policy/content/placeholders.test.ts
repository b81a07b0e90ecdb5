import { describe, expect, it } from 'vitest'
import { Placeholders } from '../../../src/policy/content/placeholders.ts'

describe('what is kept of the turns of a connection', () => {
  it('is what was used last, and no placeholder is given twice', () => {
    const placeholders = new Placeholders(() => false)
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
    const placeholders = new Placeholders(() => false)
    for (let one = 0; one < 300; one++) placeholders.mask('KEY', `${one} ${'x'.repeat(8192)}`, true)
    placeholders.trim()
    const kept = Array.from({ length: 300 }, (_, one) => placeholders.original(`[KEY_${one + 1}]`)?.length ?? 0)
    expect(kept.reduce((sum, length) => sum + length)).toBeLessThan(1024 * 1024)
    expect(kept.filter((length) => length > 0)).toHaveLength(127)
  })
})
