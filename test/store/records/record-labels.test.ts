import Sqlite from 'better-sqlite3'
import { describe, expect, it } from 'vitest'
import { newId } from '../../../src/core/ids.ts'
import { noGroup, type RequestRecord } from '../../../src/core/record.ts'
import type { RecordFilter } from '../../../src/store/api.ts'
import { Ingestion } from '../../../src/store/ingest/ingest.ts'
import { recordsTable } from '../../../src/store/records/records.ts'
import { removeRecordsBefore } from '../../../src/store/records/retention.ts'
import { migrations } from '../../../src/store/sqlite/migrations/index.ts'
import { type OpenStore, openStore } from '../../../src/store/sqlite/open.ts'
import { StoreDegraded } from '../../../src/store/store-error.ts'
import { openTestStore } from '../../support/empty-database.ts'
import { encodeEntry, JournalWriter } from '../../support/journal-writer.ts'
import { sampleRecord, settled } from '../../support/sample-record.ts'
import { storePaths, temporaryDirectory } from '../support.ts'

const start = Date.parse('2026-03-01T12:00:00Z')
const minuteMs = 60_000

function at(minute: number, change: Partial<RequestRecord> = {}): RequestRecord {
  const time = start + minute * minuteMs
  return sampleRecord({ id: newId('req', time), time: new Date(time).toISOString(), ...change })
}

async function begin() {
  const data = storePaths(temporaryDirectory())
  const store = await openTestStore(data.databasePath)
  const { connection } = store
  const { journalDirectory } = data
  const ingestion = new Ingestion({
    connection,
    journalDirectory,
    audience: { ended: null, admitted: false, traffic: null, holds: null, traces: false },
  })
  const writer = new JournalWriter(journalDirectory, { boot: 'live', thread: 0, sequence: 1 }, 16 * 1024 * 1024)
  const add = async (...records: RequestRecord[]) => {
    writer.writeBytes(Buffer.concat(records.map((record) => encodeEntry(settled(record)))))
    return await ingestion.pass({ boot: 'live', running: [], next: 0 })
  }
  return { store, connection, add, list: listOf(store) }
}

function listOf({ connection }: OpenStore) {
  return async (filter: Partial<RecordFilter>) =>
    (await recordsTable(connection.db).list({ limit: 10_000, ...filter })).map(({ id }) => id)
}

const ids = (records: readonly RequestRecord[]) =>
  records
    .map(({ id }) => id)
    .sort()
    .reverse()

describe('records by what they are labelled with', () => {
  it('are found wherever they are, among any number of others', async () => {
    const { store, add, list } = await begin()
    const rare = [3, 700, 701, 2400, 2999]
    const records = Array.from({ length: 3000 }, (_, minute) =>
      at(minute, rare.includes(minute) ? { key: { id: 'key_rare', name: 'rare' }, model: `m-${minute}` } : {}),
    )
    await add(...records)
    const wanted = records.filter(({ key }) => key?.name === 'rare')
    expect(await list({ key: 'rare' })).toEqual(ids(wanted))
    expect(await list({ key: 'key_rare', limit: 2 })).toEqual(ids(wanted).slice(0, 2))
    expect(await list({ key: 'rare', before: wanted[3]?.id ?? '' })).toEqual(ids(wanted.slice(0, 3)))
    expect(await list({ key: 'rare', since: wanted[1]?.time ?? '' })).toEqual(ids(wanted.slice(1)))
    expect(await list({ key: 'rare', until: wanted[1]?.time ?? '' })).toEqual(ids(wanted.slice(0, 1)))
    expect(await list({ key: 'rare', model: 'm-701' })).toEqual([wanted[2]?.id])
    expect(await list({ key: 'rare', model: 'gpt-4o-mini' })).toEqual([])
    expect(await list({ key: 'nobody' })).toEqual([])
    const stats = await recordsTable(store.connection.db).stats({ limit: 0, key: 'rare' }, 'model')
    expect(stats.map(({ group }) => group)).toEqual(['m-2400', 'm-2999', 'm-3', 'm-700', 'm-701'])
    await store.close()
  })

  it('are found too where hundreds of labels match', async () => {
    const { store, add, list } = await begin()
    const records = Array.from({ length: 300 }, (_, index) =>
      at(index, { model: `model-${index}`, project: index % 2 === 0 ? 'web' : 'app' }),
    )
    await add(...records)
    expect(await list({ project: 'web' })).toEqual(ids(records.filter(({ project }) => project === 'web')))
    expect(await recordsTable(store.connection.db).stats({ limit: 0, project: 'app' }, 'model')).toHaveLength(150)
    await store.close()
  })

  it('tell apart what only looks alike', async () => {
    const { store, add, list } = await begin()
    const models = [null, '', 'null', 'undefined', 'a\nb', '=', '\u0000', 'é', 'e\u0301', '😀']
    const records = models.map((model, index) => at(index, { model }))
    await add(...records)
    for (const record of records)
      if (record.model !== null) expect(await list({ model: record.model })).toEqual([record.id])
    const groups = await recordsTable(store.connection.db).stats({ limit: 0 }, 'model')
    expect(groups).toHaveLength(models.length)
    await store.close()
  })

  it('are found where a label came with a transaction that was undone', async () => {
    const { store, connection, add, list } = await begin()
    const write = connection.writeHot.bind(connection)
    connection.writeHot = async (run) =>
      await write((hot) => {
        run(hot)
        throw Object.assign(new Error('full'), { code: 'SQLITE_FULL' })
      })
    const record = at(0, { model: 'new' })
    await expect(add(record)).rejects.toThrow(StoreDegraded)
    connection.writeHot = write
    expect(await add()).toBe(1)
    expect(await list({ model: 'new' })).toEqual([record.id])
    await store.close()
  })

  it('leave no label behind when their time is over, and are found when it comes again', async () => {
    const { store, connection, add, list } = await begin()
    const old = Array.from({ length: 700 }, (_, index) => at(index / 100, { model: `old-${index}` }))
    const [kept, again] = [at(500, { model: 'kept' }), at(501, { model: 'old-7' })]
    await add(...old, at(0, { model: 'kept' }), kept)
    expect(await removeRecordsBefore(connection, start + 400 * minuteMs)).toBe(701)
    const labels = await connection.db.selectFrom('record_labels').select('model').execute()
    expect(labels).toEqual([{ model: 'kept' }])
    expect(await connection.db.selectFrom('label_periods').selectAll().execute()).toHaveLength(1)
    await add(again)
    expect(await list({ model: 'old-7' })).toEqual([again.id])
    expect(await list({ model: 'kept' })).toEqual([kept.id])
    await store.close()
  })
})

describe('records of the first schema', () => {
  it('are the same after the upgrade, by every filter', async () => {
    const { databasePath: path } = storePaths(temporaryDirectory())
    const first = { '0001-foundation': migrations['0001-foundation'] ?? { up: async () => {} } }
    const records = [
      at(0, { key: null, lane: null, model: null, provider: null, project: null, environment: null, status: 404 }),
      at(1, { model: 'a' }),
      at(2, { model: 'a', provider: 'azure', state: 'interrupted', status: null }),
      at(3, { model: 'a' }),
      at(900, { model: 'a', key: { id: 'key_2', name: 'ci' } }),
    ]
    const before = await openStore({ path }, { migrations: first, busyTimeoutMs: 5000 })
    await before.close()
    insertFirst(path, records)
    const store = await openStore({ path })
    const list = listOf(store)
    expect(await recordsTable(store.connection.db).list({ limit: 10 })).toEqual(records.toReversed())
    expect(await list({ model: 'a' })).toEqual(ids(records.slice(1)))
    expect(await list({ key: 'key_2' })).toEqual(ids(records.slice(4)))
    expect(await list({ key: 'ci', provider: 'azure' })).toEqual(ids(records.slice(2, 3)))
    expect(await list({ status: '4xx' })).toEqual(ids(records.slice(0, 1)))
    expect(await list({ state: 'interrupted' })).toEqual(ids(records.slice(2, 3)))
    const stats = await recordsTable(store.connection.db).stats({ limit: 0 }, 'provider')
    expect(stats.map(({ group, requests }) => [group, requests])).toEqual([
      ['openai', 3],
      [noGroup, 1],
      ['azure', 1],
    ])
    const labels = await store.connection.db.selectFrom('record_labels').selectAll().execute()
    expect(labels).toHaveLength(4)
    await store.close()
  })
})

/** As the first version wrote them. */
function insertFirst(path: string, records: readonly RequestRecord[]): void {
  const database = new Sqlite(path)
  const insert = database.prepare(
    `insert into records (id, boot, state, time, lane, project, environment, key_id, key_name, model, provider, status, streamed, input, record_json)
     values (@id, 'first', @state, @time, @lane, @project, @environment, @keyId, @keyName, @model, @provider, @status, 0, @input, @text)`,
  )
  for (const record of records) {
    const { id, state, time, lane, project, environment, key, model, provider, status, tokens } = record
    const labels = { lane, project, environment, keyId: key?.id ?? null, keyName: key?.name ?? null, model, provider }
    insert.run({ id, state, time, status, input: tokens?.input ?? null, text: JSON.stringify(record), ...labels })
  }
  database.close()
}
