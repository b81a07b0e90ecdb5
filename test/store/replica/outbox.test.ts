import { expect, it } from 'vitest'
import { readCopied } from '../../../src/cluster/records/write-records.ts'
import { newId } from '../../../src/core/ids.ts'
import type { StoredObject } from '../../../src/core/objects/stored-object.ts'
import type { RequestRecord } from '../../../src/core/record.ts'
import { sharedChanges } from '../../../src/store/objects/object-statements.ts'
import { objectsTable } from '../../../src/store/objects/objects.ts'
import { purge } from '../../../src/store/records/purge.ts'
import { readHead } from '../../../src/store/records/record-head.ts'
import { removeRecordsBefore } from '../../../src/store/records/retention.ts'
import { Outbox } from '../../../src/store/replica/outbox.ts'
import type { OutboxStatements } from '../../../src/store/replica/outbox-statements.ts'
import { type OutboxBatch, shippedColumns } from '../../../src/store/replica/outbox-types.ts'
import type { Database } from '../../../src/store/schema.ts'
import { openStore } from '../../../src/store/sqlite/open.ts'
import { sampleRecord } from '../../support/sample-record.ts'
import { storePaths, temporaryDirectory } from '../support.ts'

async function openOutbox() {
  const { databasePath: path, journalDirectory } = storePaths(temporaryDirectory())
  const { connection } = await openStore({ path })
  const outbox = new Outbox(connection, journalDirectory, {
    ingest: async () => {},
    purge: (question) => purge(connection, question),
    audience: { ended: null, admitted: false, traffic: null, holds: null, traces: false },
  })
  const write = <Output>(run: (statements: OutboxStatements) => Output) =>
    connection.writeHot((hot) => {
      if (hot.outbox === null) throw new Error('nothing is shipped')
      return run(hot.outbox)
    })
  const store = (...records: RequestRecord[]) =>
    connection.writeHot((hot) => {
      for (const record of records) {
        const text = JSON.stringify(record)
        const head = readHead(text, 'settled')
        if (head !== null) hot.writeRecord(head, 'boot-0', text)
      }
    })
  const read = (after: number, most = 100, mostBytes = 1e6) =>
    write((each) => each.read({ after, most, mostBytes, node: 'gw-1' }))
  return { connection, outbox, write, store, read }
}

const ended = (id = newId('req')) => sampleRecord({ id, state: 'settled' })
const rowsOf = (batch: OutboxBatch | null): Record<string, string | null>[] =>
  readCopied(Buffer.from(batch?.records.copied ?? []).toString()).map(([node = null, ...row]) => ({
    node,
    ...Object.fromEntries(shippedColumns.map((name, place) => [name, row[place] ?? null])),
  }))
const idsOf = (batch: OutboxBatch | null) => batch?.records.ids

it('holds what has ended, batch by batch, in the transaction that stores it', async () => {
  const { connection, outbox, store, read } = await openOutbox()
  await outbox.begin('nod_1')
  const [first, second, third] = [ended(), ended(), ended()]
  await store(first, sampleRecord({ state: 'admitted' }))
  await store(second, third)
  const undone = connection.writeHot((hot) => {
    const text = JSON.stringify(ended())
    const head = readHead(text, 'settled')
    if (head !== null) hot.writeRecord(head, 'boot-0', text)
    throw new Error('undone')
  })
  await expect(undone).rejects.toThrow('undone')
  const all = await read(0)
  expect(idsOf(all)).toEqual([first.id, second.id, third.id])
  const row = rowsOf(all)[0] ?? {}
  const usd = String(first.cost?.usd)
  expect(row).toMatchObject({ node: 'gw-1', state: 'settled', model: first.model, key_id: first.key?.id, usd })
  expect(JSON.parse(String(row.record_json))).toMatchObject({ id: first.id })
  // A batch is never cut; at least one comes, however large.
  const begun = await read(0, 1, 1)
  expect(idsOf(begun)).toEqual([first.id])
  expect(idsOf(await read(begun?.sequence ?? 0, 1, 1))).toEqual([second.id, third.id])
  expect(await read(all?.sequence ?? 0)).toBeNull()
})

it('ships no gateway key that an earlier version has stored, neither in the record nor in what names its sums', async () => {
  const { outbox, store, read } = await openOutbox()
  await outbox.begin('nod_1')
  const key = `sp_live_${'a1'.repeat(20)}`
  await store(sampleRecord({ id: newId('req'), state: 'settled', model: key }))
  const batch = await read(0)
  expect(rowsOf(batch)[0]).toMatchObject({ model: 'sp_live_…' })
  expect(Buffer.from(batch?.records.copied ?? []).toString()).not.toContain(key)
  expect(JSON.stringify(batch?.records.sums)).not.toContain(key)
})

it("ships no vendor's key that a version before the one that hides them has stored, and searches no later record", async () => {
  const { connection, outbox, store, read } = await openOutbox()
  const key = 'sk-proj-a1b2c3d4e5f6a7b8c9d0e1f2'
  const client = { address: '127.0.0.1', user_agent: key }
  const holding = (more: Partial<RequestRecord>) => sampleRecord({ state: 'settled', client, ...more })
  connection.sqlite.prepare("update kysely_migration set timestamp = '2026-11-30T14:00:00.000Z'").run()
  await outbox.begin('nod_1')
  await store(holding({ time: '2026-11-30T13:00:00.000Z', model: key, tags: { team: key } }))
  const batch = await read(0)
  const [row] = rowsOf(batch)
  expect(row).toMatchObject({ model: 'sk-…', time: '2026-11-30T13:00:00.000Z' })
  expect(JSON.parse(String(row?.record_json))).toMatchObject({ client: { user_agent: 'sk-…' }, tags: { team: 'sk-…' } })
  expect(JSON.stringify([row, batch?.records.sums, batch?.records.tags])).not.toContain(key)
  // As it is written now it would be in no record.
  await store(holding({ time: '2026-11-30T15:00:00.000Z' }))
  expect(rowsOf(await read(batch?.sequence ?? 0))[0]?.record_json).toContain(key)
})

it('holds nothing on a gateway that ships nothing', async () => {
  const { connection, outbox, store } = await openOutbox()
  await store(ended())
  const count = () => connection.sqlite.prepare('select count(*) from outbox').pluck().get()
  expect(count()).toBe(0)
  await outbox.begin('nod_1')
  await store(ended())
  expect(count()).toBe(1)
  await outbox.begin(null)
  await store(ended())
  expect(count()).toBe(0)
})

it('brings what was stored before, newest first, after all that is new', async () => {
  const { outbox, store, read, write } = await openOutbox()
  const [old, older] = [ended(newId('req', 2000)), ended(newId('req', 1000))]
  await store(old, older)
  await outbox.begin('nod_1')
  const fresh = ended()
  await store(fresh)
  const first = await read(0)
  expect(idsOf(first)).toEqual([fresh.id])
  expect(await write((each) => each.addHistory())).toBe(true)
  const next = await read(first?.sequence ?? 0)
  // `fresh` is among what was stored by now: brought twice, which replaces it.
  expect(idsOf(next)).toEqual([fresh.id, old.id, older.id])
  expect(await write((each) => [each.addHistory(), each.addHistory()])).toEqual([false, false])
  expect(await write((each) => each.state(next?.sequence ?? 0))).toEqual({
    ...{ depth: 0, since: null, history: false, usage: 0, usageSince: null },
  })
})

it('goes on where PostgreSQL is, also where it has lost the end', async () => {
  const { outbox, store, read, write } = await openOutbox()
  await outbox.begin('nod_1')
  await store(ended())
  const first = await read(0)
  await store(ended())
  const second = await read(first?.sequence ?? 0)
  if (first === null || second === null) throw new Error('two batches')
  const { sequence, mark } = second
  await write((each) => each.settle({ sequence, mark }))
  expect(await write((each) => each.resume({ sequence, mark }))).toBe(sequence)
  // A standby that took over has only the first.
  const after = await write((each) => each.resume({ sequence: first.sequence, mark: first.mark }))
  expect(idsOf(await read(after))).toEqual(idsOf(second))
})

it('ships again, under new numbers, what may be another batch of the number that PostgreSQL has', async () => {
  const { outbox, store, read, write } = await openOutbox()
  await outbox.begin('nod_1')
  // With the machine this database lost its last changes; PostgreSQL has 1 and 2, and these are others.
  const [one, other] = [ended(), ended()]
  await store(one)
  await store(other)
  const after = await write((each) => each.resume({ sequence: 2, mark: 'of another batch' }))
  const batch = await read(after)
  expect(idsOf(batch)).toEqual([one.id, other.id])
  expect(batch?.sequence).toBeGreaterThan(2)
  await store(ended())
  expect((await read(batch?.sequence ?? 0))?.sequence).toBeGreaterThan(batch?.sequence ?? 0)
})

it('keeps records from retention until they are shipped', async () => {
  const { connection, outbox, store, read, write } = await openOutbox()
  await outbox.begin('nod_1')
  const old = sampleRecord({ id: newId('req', 1000), state: 'settled', time: new Date(1000).toISOString() })
  await store(old)
  expect(await removeRecordsBefore(connection, 100_000)).toBe(0)
  const batch = await read(0)
  if (batch === null) throw new Error('a batch')
  await write((each) => each.settle(batch))
  expect(await removeRecordsBefore(connection, 100_000)).toBe(1)
})

const object: StoredObject = {
  ...{ type: 'file', id: 'file-1', providerId: 'prv_1', credentialId: null, projectId: 'prj_1' },
  ...{
    environmentId: 'env_1',
    keyId: 'key_1',
    requestId: 'req_1',
    createdAt: '2026-11-26T12:00:00.000Z',
    batchId: null,
  },
}

it('ships what objects and reasoning stood there before, then the records; and what is made, in its order', async () => {
  const { connection, outbox, write, store, read } = await openOutbox()
  const objects = (db: Database) => objectsTable(db)
  await connection.write((db) => objects(db).insert(object))
  await connection.writeHot((hot) =>
    hot.reasoning.store({ kind: 'reasoning', requestId: 'req_1', name: 'n', expiresAt: 9, sealed: 's' }),
  )
  const before = ended()
  await store(before)
  await outbox.begin('nod_1')
  expect(await read(0)).toBeNull()
  while (await write((each) => each.addObjectHistory()));
  const history = await read(0)
  expect(history).toMatchObject({
    records: { ids: [], copied: new Uint8Array(), sums: [], tags: [] },
    changes: [
      { kind: 'made', object },
      { kind: 'reasoning', name: 'n', expiresAt: 9, sealed: 's' },
    ],
  })
  expect(await write((each) => each.addHistory())).toBe(true)
  expect(idsOf(await read(history?.sequence ?? 0))).toEqual([before.id])
  await connection.write((db) => objects(db).remove(object))
  await connection.write((db) => objects(db).insert(object))
  const all = await read(history?.sequence ?? 0)
  expect(all?.changes).toMatchObject([{ kind: 'forgotten', id: 'file-1' }, { kind: 'made' }])
})

it('says of what was deleted that it was made before, though by a clock that is ahead', async () => {
  const { connection, outbox, read } = await openOutbox()
  await outbox.begin('nod_1')
  const { type, id, requestId: _, createdAt: __, batchId: ___, ...owner } = object
  const ahead = new Date(Date.now() + 3_600_000).toISOString()
  const long = '2026-01-01T00:00:00.000Z'
  const changes = [ahead, long, undefined].flatMap((createdAt) =>
    sharedChanges({
      ...{ kind: 'objects', requestId: 'req_1', time: long, owner: { ...owner, keyId: 'key_1' }, made: [] },
      forgotten: [createdAt === undefined ? { type, id } : { type, id, createdAt }],
    }),
  )
  await connection.write((db) => objectsTable(db).remove({ ...object, createdAt: ahead }))
  const all = [...changes, ...((await read(0))?.changes ?? [])]
  const untils = all.map((change) => (change.kind === 'forgotten' ? change.until : ''))
  expect(untils.map((until) => until === ahead)).toEqual([true, false, false, true])
  for (const until of untils) expect(Date.parse(until)).toBeGreaterThan(Date.now() - 60_000)
})

it('forgets what others have forgotten, and not what was made later', async () => {
  const { connection } = await openOutbox()
  const find = () => connection.readHot((hot) => hot.objects.find('{"file":["file-1"]}'))
  await connection.write((db) => objectsTable(db).insert(object))
  const forget = (until: string) => connection.writeHot((hot) => hot.objects.forget({ ...object, until }))
  await forget('2026-11-26T11:00:00.000Z')
  expect(await find()).toEqual([object])
  await forget('2026-11-26T12:00:01.000Z')
  expect(await find()).toEqual([])
})
