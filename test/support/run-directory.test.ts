import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import { chooseParent, makeRunDirectory } from './run-directory.ts'

it('removes what runs left that were killed, and nothing else', () => {
  const parent = mkdtempSync(join(tmpdir(), 'runs-'))
  onTestFinished(() => rmSync(parent, { recursive: true, force: true }))
  for (const name of ['spgw-test-1', 'spgw-test-2/within', 'spgw-test-mine', 'spgw-3'])
    mkdirSync(join(parent, name), { recursive: true })
  const made = makeRunDirectory(parent, (id) => id === 1)
  expect(made).toBe(join(parent, `spgw-test-${process.pid}`))
  expect(readdirSync(parent).sort()).toEqual(
    ['spgw-3', 'spgw-test-1', `spgw-test-${process.pid}`, 'spgw-test-mine'].sort(),
  )
})

it('is in memory where there is room and programs may run, and elsewhere else', () => {
  const memory = mkdtempSync(join(tmpdir(), 'memory-'))
  onTestFinished(() => rmSync(memory, { recursive: true, force: true }))
  const mounts = join(memory, 'mounts')
  const choose = (options: string, wanted: number) => {
    writeFileSync(mounts, `tmpfs /other tmpfs rw 0 0\ntmpfs ${memory} tmpfs ${options} 0 0\n`)
    return chooseParent(memory, wanted, mounts)
  }
  expect(choose('rw', 1)).toBe(tmpdir())
  vi.stubEnv('TMPDIR', undefined)
  onTestFinished(() => {
    vi.unstubAllEnvs()
  })
  expect(choose('rw,relatime', 1)).toBe(memory)
  expect(choose('rw,noexec', 1)).toBe('/tmp')
  expect(choose('rw', 1e18)).toBe('/tmp')
  expect(chooseParent(join(memory, 'none'), 1, mounts)).toBe('/tmp')
  expect(chooseParent(join(memory, 'mounts'), 1, mounts)).toBe('/tmp')
})
