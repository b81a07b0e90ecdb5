import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { catalog } from '../../cli/catalog.ts'
import { makeManCommand } from '../../cli/manual/command.ts'
import { hasProgram } from '../support/executable.ts'
import { runLine } from './run-line.ts'

const man = makeManCommand({ operations: async () => catalog, local: () => [man], version: '0.1.0' })

function directory(): string {
  const made = mkdtempSync(join(tmpdir(), 'man-'))
  onTestFinished(() => rmSync(made, { recursive: true }))
  return made
}

describe('man', () => {
  it('prints the page of all commands', async () => {
    const { status, io } = await runLine(['man'], { local: [man] })
    expect(status).toBe(0)
    expect(io.out()).toContain('.TH "SPGW" "1"')
    expect(io.out()).toContain('.SS spgw man [directory] [flags]')
  })

  it('prints the page of one command, and makes no directory of its name', async () => {
    const { status, io } = await runLine(['man', 'keys'], { local: [man] })
    expect([status, io.err()]).toEqual([0, ''])
    expect(io.out()).toContain('.SS spgw keys rotate')
    expect(existsSync('keys')).toBe(false)
  })

  it('prints the page of all commands for one of this machine, which stands on it', async () => {
    const { status, io } = await runLine(['man', 'man'], { local: [man] })
    expect([status, io.err()]).toEqual([0, ''])
    expect(io.out()).toContain('.SS spgw man [directory] [flags]')
    expect(existsSync('man')).toBe(false)
  })

  it('writes a page for each area, with every verb and flag of it', async () => {
    const place = join(directory(), 'man1')
    expect((await runLine(['man', place], { local: [man] })).status).toBe(0)
    const areas = new Set(catalog.filter(({ path }) => path.length > 1).map(({ path }) => path[0]))
    expect(readdirSync(place).sort()).toEqual(['spgw.1', ...[...areas].map((area) => `spgw-${area}.1`)].sort())
    const keys = readFileSync(join(place, 'spgw-keys.1'), 'utf8')
    for (const { path, fields } of catalog.filter(({ path: [area] }) => area === 'keys')) {
      expect(keys).toContain(`.SS spgw ${path.join(' ')}`)
      for (const { flag, secret } of fields) if (!secret) expect(keys).toContain(flag.replaceAll('-', '\\-'))
    }
  })

  it.runIf(hasProgram('groff'))('is taken by groff without a warning', async () => {
    const place = directory()
    await runLine(['man', place], { local: [man] })
    for (const file of readdirSync(place)) {
      const page = join(place, file)
      const said = execFileSync('groff', ['-man', '-Tutf8', '-ww', '-z', page], { encoding: 'utf8', stdio: 'pipe' })
      expect(said).toBe('')
    }
  })
})
