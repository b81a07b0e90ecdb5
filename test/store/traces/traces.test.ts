import { expect, it } from 'vitest'
import { Ingestion } from '../../../src/store/ingest/ingest.ts'
import { tracesTable } from '../../../src/store/traces/traces.ts'
import { openTestStore } from '../../support/empty-database.ts'
import { JournalWriter } from '../../support/journal-writer.ts'
import { admitted, sampleRecord, settled } from '../../support/sample-record.ts'
import { afterEachBatch, storePaths, temporaryDirectory } from '../support.ts'

const trace = { trace_id: 'a'.repeat(32), parent_id: 'b'.repeat(16), sampled: true, state: null }

async function open(traces: boolean) {
  const data = storePaths(temporaryDirectory())
  const store = await openTestStore(data.databasePath)
  const { connection } = store
  const audience = { ended: null, admitted: false, traffic: null, holds: null, traces }
  const pass = (running: number[] = [0]) =>
    new Ingestion({ connection, journalDirectory: data.journalDirectory, audience }).pass({
      ...{ boot: 'live', running, next: 1 },
    })
  const writer = new JournalWriter(data.journalDirectory, { boot: 'live', thread: 0, sequence: 1 })
  const waiting = async () => (await tracesTable(connection.db).take(100)).map(({ record }) => record?.id)
  return { store, connection, writer, pass, waiting, traces: tracesTable(connection.db) }
}

it('wait from the transaction that stores their record, in the order of their ends, each once', async () => {
  const { writer, pass, waiting, traces, store } = await open(true)
  const [first, second] = [sampleRecord(), sampleRecord()]
  writer.write(admitted(first), admitted(second))
  await pass()
  expect(await waiting()).toEqual([])
  writer.write(settled(second), settled(first))
  await pass()
  await pass()
  expect(await waiting()).toEqual([second.id, first.id])
  const [taken] = await traces.take(1)
  await traces.finish(taken?.sequence ?? 0)
  expect(await waiting()).toEqual([first.id])
  expect(await traces.pending()).toBe(1)
  await store.close()
})

it('wait no second time when a batch is read again because its commit failed', async () => {
  const { writer, pass, waiting, connection, store } = await open(true)
  const record = sampleRecord()
  writer.write(settled(record))
  let fails = true
  afterEachBatch(connection, () => {
    if (!fails) return
    fails = false
    throw new Error('the process ends between the commit and its note')
  })
  await pass().catch(() => {})
  await pass()
  expect(await waiting()).toEqual([record.id])
  await store.close()
})

it('are those of interrupted requests, too, but none that the client does not sample', async () => {
  const { writer, pass, waiting, store } = await open(true)
  const [interrupted, sampled, unsampled] = [
    sampleRecord(),
    sampleRecord({ trace }),
    sampleRecord({ trace: { ...trace, sampled: false } }),
  ]
  writer.write(admitted(interrupted), settled(sampled), settled(unsampled))
  await pass()
  await pass([])
  expect(new Set(await waiting())).toEqual(new Set([sampled.id, interrupted.id]))
  await store.close()
})

it('are none where nothing is exported', async () => {
  const { writer, pass, waiting, store } = await open(false)
  writer.write(settled(sampleRecord()))
  await pass()
  expect(await waiting()).toEqual([])
  await store.close()
})

it('are given up from the oldest on, and said to be gone with their record', async () => {
  const { writer, pass, waiting, traces, store, connection } = await open(true)
  const records = Array.from({ length: 5 }, () => sampleRecord())
  writer.write(...records.map(settled))
  await pass()
  expect(await traces.trim(5)).toBe(0)
  expect(await traces.trim(3)).toBe(2)
  expect(await waiting()).toEqual(records.slice(2).map(({ id }) => id))
  await connection.db
    .deleteFrom('records')
    .where('id', '=', records[2]?.id ?? '')
    .execute()
  expect((await traces.take(1))[0]?.record).toBeNull()
  expect(await traces.trim(0)).toBe(3)
  expect(await traces.pending()).toBe(0)
  await store.close()
})
