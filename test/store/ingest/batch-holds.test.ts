import { afterEach, expect, it } from 'vitest'
import { newId } from '../../../src/core/ids.ts'
import type { BatchHeldEntry, BatchUsageEntry, JournalEntry, SettledHold } from '../../../src/core/journal-format.ts'
import { chargeUnread } from '../../../src/store/ingest/unread-batches.ts'
import { spendTable } from '../../../src/store/records/spend.ts'
import { type OpenStore, openStore } from '../../../src/store/sqlite/open.ts'
import { JournalWriter } from '../../support/journal-writer.ts'
import { sampleRecord } from '../../support/sample-record.ts'
import { ingestJournal, storePaths, temporaryDirectory } from '../support.ts'

let store: OpenStore
afterEach(() => store.close())

const time = '2026-11-23T10:00:00.000Z'
const counter = 'pol_1 workspace usd month'
const tokens = { input: 400, output: 600, cache_read: 0, cache_write: 0, reasoning: 0, source: 'estimated' } as const
const owner = { projectId: 'prj_1', environmentId: 'env_1', keyId: 'key_1', providerId: 'prv_1', credentialId: null }
const made = { lane: 'openai', provider: 'openai', requestId: 'req_1', time, owner } as const

const held = (batchId: string, amount = 500): BatchHeldEntry => ({
  ...{ ...made, kind: 'batch-held', batchId, model: 'gpt', hold: [[counter, '2026-11', amount]], tokens },
})
const used = (batchId: string, more: Partial<BatchUsageEntry> = {}): BatchUsageEntry => ({
  ...{ ...made, kind: 'batch-usage', batchId, sums: [], ...more },
})
const sum = (usd: number) => ({
  ...{ id: newId('req'), model: 'gpt', lines: 1, tokens: { ...tokens, source: 'reported' as const } },
  cost: { usd, price_version: 'v' },
})

async function ingest(...entries: JournalEntry[]) {
  const data = storePaths(temporaryDirectory())
  store = await openStore({ path: data.databasePath })
  const writer = new JournalWriter(data.journalDirectory, { boot: 'live', thread: 0, sequence: 1 })
  writer.write(...entries)
  const options = { connection: store.connection, journalDirectory: data.journalDirectory }
  await ingestJournal({ ...options, writers: { boot: 'live', running: [], next: 5 } })
  return await spent()
}

async function spent() {
  const { used, held } = await spendTable(store.connection.db).list(['2026-11'])
  return { used, held }
}

async function charge(at: string): Promise<SettledHold[]> {
  const told: SettledHold[] = []
  const audience = {
    ended: null,
    admitted: false,
    traffic: null,
    traces: false,
    holds: (some: SettledHold[]) => void told.push(...some),
  }
  await chargeUnread(store.connection, Date.parse(at), audience)
  return told
}

it('is kept until the usage of the batch is booked, in the period in which it was made', async () => {
  expect(await ingest(held('batch_1'), held('batch_2'))).toEqual({
    used: [],
    held: [
      [counter, '2026-11', 500],
      [counter, '2026-11', 500],
    ],
  })
})

it('is replaced by what the results came to, once', async () => {
  const sums = [sum(120e-9), sum(30e-9)]
  expect(await ingest(held('batch_1'), used('batch_1', { sums }), used('batch_1', { sums }))).toEqual({
    used: [[counter, '2026-11', 150]],
    held: [],
  })
})

it('is held for each later step besides, and replaced once', async () => {
  const step = (input: number, period: string): BatchHeldEntry => ({
    ...{ ...held('run_1'), requestId: 'req_2', step: { input }, hold: [[counter, period, 70]] },
  })
  expect(await ingest(held('run_1'), step(900, '2026-11'), step(950, '2026-12'))).toEqual({
    used: [],
    held: [500, 70].map((amount) => [counter, '2026-11', amount]),
  })
  const place = { batchId: 'run_1', ...owner }
  const found = await store.connection.readHot((hot) => hot.holds.find(place))
  expect(JSON.parse(found ?? '')).toMatchObject({ requestId: 'req_2', step: { input: 950 } })
  await store.close()
  const sums = [sum(120e-9)]
  // What is told of a step after the end holds nothing.
  const all = [held('run_1'), step(900, '2026-11'), used('run_1', { sums }), step(950, '2026-11')]
  expect(await ingest(...all)).toEqual({ used: [[counter, '2026-11', 120]], held: [] })
  await store.close()
  await ingest(held('run_1'), step(900, '2026-11'))
  const charged = await charge('2026-12-26T00:00:00.000Z')
  expect(charged.map(({ held, actual }) => [held, actual])).toEqual([
    [500, 570],
    [70, 0],
  ])
})

it('is let go where the batch has used nothing, and kept where its results are still to be read', async () => {
  expect(await ingest(held('batch_1'), used('batch_1'))).toEqual({ used: [], held: [] })
  await store.close()
  expect(await ingest(held('batch_1'), used('batch_1', { unread: true }))).toEqual({
    used: [],
    held: [[counter, '2026-11', 500]],
  })
})

it('is no request’s any more, should that one be interrupted', async () => {
  const record = sampleRecord({ id: 'req_1', state: 'admitted' })
  const hold = [[counter, '2026-11', 500]] as const
  expect(await ingest({ kind: 'admitted', hold, record }, held('batch_1'))).toEqual({
    used: [],
    held: [[counter, '2026-11', 500]],
  })
})

it('is charged 30 days after the end, with a record that says so, and never again', async () => {
  await ingest(held('batch_1'), used('batch_1', { unread: true, time: '2026-11-23T20:00:00.000Z' }), held('batch_2'))
  expect(await charge('2026-12-23T19:59:00.000Z')).toEqual([])
  expect(await charge('2026-12-23T20:01:00.000Z')).toEqual([{ counter, period: '2026-11', held: 500, actual: 500 }])
  // Nobody has asked how the other stands: its end is taken for as late as it may be.
  expect(await charge('2026-12-24T10:59:00.000Z')).toEqual([])
  expect(await charge('2026-12-24T11:01:00.000Z')).toHaveLength(1)
  expect(await spent()).toEqual({ used: [[counter, '2026-11', 1000]], held: [] })
  const rows = await store.connection.db.selectFrom('records').select('record_json').execute()
  expect(rows.map(({ record_json }) => JSON.parse(record_json))).toMatchObject(
    ['batch_1', 'batch_2'].map((batch) => ({
      ...{ operation: 'batches.results', model: 'gpt', cost: { usd: 500e-9, price_version: 'hold' } },
      routing_signals: [{ rule: 'batch', data: { batch, request: 'req_1' } }],
    })),
  )
})

it('is let go where what it used was told before, and that is booked by the counters of its key', async () => {
  const told: SettledHold[] = []
  const counters = [[counter, '2026-12']] as const
  const data = storePaths(temporaryDirectory())
  store = await openStore({ path: data.databasePath })
  const writer = new JournalWriter(data.journalDirectory, { boot: 'live', thread: 0, sequence: 1 })
  const work = { type: 'thread_run' } as const
  writer.write(used('run_1', { ...work, sums: [sum(120e-9)], counters }), { ...held('run_1'), ...work })
  const options = { connection: store.connection, journalDirectory: data.journalDirectory }
  const onHolds = (some: SettledHold[]) => void told.push(...some)
  await ingestJournal({ ...options, writers: { boot: 'live', running: [], next: 5 }, onHolds })
  expect(await spendTable(store.connection.db).list(['2026-11', '2026-12'])).toEqual({
    used: [[counter, '2026-12', 120]],
    held: [],
    open: [],
  })
  expect(told).toEqual([
    { counter, period: '2026-12', held: 0, actual: 120 },
    { counter, period: '2026-11', held: 500, actual: 0 },
  ])
})
