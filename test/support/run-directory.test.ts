import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { makeRunDirectory } from './run-directory.ts'

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
