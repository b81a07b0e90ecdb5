import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { NotStrippable, stripElf } from '../../scripts/strip-elf.ts'

const isElf = process.platform === 'linux'

describe('stripElf', () => {
  it.runIf(isElf)('makes Node smaller, and it still runs', () => {
    const directory = mkdtempSync(join(tmpdir(), 'strip-'))
    try {
      const original = readFileSync(process.execPath)
      const stripped = stripElf(original)
      expect(stripped.length).toBeLessThan(original.length * 0.9)
      const path = join(directory, 'node')
      writeFileSync(path, stripped, { mode: 0o755 })
      const program =
        'console.log(process.version, new Intl.NumberFormat("de").format(1.5), typeof WebAssembly.compile)'
      expect(execFileSync(path, ['-e', program], { encoding: 'utf8' })).toBe(`${process.version} 1,5 function\n`)
      // There is nothing left to take away, and nothing that it needs is taken away twice.
      expect(stripElf(stripped).length).toBe(stripped.length)
    } finally {
      rmSync(directory, { recursive: true })
    }
  })

  it('refuses what is no ELF file, or only the beginning of one', () => {
    expect(() => stripElf(Buffer.from('MZ'.padEnd(100)))).toThrow(NotStrippable)
    if (isElf) expect(() => stripElf(readFileSync(process.execPath).subarray(0, 4096))).toThrow(NotStrippable)
  })
})
