import { once } from 'node:events'
import { MessageChannel } from 'node:worker_threads'
import fc from 'fast-check'
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import type { ObjectsEntry } from '../../../src/core/journal-format.ts'
import type { ObjectQuestion, ObjectReply } from '../../../src/core/objects/object-question.ts'
import type { ObjectName, ObjectScope, ObjectType, StoredObject } from '../../../src/core/objects/stored-object.ts'
import type { StoreClient } from '../../../src/store/api.ts'
import { toObjectRow } from '../../../src/store/objects/object-rows.ts'
import { removeOld } from '../../../src/store/records/retention.ts'
import type { ObjectRow } from '../../../src/store/schema.ts'
import { openTestStore } from '../../support/empty-database.ts'
import { JournalWriter } from '../../support/journal-writer.ts'
import {
  addScope,
  ingestJournal,
  now,
  sampleProvider,
  startTestStore,
  storePaths,
  temporaryDirectory,
} from '../support.ts'

const segment = { boot: 'live', thread: 0, sequence: 0 }
const file: ObjectName = { type: 'file', id: 'file-1' }

function entry(change: Partial<ObjectsEntry['owner']> = {}, more: Partial<ObjectsEntry> = {}): ObjectsEntry {
  const owner = {
    projectId: 'prj_a',
    environmentId: 'env_a',
    keyId: 'key_a',
    providerId: 'prv_1',
    credentialId: 'cre_1',
  }
  return {
    kind: 'objects',
    requestId: 'req_1',
    time: now,
    owner: { ...owner, ...change },
    made: [file],
    forgotten: [],
    ...more,
  }
}

async function find(store: StoreClient, names: ObjectName[], scope: ObjectScope): Promise<ObjectReply> {
  const ids = Map.groupBy(names, ({ type }) => type)
  const byType = [...ids].map(([type, same]) => [type, same.map(({ id }) => id)])
  const asker = { ...scope, keyId: 'key_a' }
  return await ask(store, {
    id: 1,
    kind: 'find',
    names: JSON.stringify(Object.fromEntries(byType)),
    count: names.length,
    scope: asker,
    fresh: true,
  })
}

/** Asks as a data-plane thread does. */
async function ask(store: StoreClient, question: ObjectQuestion): Promise<ObjectReply> {
  const { port1, port2 } = new MessageChannel()
  store.serveObjects(port2)
  port1.postMessage(question)
  try {
    for (;;) {
      const [reply] = (await once(port1, 'message')) as [ObjectReply]
      if (reply.kind !== 'begun') return reply
    }
  } finally {
    port1.close()
  }
}

const place = { providerId: 'prv_1', credentialId: 'cre_1' }
const unmade = { keyId: null, requestId: null, batchId: null }
const scopeA = { projectId: 'prj_a', environmentId: 'env_a' }

describe('the index of objects', () => {
  it('knows what was journaled a moment ago, and how many there are where', async () => {
    const data = storePaths(temporaryDirectory())
    const store = await startTestStore(data)
    new JournalWriter(data.journalDirectory, segment).write(entry({ credentialId: null }))
    const reply = await find(store, [file], scopeA)
    expect(reply).toEqual({
      id: 1,
      kind: 'found',
      objects: [
        {
          ...file,
          ...scopeA,
          providerId: 'prv_1',
          credentialId: null,
          keyId: 'key_a',
          requestId: 'req_1',
          createdAt: now,
          batchId: null,
        },
      ],
    })
    const places = await ask(store, { id: 7, kind: 'places', type: 'file', scope: { ...scopeA, keyId: 'key_a' } })
    expect(places).toEqual({
      id: 7,
      kind: 'places',
      places: [{ providerId: 'prv_1', credentialId: null, count: 1 }],
    })
  })

  it('says what is unknown, and shows to whom a name belongs', async () => {
    const data = storePaths(temporaryDirectory())
    const store = await startTestStore(data)
    new JournalWriter(data.journalDirectory, segment).write(entry())
    expect(await find(store, [{ type: 'file', id: 'file-2' }], scopeA)).toMatchObject({ kind: 'found', objects: [] })
    expect(await find(store, [{ type: 'batch', id: 'file-1' }], scopeA)).toMatchObject({ kind: 'found', objects: [] })
    const other = await find(store, [file], { projectId: 'prj_b', environmentId: 'env_b' })
    expect(other).toMatchObject({ objects: [{ projectId: 'prj_a' }] })
  })

  it('loses what an environment or a provider has when that is removed, and keeps the rest', async () => {
    const data = storePaths(temporaryDirectory())
    const store = await startTestStore(data)
    const { project, environment } = await addScope(store)
    const provider = sampleProvider()
    await store.providers.insert(provider, provider.revision)
    const scope = { projectId: project.id, environmentId: environment.id }
    new JournalWriter(data.journalDirectory, segment).write(
      entry({ ...scope, providerId: 'prv_x' }),
      entry({ providerId: provider.id }, { made: [{ type: 'batch', id: 'batch-1' }] }),
      entry({ providerId: 'prv_x' }, { made: [{ type: 'voice', id: 'voice-1' }] }),
    )
    await store.ingest()
    expect(await store.objects.list({ limit: 10 })).toHaveLength(3)
    await store.projects.remove(project.id)
    await store.providers.remove(provider.id)
    expect(await store.objects.list({ limit: 10 })).toMatchObject([{ type: 'voice' }])
  })

  it('forgets answers that were stored long ago, and nothing else', async () => {
    const { databasePath } = storePaths(temporaryDirectory())
    const { connection, close } = await openTestStore(databasePath)
    const object = (type: ObjectType, createdAt: string): ObjectRow =>
      toObjectRow({ type, id: `${type} ${createdAt}`, ...scopeA, ...place, ...unmade, createdAt })
    const [old, young] = ['2026-01-01T00:00:00.000Z', '2026-03-01T00:00:00.000Z']
    const many = Array.from({ length: 1200 }, (_, index) => ({ ...object('response', old), id: `resp_${index}` }))
    const rows = [
      object('file', old),
      object('response', young),
      object('item', old),
      object('session_handle', old),
      ...many,
    ]
    await connection.write((db) => db.insertInto('objects').values(rows).execute())
    const marks = [
      ['response', old],
      ['response', young],
      ['batch', old],
      ['eval_run', old],
    ]
    for (const [index, [type, time]] of marks.entries())
      await sql`insert into counted_batches values (${index}, 'prv_1', 'cre_1', 'req_1', ${time}, ${type})`.execute(
        connection.db,
      )
    const records = { recordsMs: 30 * 86_400_000, bodiesMs: 0 }
    await removeOld(connection, Date.parse('2026-03-02T00:00:00.000Z'), records)
    const left = await connection.db.selectFrom('objects').select(['type', 'created_at']).execute()
    expect(left).toEqual([
      { type: 'file', created_at: old },
      { type: 'response', created_at: young },
    ])
    const kept = await sql<{ type: string; counted_at: string }>`select * from counted_batches`.execute(connection.db)
    expect(kept.rows.map(({ type, counted_at }) => [type, counted_at])).toEqual(marks.slice(1))
    await close()
  })

  it('keeps what a batch’s file names for as long as the file, and of the call that made it', async () => {
    const data = storePaths(temporaryDirectory())
    const store = await startTestStore(data)
    const writer = new JournalWriter(data.journalDirectory, segment)
    const input = { lines: 1, models: ['gpt-1'], objects: [], unread: null }
    const tell = (requestId: string, model: string) =>
      writer.write(entry({}, { requestId, made: [{ ...file, input: { ...input, models: [model] } }] }))
    const asker = { ...scopeA, keyId: 'key_a' }
    const question = { id: 3, kind: 'input', fileId: file.id, place, scope: asker } as const
    tell('req_1', 'gpt-1')
    tell('req_2', 'gpt-2')
    await store.ingest()
    expect(await ask(store, question)).toEqual({ id: 3, kind: 'input', input, adopted: false })
    writer.write(entry({}, { made: [], forgotten: [file] }))
    await store.ingest()
    expect(await ask(store, question)).toMatchObject({ input: null })
    await store.objects.insert({ ...file, ...scopeA, ...place, ...unmade, createdAt: now })
    expect(await ask(store, question)).toEqual({ id: 3, kind: 'input', input: null, adopted: true })
  })

  it('is told by operators too: no object is given to two, and one that is forgotten may be', async () => {
    const store = await startTestStore(storePaths(temporaryDirectory()))
    const adopted: StoredObject = {
      ...file,
      ...scopeA,
      providerId: 'prv_1',
      credentialId: 'cre_1',
      ...unmade,
      createdAt: now,
    }
    await store.objects.insert(adopted)
    const other = { ...adopted, projectId: 'prj_b' }
    await expect(store.objects.insert(other)).rejects.toThrow('file file-1 already has an owner')
    await store.objects.remove(adopted)
    await store.objects.insert(other)
    expect(await store.objects.list({ id: 'file-1', limit: 10 })).toEqual([other])
  })
})

const names: ObjectName[] = [file, { type: 'file', id: 'file-2' }, { type: 'batch', id: 'file-1' }]
const changes = fc.array(
  fc.record({
    scope: fc.constantFrom('a', 'b'),
    providerId: fc.constantFrom('prv_1', 'prv_2'),
    credentialId: fc.constantFrom('cre_1', 'cre_2', null),
    name: fc.constantFrom(...names),
    forget: fc.boolean(),
  }),
  { minLength: 1, maxLength: 30 },
)

describe('what is journaled of objects', () => {
  it('makes the first owner the owner, and is forgotten by nobody else, however often it is read', async () => {
    await fc.assert(
      fc.asyncProperty(changes, fc.integer({ min: 1, max: 5 }), async (steps, batch) => {
        const data = storePaths(temporaryDirectory())
        const store = await openTestStore(data.databasePath)
        const expected = new Map<string, string>()
        const writer = new JournalWriter(data.journalDirectory, segment)
        for (const { scope, name, forget, ...place } of steps) {
          const owner = { ...place, projectId: `prj_${scope}`, environmentId: `env_${scope}` }
          writer.write(entry(owner, forget ? { made: [], forgotten: [name] } : { made: [name] }))
          const key = JSON.stringify([name.type, name.id, place.providerId, place.credentialId])
          if (!forget) expected.set(key, expected.get(key) ?? scope)
          else if (expected.get(key) === scope) expected.delete(key)
        }
        const writers = { boot: 'live', running: [0], next: 1 }
        const limits = { bytes: 64 * 1024, entries: batch }
        const pass = () => ingestJournal({ ...data, connection: store.connection, writers, batch: limits })
        await pass()
        const rows = await store.connection.db.selectFrom('objects').selectAll().execute()
        const found = rows.map((row) => [
          JSON.stringify([row.type, row.id, row.provider_id, row.credential_id || null]),
          row.project_id.slice(-1),
        ])
        await store.close()
        expect(new Map(found as [string, string][])).toEqual(expected)
      }),
      { numRuns: 20 },
    )
  })
})
