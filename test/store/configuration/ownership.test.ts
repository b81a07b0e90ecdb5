import { describe, expect, it } from 'vitest'
import { newId } from '../../../src/core/ids.ts'
import type { AuditLine, ConfigurationStep } from '../../../src/store/api.ts'
import { StoreMoved, StoreOwned } from '../../../src/store/store-error.ts'
import { now, startTestStore, storePaths, temporaryDirectory } from '../support.ts'

const open = async () => await startTestStore(storePaths(temporaryDirectory()))

const project = () => ({ id: newId('prj'), name: 'search', createdAt: now })
const line = (id: string, before: unknown, after: unknown, force = false): AuditLine => ({
  actor: 'local owner',
  surface: 'cli',
  operation: 'projects.edit',
  resource: { kind: 'project', id, name: 'search' },
  before,
  after,
  force,
})
const insert = (row: ReturnType<typeof project>): ConfigurationStep => ({
  table: 'projects',
  method: 'insert',
  input: [row],
  audit: line(row.id, null, { name: row.name }),
})

describe('what a file owns', () => {
  it('is changed by nobody else, unless by force', async () => {
    const store = await open()
    const row = project()
    const own = [{ resourceId: row.id, field: 'name', owner: 'platform' }]
    await store.configuration.write({ head: null, steps: [insert(row)], own, release: [] })
    const rename = (force: boolean) =>
      store.audited(line(row.id, { name: 'search' }, { name: 'find' }, force)).projects.update(row.id, { name: 'find' })
    await expect(rename(false)).rejects.toThrow(StoreOwned)
    await expect(rename(false)).rejects.toThrow(
      'the configuration files of owner "platform" manage name of project search',
    )
    expect((await store.projects.list()).map(({ name }) => name)).toEqual(['search'])
    expect((await rename(true)).name).toBe('find')
    // The mark stays: the file's next turn sets it back.
    expect(await store.ownership.list()).toEqual(own)
  })

  it('may be changed where the file says nothing', async () => {
    const store = await open()
    const row = project()
    const own = [{ resourceId: row.id, field: 'timeouts.connect_ms', owner: 'platform' }]
    await store.configuration.write({ head: null, steps: [insert(row)], own, release: [] })
    const change = (before: unknown, after: unknown) =>
      store.audited(line(row.id, before, after)).projects.update(row.id, { name: 'find' })
    await expect(change({ timeouts: { connect_ms: 1 } }, { timeouts: { connect_ms: 2 } })).rejects.toThrow(StoreOwned)
    const one = { timeouts: { connect_ms: 1, total_ms: 1 } }
    expect((await change(one, { timeouts: { total_ms: 2, connect_ms: 1 } })).name).toBe('find')
  })

  it('is forgotten with what it marks', async () => {
    const store = await open()
    const row = project()
    const own = [{ resourceId: row.id, field: 'name', owner: 'platform' }]
    await store.configuration.write({ head: null, steps: [insert(row)], own, release: [] })
    const remove = (force: boolean) =>
      store.audited(line(row.id, { name: 'search' }, null, force)).projects.remove(row.id)
    await expect(remove(false)).rejects.toThrow('the configuration files of owner "platform" manage project search')
    await remove(true)
    expect(await store.ownership.list()).toEqual([])
  })
})

describe('a configuration', () => {
  it('is written whole or not at all', async () => {
    const store = await open()
    const first = project()
    const second = { ...project(), name: first.name }
    const write = store.configuration.write({
      head: null,
      steps: [insert(first), insert(second)],
      own: [],
      release: [],
    })
    await expect(write).rejects.toThrow('already exists')
    expect(await store.projects.list()).toEqual([])
    expect(await store.audit.list({ limit: 10 })).toEqual([])
  })

  it('is refused when anything was changed since it was read', async () => {
    const store = await open()
    const { head } = await store.configuration.read()
    expect(head).toBeNull()
    await store.configuration.write({ head, steps: [insert(project())], own: [], release: [] })
    const again = store.configuration.write({ head, steps: [], own: [], release: [] })
    await expect(again).rejects.toThrow(StoreMoved)
    const { head: moved, stored } = await store.configuration.read()
    expect(stored.projects.map(({ name }) => name)).toEqual(['search'])
    await store.configuration.write({ head: moved, steps: [], own: [], release: [] })
  })
})
