import { expect, it } from 'vitest'
import { newId } from '../../../src/core/ids.ts'
import type { ConfigurationStep } from '../../../src/store/api.ts'
import { callTable } from '../../../src/store/tables.ts'
import { countTurns } from '../../support/count-turns.ts'
import { openTestStore } from '../../support/empty-database.ts'
import { now, storePaths, temporaryDirectory } from '../support.ts'

it('writes a large configuration in slices, in one transaction', async () => {
  const store = await openTestStore(storePaths(temporaryDirectory()).databasePath)
  const rows = Array.from({ length: 300 }, (_, at) => ({ id: newId('prj'), name: `p${at}`, createdAt: now }))
  const steps = rows.map(
    (row): ConfigurationStep => ({ table: 'projects', method: 'insert', input: [row], audit: null }),
  )
  const own = rows.flatMap(({ id }) => ['name', 'tags'].map((field) => ({ resourceId: id, field, owner: 'file' })))
  const call = (table: string, method: string, input: unknown[]) =>
    callTable(store.connection, { table, method, input, audit: null })
  let seen: unknown
  const turns = await countTurns(async () => {
    const writing = call('configuration', 'write', [{ head: null, steps, own, release: [] }])
    // Waits for the transaction, as everybody does.
    seen = await call('projects', 'list', [])
    await writing
  })
  expect(turns).toBeGreaterThan(300)
  expect([0, 300]).toContain((seen as unknown[]).length)
  expect(await call('projects', 'list', [])).toHaveLength(300)
  expect(await call('ownership', 'list', [])).toHaveLength(600)
  await store.close()
})
