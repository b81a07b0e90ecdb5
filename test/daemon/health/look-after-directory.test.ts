import { mkdtempSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import { lookAfterDirectory } from '../../../src/daemon/health/look-after-directory.ts'

const free = vi.hoisted(() => ({ bytes: 0 }))
vi.mock('node:fs', async (original) => ({
  ...(await original<typeof import('node:fs')>()),
  statfsSync: () => ({ bavail: free.bytes, bsize: 1 }),
}))

it('a start on a full disk takes what it needs from the reserve, and on any other nothing', () => {
  const directory = mkdtempSync(join(tmpdir(), 'spgw-reserve-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  const reserve = join(directory, 'reserve')
  const warn = vi.fn()
  const start = () => lookAfterDirectory(directory, { warn })()
  start()
  writeFileSync(reserve, '')
  truncateSync(reserve, 3_000_000)
  free.bytes = 1_000_000
  start()
  expect(statSync(reserve).size).toBe(3_000_000)
  free.bytes = 100_000
  start()
  expect(statSync(reserve).size).toBe(3_000_000 - 1024 * 1024)
  expect(warn).not.toHaveBeenCalled()
})
