import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { recordShape } from '../../src/admin/contract/requests/record.ts'
import { startTestStore, storePaths, temporaryDirectory } from '../store/support.ts'

const script = join(import.meta.dirname, '../../scripts/fill-records.ts')

it('fills a data directory with records over days, and with what they name', async () => {
  const directory = temporaryDirectory()
  const flags = ['--data-dir', directory, '--records', '6000', '--days', '3', '--resources']
  execFileSync(process.execPath, [script, ...flags], { stdio: 'pipe' })

  const store = await startTestStore(storePaths(directory, 'reader'))
  const [total] = await store.records.stats({ limit: 0 }, 'total')
  expect(total?.requests).toBe(6000)
  expect(total?.errors).toBeGreaterThan(0)
  expect((await store.records.stats({ limit: 0 }, 'day')).length).toBeGreaterThanOrEqual(3)
  const newest = await store.records.list({ limit: 1000 })
  for (const record of newest) expect(recordShape.parse(record)).toEqual(record)
  expect((await store.health()).setAside).toEqual([])
  const keys = new Set((await store.keys.list(null, null)).map(({ id }) => id))
  expect(newest.every(({ key }) => key !== null && keys.has(key.id))).toBe(true)
})
