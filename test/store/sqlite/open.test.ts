import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import Sqlite from 'better-sqlite3'
import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'
import { describe, expect, it, onTestFinished } from 'vitest'
import { newId } from '../../../src/core/ids.ts'
import { startStore } from '../../../src/store/client.ts'
import { migrations } from '../../../src/store/sqlite/migrations/index.ts'
import { openStore } from '../../../src/store/sqlite/open.ts'
import { StoreConflict, StoreDegraded, StoreRefused } from '../../../src/store/store-error.ts'
import { threadModule } from '../../support/thread-module.ts'
import { addScope, now, startTestStore, storePaths, temporaryDirectory } from '../support.ts'

const busyTimeoutMs = 5000
const newest = Object.keys(migrations).at(-1)

function addTable(name: string): Migration {
  return {
    up: async (db: Kysely<unknown>) => void (await sql`create table ${sql.table(name)} (id integer)`.execute(db)),
  }
}

describe('opening', () => {
  it('makes a private file, and opens it again', async () => {
    const { databasePath: path } = storePaths(temporaryDirectory())
    const first = await openStore({ path })
    expect(first.schemaVersion).toBe(newest)
    for (const suffix of ['', '-wal', '-shm']) expect(statSync(path + suffix).mode & 0o777).toBe(0o600)
    await first.close()
    await (await openStore({ path })).close()
    expect(existsSync(`${path}-wal`)).toBe(false)
  })

  it('refuses a newer database, naming both versions', async () => {
    const { databasePath: path } = storePaths(temporaryDirectory())
    const newer = { ...migrations, '9999-tomorrow': addTable('tomorrow') }
    await (await openStore({ path }, { migrations: newer, busyTimeoutMs })).close()
    const refused = openStore({ path })
    await expect(refused).rejects.toThrow(StoreRefused)
    await expect(refused).rejects.toThrow(
      `the database has schema 9999-tomorrow, this spgw knows schemas up to ${newest}`,
    )
  })

  it("refuses another program's database, and what is none, through the thread", async () => {
    const data = storePaths(temporaryDirectory())
    const other = new Sqlite(data.databasePath)
    other.exec('create table theirs (id integer)')
    other.close()
    const start = async () => await startStore(() => new Worker(threadModule('store-thread'), { workerData: data }))
    await expect(start()).rejects.toThrow('the database belongs to another program')
    writeFileSync(data.databasePath, 'this is not a database at all, but a text of some length'.repeat(20))
    await expect(start()).rejects.toThrow(StoreRefused)
    await expect(start()).rejects.toThrow(`${data.databasePath}: the file is not a database`)
  })

  it('fails what is asked of a thread that has ended', async () => {
    const store = await startTestStore(storePaths(temporaryDirectory()))
    await store.close()
    await store.close()
    await expect(store.projects.list()).rejects.toThrow(StoreDegraded)
  })

  it('answers a call that cannot cross threads, and one that does not exist', async () => {
    const store = await startTestStore(storePaths(temporaryDirectory()))
    await expect(store.workspace.update({ name: (() => 'x') as unknown as string })).rejects.toThrow(
      'could not be cloned',
    )
    expect((await store.workspace.get()).name).toBe('workspace')
  })
})

const lockScript = `
const Sqlite = require('better-sqlite3')
const database = new Sqlite(process.argv[1])
database.exec('begin exclusive')
process.stdout.write('locked')
process.stdin.once('data', () => { database.exec('commit'); database.close(); process.exit() })`

/** Another process that holds the database's write lock until told. */
async function holdLock(path: string): Promise<{ release: () => Promise<void> }> {
  const child: ChildProcess = spawn(process.execPath, ['-e', lockScript, path], {
    cwd: join(import.meta.dirname, '../..'),
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill())
  if (!child.stdout) throw new Error('a pipe was asked for')
  await once(child.stdout, 'data')
  return {
    release: async () => {
      child.stdin?.write('go')
      await once(child, 'exit')
    },
  }
}

describe('a lock held by another process', () => {
  it('delays writes, and nothing else', async () => {
    const data = storePaths(temporaryDirectory())
    const store = await startTestStore(data)
    const { project } = await addScope(store)
    const lock = await holdLock(data.databasePath)
    const order: string[] = []
    const write = store.workspace.update({ name: 'later' }).then(() => order.push('write'))
    for (let round = 0; round < 20; round++) {
      expect(await store.projects.list()).toEqual([project])
      expect((await store.snapshot()).projects).toEqual([project])
    }
    order.push('reads')
    await lock.release()
    await write
    expect(order).toEqual(['reads', 'write'])
    expect((await store.workspace.get()).name).toBe('later')
  })

  it('becomes StoreDegraded when patience ends, shown until a write succeeds', async () => {
    const { databasePath: path } = storePaths(temporaryDirectory())
    const store = await openStore({ path }, { migrations, busyTimeoutMs: 50 })
    const lock = await holdLock(path)
    const rename = () => store.connection.write((db) => db.updateTable('workspace').set({ name: 'x' }).execute())
    await expect(rename()).rejects.toThrow(StoreDegraded)
    expect(store.connection.trouble).toContain('another process has locked the database')
    await lock.release()
    await rename()
    expect(store.connection.trouble).toBeNull()
    await store.close()
  })
})

describe('a write that breaks a rule of the database itself', () => {
  it('is a conflict, and leaves nothing behind', async () => {
    const store = await startTestStore(storePaths(temporaryDirectory()))
    const environment = { id: newId('env'), projectId: 'prj_gone', name: 'x', defaultProviders: {}, createdAt: now }
    await expect(store.environments.insert(environment)).rejects.toThrow(StoreConflict)
    expect(await store.environments.list(null)).toEqual([])
  })
})
