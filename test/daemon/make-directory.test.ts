import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { makeDirectory } from '../../src/daemon/make-directory.ts'

it('makes what is missing above it, and minds nothing that is there', () => {
  const root = mkdtempSync(join(tmpdir(), 'spgw-directory-'))
  const deep = join(root, 'a/b/c')
  makeDirectory(deep)
  makeDirectory(deep)
  expect(existsSync(deep)).toBe(true)
  rmSync(root, { recursive: true })
})

it.runIf(existsSync('/proc/self'))('gives up where no directory can be made', () => {
  expect(() => makeDirectory('/proc/nothing/spgw')).toThrow(/ENOENT/)
})
