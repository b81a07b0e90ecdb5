import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'
import { describe, expect, it } from 'vitest'
import { migrations } from '../../../src/store/sqlite/migrations/index.ts'
import { openStore } from '../../../src/store/sqlite/open.ts'
import { StoreRefused } from '../../../src/store/store-error.ts'
import { storePaths, temporaryDirectory } from '../support.ts'

const foundation = { '0001-foundation': migrations['0001-foundation']! }
const busyTimeoutMs = 5000

function run(statement: string): Migration {
  return { up: async (db: Kysely<unknown>) => void (await sql.raw(statement).execute(db)) }
}

const second = { ...foundation, '0002-second': run('create table second (id integer)') }
const third = { ...second, '0003-third': run('insert into second values (3)') }

/** A database as the first version made it, with something in it. */
async function makeFirstVersion(bytes = 1000): Promise<string> {
  const { databasePath: path } = storePaths(temporaryDirectory())
  await (await openStore({ path }, { migrations: foundation, busyTimeoutMs })).close()
  const database = new Sqlite(path)
  database.exec('create table ballast (bytes blob)')
  database.prepare('insert into ballast values (randomblob(?))').run(bytes)
  database.close()
  return path
}

const schemas = (path: string) => query(path, 'select name from kysely_migration order by name')

function query(path: string, statement: string): unknown[] {
  const database = new Sqlite(path)
  try {
    return database.prepare(statement).pluck().all()
  } finally {
    database.close()
  }
}

const files = (path: string) => readdirSync(dirname(path)).filter((name) => name.startsWith('spgw.db'))

describe('an upgrade', () => {
  it('leaves a copy of what was, whole and private, and says where', async () => {
    const path = await makeFirstVersion()
    const store = await openStore({ path }, { migrations: third, busyTimeoutMs })
    const copy = `${path}.before-v3`
    expect(store.upgrade).toEqual({ from: '0001-foundation', to: '0003-third', copy })
    await store.close()
    expect(schemas(path)).toEqual(Object.keys(third))
    expect(query(path, 'select id from second')).toEqual([3])
    expect(statSync(copy).mode & 0o777).toBe(0o600)
    expect(schemas(copy)).toEqual(['0001-foundation'])
    expect(query(copy, 'select hex(bytes) from ballast')).toEqual(query(path, 'select hex(bytes) from ballast'))
    const again = await openStore({ path }, { migrations: third, busyTimeoutMs })
    expect(again.upgrade).toBeNull()
    await again.close()
  })

  it('makes a database that can give back what is free', async () => {
    const path = await makeFirstVersion()
    const old = new Sqlite(path)
    old.pragma('auto_vacuum = none')
    old.exec('vacuum')
    expect(old.pragma('auto_vacuum', { simple: true })).toBe(0)
    old.close()
    await (await openStore({ path }, { migrations: third, busyTimeoutMs })).close()
    const database = new Sqlite(path)
    expect(database.pragma('auto_vacuum', { simple: true })).toBe(2)
    expect(database.pragma('integrity_check', { simple: true })).toBe('ok')
    database.close()
  })

  it('copies nothing where there was nothing', async () => {
    const { databasePath: path } = storePaths(temporaryDirectory())
    const store = await openStore({ path }, { migrations: third, busyTimeoutMs })
    expect(store.upgrade).toBeNull()
    await store.close()
    expect(files(path)).toEqual(['spgw.db'])
  })

  it('is one transaction: a step that fails takes those before it back', async () => {
    const path = await makeFirstVersion()
    const broken = { ...second, '0003-broken': run('insert into nowhere values (1)') }
    const refused = openStore({ path }, { migrations: broken, busyTimeoutMs })
    await expect(refused).rejects.toThrow(StoreRefused)
    await expect(refused).rejects.toThrow('migration 0003-broken failed and was undone: no such table: nowhere')
    expect(schemas(path)).toEqual(['0001-foundation'])
    expect(query(path, "select name from sqlite_master where name = 'second'")).toEqual([])
    const mended = await openStore({ path }, { migrations: third, busyTimeoutMs })
    expect(mended.schemaVersion).toBe('0003-third')
    await mended.close()
  })

  it('keeps what refers to a table that is built anew, and refuses what would refer to nothing', async () => {
    const path = await makeFirstVersion()
    const tables = 'create table parents (id integer primary key); create table children (parent references parents)'
    const made = tables.split(';').map((statement, index): [string, Migration] => [`0002-${index}`, run(statement)])
    const fill = ['insert into parents values (1)', 'insert into children values (1)']
    const rows = fill.map((statement, index): [string, Migration] => [`0003-${index}`, run(statement)])
    const before = { ...foundation, ...Object.fromEntries([...made, ...rows]) }
    await (await openStore({ path }, { migrations: before, busyTimeoutMs })).close()
    const lost = { ...before, '0004-lost': run('delete from parents') }
    await expect(openStore({ path }, { migrations: lost, busyTimeoutMs })).rejects.toThrow('rows of children refer to')
    const rebuilt = {
      ...before,
      '0004-new': run('create table parents_new (id integer primary key, name text)'),
      '0004-old': run('drop table parents'),
      '0004-renamed': run('alter table parents_new rename to parents'),
      '0004-same': run('insert into parents values (1, null)'),
    }
    const store = await openStore({ path }, { migrations: rebuilt, busyTimeoutMs })
    await store.close()
    expect(query(path, 'select parent from children')).toEqual([1])
  })

  it('keeps the last two copies', async () => {
    const path = await makeFirstVersion()
    writeFileSync(`${path}.before-vacation.png`, '')
    let known: Record<string, Migration> = foundation
    for (const version of ['0002-a', '0003-b', '0010-c', '0011-d']) {
      known = { ...known, [version]: run(`create table "${version}" (id integer)`) }
      await (await openStore({ path }, { migrations: known, busyTimeoutMs })).close()
    }
    expect(files(path)).toEqual(['spgw.db', 'spgw.db.before-v10', 'spgw.db.before-v11', 'spgw.db.before-vacation.png'])
  })
})

describe('an upgrade whose copy cannot be made', () => {
  it.skipIf(process.platform === 'win32')('is refused where there is no room for it, and leaves nothing', async () => {
    const path = await makeFirstVersion(1_000_000)
    const before = readFileSync(path)
    // In blocks of 512 bytes (of 1024 in bash), which is enough for SQLite's own files and not for the copy.
    expect((await upgradeElsewhere(path, { limit: 'ulimit -f 300;' })).said).toContain(
      'could not be created, and nothing was changed: the disk',
    )
    expect(readFileSync(path).equals(before)).toBe(true)
    expect(existsSync(`${path}.before-v2`)).toBe(false)
    expect(files(path)).toEqual(['spgw.db'])
  })
})

describe('an upgrade that the process does not live through', () => {
  it.each([
    ['migrate.after-copy', false],
    ['migrate.before-commit', false],
    ['migrate.after-commit', true],
  ])('killed at %s: the next start finishes it', async (point, done) => {
    const path = await makeFirstVersion()
    const killed = await upgradeElsewhere(path, { environment: { SPGW_FAULT_POINT: point } })
    expect([killed.signal, killed.said]).toEqual(['SIGKILL', ''])
    expect(schemas(path).includes('9999-planted')).toBe(done)
    expect(schemas(`${path}.before-v9999`)).toEqual(['0001-foundation'])
    expect((await upgradeElsewhere(path)).said).toContain('opened')
    expect(schemas(path)).toEqual([...Object.keys(migrations), '9999-planted'])
    expect(query(path, 'select length(bytes) from ballast')).toEqual([1000])
    expect(schemas(`${path}.before-v9999`)).toEqual(['0001-foundation'])
    expect(query(path, 'pragma integrity_check')).toEqual(['ok'])
  })
})

/** In a process of its own, which may be limited and may die. */
async function upgradeElsewhere(path: string, { limit = '', environment = {} } = {}) {
  const child = spawn('sh', ['-c', `${limit} exec "$@"`, 'sh', process.execPath, '-e', upgradeScript, path], {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let said = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (said += text))
  const [, signal] = (await once(child, 'close')) as [number | null, string | null]
  return { said, signal }
}

const source = (name: string) => JSON.stringify(join(import.meta.dirname, '../../../src', name))
const upgradeScript = `
const { openStore } = await import(${source('store/sqlite/open.ts')})
const { migrations } = await import(${source('store/sqlite/migrations/index.ts')})
const { armFaultPoint } = await import(${source('core/fault-point.ts')})
const { sql } = await import('kysely')
armFaultPoint(process.env, () => {}, () => process.kill(process.pid, 'SIGKILL'))
const planted = { up: (db) => sql\`create table planted (id integer)\`.execute(db) }
const path = process.argv[1]
await openStore({ path }, { migrations: { ...migrations, '9999-planted': planted }, busyTimeoutMs: 100 }).then(
  () => console.log('opened'),
  (error) => console.log(error.message),
)`
