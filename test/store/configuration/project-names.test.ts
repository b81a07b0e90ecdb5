import Sqlite from 'better-sqlite3'
import { expect, it, onTestFinished } from 'vitest'
import { projectsTable } from '../../../src/store/configuration/projects.ts'
import { migrations } from '../../../src/store/sqlite/migrations/index.ts'
import { openStore } from '../../../src/store/sqlite/open.ts'
import { storePaths, temporaryDirectory } from '../support.ts'

const busyTimeoutMs = 5000

it('of a database of before are the present ones, and what records name belongs to nobody known', async () => {
  const { databasePath: path } = storePaths(temporaryDirectory())
  const known = Object.entries(migrations).filter(([name]) => name < '0009')
  await (await openStore({ path }, { migrations: Object.fromEntries(known), busyTimeoutMs })).close()
  const before = new Sqlite(path)
  before.exec(`insert into projects (id, name, created_at) values ('prj_1', 'alpha', '2026-01-01T00:00:00.000Z');
    insert into record_labels (number, project) values (1, 'alpha'), (2, 'gone'), (3, null)`)
  before.close()
  const { connection, close } = await openStore({ path })
  onTestFinished(close)
  const projects = projectsTable(connection.db)
  const [alpha, gone, ...others] = await projects.names()
  expect(alpha).toEqual({ name: 'alpha', projectId: 'prj_1', since: '2026-01-01T00:00:00.000Z', until: null })
  expect(gone).toMatchObject({ name: 'gone', projectId: null, since: '' })
  expect(others).toEqual([])

  const createdAt = '2026-01-02T00:00:00.000Z'
  await projects.insert({ id: 'prj_2', name: 'gone', createdAt })
  await projects.insert({ id: 'prj_3', name: 'fresh', createdAt })
  await projects.update('prj_3', { name: 'fresher' })
  await projects.update('prj_3', { name: 'fresh' })
  const names = await projects.names()
  const of = (id: string) => names.filter(({ projectId }) => projectId === id)
  // From when nobody had it any more.
  expect(of('prj_2')).toEqual([{ name: 'gone', projectId: 'prj_2', since: gone?.until, until: null }])
  expect(of('prj_3').map(({ name, until }) => [name, until === null])).toEqual([
    ['fresh', false],
    ['fresher', false],
    ['fresh', true],
  ])
  expect(of('prj_3')[0]?.since).toBe('')
})
