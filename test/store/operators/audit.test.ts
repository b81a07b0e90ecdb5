import Sqlite from 'better-sqlite3'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { newId } from '../../../src/core/ids.ts'
import type { AuditLine, StoreClient } from '../../../src/store/api.ts'
import { ChainWalk, hashLine } from '../../../src/store/operators/audit-chain.ts'
import type { AuditRow } from '../../../src/store/schema.ts'
import { migrations } from '../../../src/store/sqlite/migrations/index.ts'
import { openStore } from '../../../src/store/sqlite/open.ts'
import {
  addScope,
  now,
  sampleKey,
  samplePolicy,
  sampleProvider,
  sampleRoute,
  startTestStore,
  storePaths,
  temporaryDirectory,
} from '../support.ts'

const line = (change: Partial<AuditLine> = {}): AuditLine => ({
  actor: 'anna',
  actorId: 'opr_1',
  surface: 'console',
  address: '192.0.2.7',
  operation: 'workspace.rename',
  resource: { kind: 'workspace', id: 'workspace', name: 'a' },
  before: { b: 1, a: 2 },
  after: undefined,
  ...change,
})

async function startWithLines(count: number) {
  const data = storePaths(temporaryDirectory())
  const store = await startTestStore(data)
  for (let index = 0; index < count; index++) await store.audited(line({ after: { index } })).audit.note()
  return { data, store }
}

/** As somebody with the file and a shell could: the triggers are in the way of mistakes, not of him. */
function tamper(path: string, statement: string): void {
  const database = new Sqlite(path)
  const triggers = database.prepare("select name from sqlite_master where type = 'trigger' and tbl_name = 'audit'")
  for (const name of triggers.pluck().all()) database.exec(`drop trigger ${String(name)}`)
  database.exec(statement)
  database.close()
}

describe('the audit', () => {
  it('keeps who, from where, and of which line it is the next', async () => {
    const { store } = await startWithLines(2)
    const [second, first] = await store.audit.list({ limit: 9 })
    expect(second).toMatchObject({
      sequence: 2,
      actor: 'anna',
      actorId: 'opr_1',
      address: '192.0.2.7',
      projectId: null,
    })
    expect(second?.previousHash).toBe(first?.hash)
    expect(await store.audit.get(first?.id ?? '')).toEqual(first)
    expect(await store.audit.get('aud_nowhere')).toBeNull()
    expect(await store.audit.verify(null)).toEqual({
      lines: 2,
      head: { sequence: 2, id: second?.id, time: second?.time, hash: second?.hash },
      flaw: null,
      noted: null,
    })
  })

  it('refuses in the database itself what would change, cut, replace or fork it', async () => {
    const { store, data } = await startWithLines(3)
    await store.close()
    const database = new Sqlite(data.databasePath)
    const row = (sequence: number, hash: string, previous: string) =>
      `into audit values (${sequence}, 'aud_x', '${now}', 'a', 'cli', 'o', 'k', 'i', 'n', 'null', 'null', '${previous}', '${hash}', 2, null, null, null)`
    const head = String(database.prepare('select hash from audit order by sequence desc').pluck().get())
    for (const statement of [
      "update audit set actor = 'nobody'",
      'delete from audit',
      `insert or replace ${row(2, 'new', head)}`,
      `insert or replace ${row(3, 'new', head)}`,
      `insert ${row(4, 'new', 'elsewhere')}`,
      `insert or replace ${row(4, head, head)}`,
    ])
      expect(() => database.exec(statement), statement).toThrow('append-only')
    database.exec(`insert ${row(4, 'new', head)}`)
    database.close()
  })

  it('finds what was altered, removed or cut in the database, and what was noted elsewhere', async () => {
    const { store, data } = await startWithLines(5)
    const [head] = await store.audit.list({ limit: 1 })
    const noted = head?.hash ?? ''
    expect((await store.audit.verify(noted)).noted).toMatchObject({ sequence: 5 })
    expect((await store.audit.verify('f'.repeat(64))).noted).toBe('missing')
    tamper(data.databasePath, "update audit set actor = 'nobody' where sequence = 3")
    const altered = await store.audit.verify(noted)
    expect(altered).toMatchObject({ lines: 5, flaw: { sequence: 3, reason: 'it was changed' } })
    expect(altered.noted).toBe('missing')
    tamper(data.databasePath, "update audit set actor = 'anna' where sequence = 3")
    expect((await store.audit.verify(null)).flaw).toBeNull()
    tamper(data.databasePath, 'delete from audit where sequence = 5')
    expect((await store.audit.verify(null)).flaw).toMatchObject({
      sequence: 4,
      reason: expect.stringContaining('missing'),
    })
    // Whoever knows where SQLite keeps its number leaves nothing but the noted hash to find it by.
    tamper(data.databasePath, "update sqlite_sequence set seq = 4 where name = 'audit'")
    expect(await store.audit.verify(noted)).toMatchObject({ lines: 4, flaw: null, noted: 'missing' })
    tamper(data.databasePath, 'delete from audit')
    tamper(data.databasePath, "update sqlite_sequence set seq = 0 where name = 'audit'")
    expect(await store.audit.verify(null)).toEqual({ lines: 0, head: null, flaw: null, noted: null })
  })

  it('lists by who, where, what, and page by page', async () => {
    const { store } = await startWithLines(1)
    await store.audited(line({ actor: 'ci', actorId: 'tok_1', surface: 'api', operation: 'keys.revoke' })).audit.note()
    await store
      .audited(line({ operation: 'keys.create', resource: { kind: 'key', id: 'key_1', name: 'web' } }))
      .audit.note()
    const numbers = async (filter: object) =>
      (await store.audit.list({ limit: 9, ...filter })).map((one) => one.sequence)
    expect(await numbers({})).toEqual([3, 2, 1])
    expect(await numbers({ oldestFirst: true, after: 1 })).toEqual([2, 3])
    expect(await numbers({ actor: 'ci' })).toEqual([2])
    expect(await numbers({ actor: 'opr_1' })).toEqual([3, 1])
    expect(await numbers({ surface: 'api' })).toEqual([2])
    expect(await numbers({ operation: 'keys' })).toEqual([3, 2])
    expect(await numbers({ operation: 'keys.create' })).toEqual([3])
    expect(await numbers({ resource: 'web' })).toEqual([3])
    const [newest] = await store.audit.list({ limit: 1 })
    expect(await numbers({ before: newest?.id })).toEqual([2, 1])
    expect(await numbers({ before: 'aud_nowhere' })).toEqual([])
    expect(await numbers({ projects: [] })).toEqual([])
  })
})

describe("a line's project", () => {
  const about = (kind: string, { id }: { id: string }) => line({ resource: { kind, id, name: 'x' } })

  async function lastProject(store: StoreClient): Promise<string | null | undefined> {
    return (await store.audit.list({ limit: 1 }))[0]?.projectId
  }

  it('is that of what it is about, also when that is made or removed by it', async () => {
    const store = await startTestStore(storePaths(temporaryDirectory()))
    const { project, environment } = await addScope(store)
    const provider = sampleProvider()
    await store.audited(about('provider', provider)).providers.insert(provider, provider.revision)
    expect(await lastProject(store)).toBeNull()
    const route = sampleRoute(project.id, provider.id)
    await store.audited(about('route', route)).routes.insert(route)
    expect(await lastProject(store)).toBe(project.id)
    const key = sampleKey({ projectId: project.id, environmentId: environment.id })
    await store.audited(about('key', key)).keys.insert(key)
    await store.audited(about('key', key)).keys.remove(key.id)
    expect(await lastProject(store)).toBe(project.id)
    await store.audited(about('environment', environment)).environments.update(environment.id, { name: 'staging' })
    expect(await lastProject(store)).toBe(project.id)
    const lines = await store.audit.list({ projects: [project.id], limit: 9 })
    expect(lines.map(({ resource }) => resource.kind)).toEqual(['environment', 'key', 'key', 'route'])
  })

  it('is for a policy the one that it holds for, if it is one', async () => {
    const store = await startTestStore(storePaths(temporaryDirectory()))
    const { project, environment } = await addScope(store)
    const other = await store.projects.insert({ id: newId('prj'), name: 'other', createdAt: now })
    for (const [attachedTo, expected] of [
      [{ workspace: false, ids: [environment.id] }, project.id],
      [{ workspace: false, ids: [environment.id, other.id] }, null],
      [{ workspace: true, ids: [project.id] }, null],
      [{ workspace: false, ids: [] }, null],
    ] as const) {
      const policy = samplePolicy({
        id: newId('pol'),
        name: newId('pol'),
        attachedTo: { ...attachedTo, ids: [...attachedTo.ids] },
      })
      await store.audited(about('policy', policy)).policies.insert(policy)
      expect(await lastProject(store)).toBe(expected)
    }
  })
})

/** Rows of the form and the columns of before, or of today. */
function makeChain(contents: readonly { actor: string; after: unknown }[], form: 1 | 2): AuditRow[] {
  const rows: AuditRow[] = []
  for (const [index, { actor, after }] of contents.entries()) {
    const row = {
      sequence: index + 1,
      id: newId('aud'),
      time: new Date(Date.UTC(2026, 0, 1, 0, 0, index)).toISOString(),
      actor,
      surface: 'cli',
      operation: 'keys.edit',
      resource_kind: 'key',
      resource_id: 'key_1',
      resource_name: 'ci',
      before_json: 'null',
      after_json: JSON.stringify(after),
      previous_hash: rows.at(-1)?.hash ?? '',
      form,
      actor_id: form === 1 ? null : 'opr_1',
      address: null,
      project_id: form === 1 ? null : 'prj_1',
    }
    rows.push({ ...row, hash: hashLine(row) })
  }
  return rows
}

function walkThrough(rows: readonly AuditRow[], written = rows.length, noted: string | null = null) {
  const walk = new ChainWalk(noted)
  for (const row of rows) walk.pass(row)
  return walk.end(written)
}

describe('a database of before', () => {
  it('keeps its lines and their hashes, and goes on from there', async () => {
    const data = storePaths(temporaryDirectory())
    const { '0001-foundation': first, '0002-record-labels': second } = migrations
    if (first === undefined || second === undefined) throw new Error('the first migrations are gone')
    const before = { '0001-foundation': first, '0002-record-labels': second }
    await (await openStore({ path: data.databasePath }, { migrations: before, busyTimeoutMs: 5000 })).close()
    const database = new Sqlite(data.databasePath)
    const old = makeChain(
      [
        { actor: 'local owner', after: { b: 1, a: [2] } },
        { actor: 'gateway', after: null },
      ],
      1,
    )
    const columns = Object.keys(old[0] ?? {}).filter(
      (name) => !['form', 'actor_id', 'address', 'project_id'].includes(name),
    )
    const insert = database.prepare(`insert into audit (${columns}) values (${columns.map((name) => `@${name}`)})`)
    for (const row of old) insert.run(row)
    database.close()
    const store = await startTestStore(data)
    expect(await store.audit.verify(old[1]?.hash ?? '')).toMatchObject({ lines: 2, flaw: null, noted: { sequence: 2 } })
    await store.audited(line()).audit.note()
    expect(await store.audit.verify(null)).toMatchObject({ lines: 3, flaw: null })
    expect((await store.audit.list({ limit: 1 }))[0]).toMatchObject({ sequence: 3, previousHash: old[1]?.hash })
    tamper(data.databasePath, "update audit set actor = 'nobody' where sequence = 1")
    expect((await store.audit.verify(null)).flaw).toMatchObject({ sequence: 1 })
  })
})

describe('the chain', () => {
  const contents = fc.array(fc.record({ actor: fc.string(), after: fc.jsonValue() }), { minLength: 2, maxLength: 8 })
  const chain = fc
    .tuple(contents, fc.constantFrom(1 as const, 2 as const))
    .map(([lines, form]) => makeChain(lines, form))
  const columns = [
    'sequence',
    'id',
    'time',
    'actor',
    'surface',
    'operation',
    'resource_kind',
    'resource_id',
    'resource_name',
    'before_json',
    'after_json',
    'previous_hash',
    'hash',
  ] as const
  const place = fc.nat()

  it('is right as it was written', () => {
    fc.assert(fc.property(chain, (rows) => walkThrough(rows).flaw === null && walkThrough(rows).lines === rows.length))
  })

  it('shows any column of any line that was altered, at that line', () => {
    fc.assert(
      fc.property(chain, place, fc.constantFrom(...columns), (rows, at, column) => {
        const index = at % rows.length
        const altered = rows.map((row, other) => {
          if (other !== index) return row
          if (column === 'sequence') return { ...row, sequence: row.sequence + 100 }
          return { ...row, [column]: column.endsWith('_json') ? JSON.stringify([row[column]]) : `${row[column]}x` }
        })
        expect(walkThrough(altered).flaw?.reason).toBeDefined()
        expect(walkThrough(altered).flaw?.id).toBe(altered[index]?.id)
      }),
    )
  })

  it('shows what only the second form covers', () => {
    for (const column of ['actor_id', 'address', 'project_id'] as const) {
      const [first, ...others] = makeChain(
        [
          { actor: 'a', after: 1 },
          { actor: 'b', after: 2 },
        ],
        2,
      )
      if (first === undefined) throw new Error('no line')
      expect(walkThrough([{ ...first, [column]: 'other' }, ...others]).flaw, column).toMatchObject({ sequence: 1 })
      expect(walkThrough([{ ...first, form: 1 }, ...others]).flaw).toMatchObject({ sequence: 1 })
    }
  })

  it('shows a line that was removed, put elsewhere or put in', () => {
    fc.assert(
      fc.property(chain, place, place, (rows, from, to) => {
        const [one, other] = [from % rows.length, to % rows.length]
        expect(walkThrough(rows.toSpliced(one, 1), rows.length).flaw).not.toBeNull()
        const moved = rows.toSpliced(one, 1).toSpliced(other, 0, ...rows.slice(one, one + 1))
        if (one !== other) expect(walkThrough(moved).flaw).not.toBeNull()
        expect(walkThrough(rows.toSpliced(other, 0, ...rows.slice(one, one + 1)), rows.length + 1).flaw).not.toBeNull()
      }),
    )
  })

  it('shows an alteration whose hash was made anew at the next line, and at the last by what was noted', () => {
    fc.assert(
      fc.property(chain, place, (rows, at) => {
        const index = at % rows.length
        const forged = rows.map((row, other) => {
          if (other !== index) return row
          const changed = { ...row, actor: `${row.actor}x` }
          return { ...changed, hash: hashLine(changed) }
        })
        const noted = rows.at(-1)?.hash ?? ''
        const verdict = walkThrough(forged, rows.length, noted)
        expect(verdict.noted).toBe('missing')
        expect(verdict.flaw?.sequence).toBe(index === rows.length - 1 ? undefined : index + 2)
      }),
    )
  })
})
