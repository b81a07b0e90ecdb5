import { openSync, readdirSync, renameSync, rmSync, statSync, writeFileSync, writeSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { newId } from '../../../src/core/ids.ts'
import { purge } from '../../../src/store/records/purge.ts'
import type { Connection } from '../../../src/store/sqlite/connection.ts'
import { migrations } from '../../../src/store/sqlite/migrations/index.ts'
import { openStore } from '../../../src/store/sqlite/open.ts'
import { StoreDegraded } from '../../../src/store/store-error.ts'
import { callTable } from '../../../src/store/tables.ts'
import { now, storePaths, temporaryDirectory } from '../support.ts'

async function openSample(busyTimeoutMs = 5000) {
  const { databasePath: path } = storePaths(temporaryDirectory())
  const store = await openStore({ path }, { migrations, busyTimeoutMs })
  onTestFinished(() => store.close())
  const { connection } = store
  const add = (name: string) =>
    connection.write((db) =>
      db
        .insertInto('projects')
        .values({ id: newId('prj'), name, created_at: now })
        .execute(),
    )
  return { path, store, connection, add }
}

function projectsIn(path: string): unknown[] {
  const file = new Sqlite(path, { readonly: true })
  try {
    return file.prepare('select name from projects order by name').pluck().all()
  } finally {
    file.close()
  }
}

describe('a database that is gone from its place', () => {
  it('takes nothing any more, and is copied while it is still open', async () => {
    const { path, connection, add } = await openSample()
    await add('before')
    rmSync(path)
    await expect(add('after')).rejects.toThrow(
      /the database file was deleted; its contents were saved to spgw\.db\.rescued-\d+:/,
    )
    await expect(add('later')).rejects.toThrow(StoreDegraded)
    const copies = readdirSync(dirname(path)).filter((file) => file.includes('rescued'))
    expect(copies).toEqual([expect.stringContaining(basename(path))])
    const [copy] = copies.map((file) => join(dirname(path), file))
    expect(statSync(copy ?? '').mode & 0o777).toBe(0o600)
    expect(projectsIn(copy ?? '')).toEqual(['before'])
    expect(connection.trouble).toContain('was deleted')
  })

  it('goes on when it is put back, and leaves no copy', async () => {
    const { path, connection, add } = await openSample()
    renameSync(path, `${path}.moved`)
    writeFileSync(path, '')
    await connection.look()
    expect(connection.trouble).toContain('the database was replaced by another file')
    renameSync(`${path}.moved`, path)
    await connection.look()
    expect(connection.trouble).toBeNull()
    await add('after')
    expect(projectsIn(path)).toEqual(['after'])
    expect(readdirSync(dirname(path)).filter((file) => file.includes('rescued'))).toEqual([])
  })
})

describe('a database that cannot be written', () => {
  it('is not well again by a transaction that had nothing to change', async () => {
    const { connection, add } = await openSample()
    connection.sqlite.pragma('query_only = on')
    await expect(add('refused')).rejects.toThrow(StoreDegraded)
    expect(connection.trouble).not.toBeNull()
    connection.sqlite.pragma('query_only = off')
    // A disk that fails refuses the pages of a row, and has nothing against a transaction without any.
    connection.sqlite.exec(
      "create temp trigger sick before insert on journal_segments begin select raise(abort, 'no room'); end",
    )
    const nothing = () => connection.write((db) => db.deleteFrom('projects').where('name', '=', 'nobody').execute())
    for (const write of [nothing, () => connection.writeHot(() => null), () => connection.trim(1)]) {
      await write()
      expect(connection.trouble).not.toBeNull()
    }
    connection.sqlite.exec('drop trigger sick')
    await nothing()
    expect(connection.trouble).toBeNull()
    await add('after')
  })
})

describe('a write-ahead log that is gone', () => {
  it.each([[['-wal']], [['-wal', '-shm']]])('is made anew without losing anything (%s)', async (suffixes) => {
    vi.useFakeTimers({ toFake: ['Date'] })
    onTestFinished(() => void vi.useRealTimers())
    const { path, connection, add } = await openSample()
    await add('before')
    for (const suffix of suffixes) rmSync(path + suffix)
    await connection.look()
    expect(connection.trouble).toContain('write-ahead log of the database was deleted and has been recreated')
    await add('after')
    // Another process finds both: what the log held is where it belongs.
    expect(projectsIn(path)).toEqual(['after', 'before'])
    vi.advanceTimersByTime(4000)
    expect(connection.trouble).toBeNull()
  })
})

describe('a damaged database', () => {
  const call = (table: string, method: string, input: unknown[]) => (connection: Connection) =>
    callTable(connection, { table, method, input, audit: null })
  const purgeAll = (bodies: boolean) => (connection: Connection) => purge(connection, { bodies, filter: { limit: 1 } })
  it.each([
    ['projects', call('projects', 'list', [])],
    ['audit', call('audit', 'verify', [null])],
    ['sqlite_autoindex_bodies_1', purgeAll(true)],
    ['sqlite_autoindex_records_1', purgeAll(false)],
  ])('stays degraded, and takes nothing more: %s', async (table, reading) => {
    const { path, connection, add } = await openSample()
    await add('before')
    await connection.checkpoint(0)
    const other = new Sqlite(path)
    const page = Number(other.prepare('select rootpage from sqlite_master where name = ?').pluck().get(table))
    const size = Number(other.pragma('page_size', { simple: true }))
    const file = openSync(path, 'r+')
    writeSync(file, Buffer.alloc(size, 0x5a), 0, size, (page - 1) * size)
    // A commit by somebody else makes the store read its pages anew.
    other.exec('create table stranger (id integer)')
    other.close()
    await expect(reading(connection)).rejects.toThrow('the database is damaged: restore a backup (SQLITE_CORRUPT')
    await expect(add('after')).rejects.toThrow('the database is damaged')
    await expect(connection.look()).rejects.toThrow('the database is damaged')
    expect(connection.trouble).toContain('restore a backup')
  })
})

describe('a database that another process has locked', () => {
  it('is told before the writer gives up, and forgotten without any other write', async () => {
    const { path, connection, add } = await openSample(60_000)
    const other = new Sqlite(path)
    other.exec('begin exclusive')
    const adding = add('patient')
    await vi.waitFor(() => expect(connection.trouble).toContain('another process has locked the database'), 60_000)
    other.exec('rollback')
    await adding
    expect(connection.trouble).toBeNull()
    other.close()
  })

  it('is looked at again when nobody has anything to write', async () => {
    const { path, connection, add } = await openSample(0)
    const other = new Sqlite(path)
    other.exec('begin exclusive')
    await expect(add('hasty')).rejects.toThrow(StoreDegraded)
    await expect(connection.look()).rejects.toThrow(StoreDegraded)
    other.exec('rollback')
    await connection.look()
    expect(connection.trouble).toBeNull()
    other.close()
  })
})
