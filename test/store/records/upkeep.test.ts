import { statSync } from 'node:fs'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { newId } from '../../../src/core/ids.ts'
import type { RequestRecord } from '../../../src/core/record.ts'
import type { RecordFilter } from '../../../src/store/api.ts'
import { purge } from '../../../src/store/records/purge.ts'
import { readHead } from '../../../src/store/records/record-head.ts'
import { recordsTable } from '../../../src/store/records/records.ts'
import { keepBelow } from '../../../src/store/records/retention.ts'
import { Upkeep } from '../../../src/store/records/upkeep.ts'
import type { OpenStore } from '../../../src/store/sqlite/open.ts'
import { openTestStore } from '../../support/empty-database.ts'
import { sampleRecord } from '../../support/sample-record.ts'
import { storePaths, temporaryDirectory } from '../support.ts'

const start = Date.parse('2026-03-01T00:00:00.000Z')
const hourMs = 3_600_000

async function open(): Promise<OpenStore & { path: string }> {
  const path = storePaths(temporaryDirectory()).databasePath
  return Object.assign(await openTestStore(path), { path })
}

function at(index: number, change: Partial<RequestRecord> = {}): RequestRecord {
  const time = start + index * hourMs
  return sampleRecord({ id: newId('req', time), time: new Date(time).toISOString(), ...change })
}

async function put({ connection }: OpenStore, records: readonly RequestRecord[], bodyBytes = 0): Promise<void> {
  await connection.writeHot((hot) => {
    for (const record of records) {
      const text = JSON.stringify(record)
      const head = readHead(text, 'settled')
      if (head !== null) hot.writeRecord(head, 'live-0', text)
      const sealed = Buffer.alloc(bodyBytes, 1).toString('base64')
      const body = { part: 'answer', mode: 'full', type: 'application/json', truncated: false, masked: false } as const
      if (bodyBytes > 0) hot.bodies.store({ kind: 'body', id: record.id, ...body, bytes: bodyBytes, key: 'k', sealed })
    }
  })
}

async function left({ connection }: OpenStore) {
  const { db } = connection
  const records = (await db.selectFrom('records').select('id').orderBy('id').execute()).map(({ id }) => id)
  const bodies = (await db.selectFrom('bodies').select('id').orderBy('id').execute()).map(({ id }) => id)
  const [sum] = await recordsTable(db).stats({ limit: 1 }, 'total')
  return { records, bodies, summed: sum?.requests ?? 0 }
}

async function purgeAll({ connection }: OpenStore, bodies: boolean, filter: Partial<RecordFilter>): Promise<number> {
  let removed = 0
  let before: string | null | undefined
  while (before !== null) {
    const asked = { limit: 1, ...filter, ...(before === undefined ? {} : { before }) }
    const slice = await purge(connection, { bodies, filter: asked })
    removed += slice.removed
    before = slice.before
  }
  return removed
}

describe('a purge', () => {
  const records = [
    at(0, { tags: { user: 'u-1', team: 'a' } }),
    at(1, { key: { id: 'key_2', name: 'other' } }),
    at(2, { project: 'web', tags: { user: 'u-1' } }),
    at(3, { state: 'admitted', status: null }),
    at(4),
  ]
  const idsOf = (...places: number[]) => places.map((place) => records[place]?.id)

  it('removes what the filter lets through, its bodies and its figures, and nothing that is under way', async () => {
    const store = await open()
    await put(store, records, 10)
    expect(await purgeAll(store, false, { tags: { user: 'u-1' } })).toBe(2)
    expect(await left(store)).toEqual({ records: idsOf(1, 3, 4), bodies: idsOf(1, 3, 4), summed: 3 })
    expect(await purgeAll(store, false, { key: 'other' })).toBe(1)
    expect(await purgeAll(store, false, { until: new Date(start + 3.5 * hourMs).toISOString() })).toBe(0)
    expect(await left(store)).toMatchObject({ records: idsOf(3, 4), summed: 2 })
    await store.close()
  })

  it('of bodies leaves the records', async () => {
    const store = await open()
    await put(store, records, 10)
    expect(await purgeAll(store, true, { project: 'web' })).toBe(1)
    expect(await purgeAll(store, true, { until: new Date(start + 2.5 * hourMs).toISOString() })).toBe(2)
    expect(await left(store)).toEqual({ records: idsOf(0, 1, 2, 3, 4), bodies: idsOf(3, 4), summed: 5 })
    await store.close()
  })
})

describe('records.max_disk', () => {
  it('takes the oldest bodies first, then the oldest records, down to nine tenths', async () => {
    const store = await open()
    const records = Array.from({ length: 3000 }, (_, index) => at(index / 10, { model: `m ${'x'.repeat(900)}` }))
    const most = (await store.connection.space()).usedBytes + 2_000_000
    await put(store, records.slice(0, 2900))
    await put(store, records.slice(2900), 50_000)
    const all = (await store.connection.space()).usedBytes
    const never = () => false
    await keepBelow(store.connection, all, never)
    expect(await left(store)).toMatchObject({ summed: 3000, bodies: { length: 100 } })
    await keepBelow(store.connection, all - 100_000, never)
    const some = await left(store)
    expect(some).toMatchObject({ summed: 3000, bodies: records.slice(3000 - some.bodies.length).map(({ id }) => id) })
    expect(some.bodies.length).toBeLessThan(100)
    await keepBelow(store.connection, most, never)
    const few = await left(store)
    expect(few.bodies).toEqual([])
    expect(few.records).toEqual(records.slice(3000 - few.records.length).map(({ id }) => id))
    expect(few.summed).toBe(few.records.length)
    expect(few.records.length).toBeGreaterThan(100)
    expect((await store.connection.space()).usedBytes).toBeLessThanOrEqual(most)
    await store.close()
  })
})

it('what was removed goes back to the file system', async () => {
  const store = await open()
  const records = Array.from({ length: 300 }, (_, index) => at(index / 10))
  await put(store, records, 100_000)
  await store.connection.checkpoint(0)
  const before = statSync(store.path).size
  expect(before).toBeGreaterThan(25e6)
  await purgeAll(store, true, {})
  const audience = { ended: null, admitted: false, traffic: null, holds: null, traces: false }
  const upkeep = new Upkeep({ connection: store.connection, audience, expire: async () => {} }, undefined)
  upkeep.soon()
  await upkeep.idle()
  await upkeep.close()
  await store.connection.checkpoint(0)
  expect(statSync(store.path).size).toBeLessThan(8e6)
  await store.close()
})

it('what is too old is looked for every ten minutes, also after the clock was set back by a year', async () => {
  vi.useFakeTimers({ toFake: ['Date', 'performance'], now: start })
  onTestFinished(() => void vi.useRealTimers())
  const store = await open()
  const audience = { ended: null, admitted: false, traffic: null, holds: null, traces: false }
  const looked: number[] = []
  const expire = async (now: number) => void looked.push((now - start) / 60_000)
  const parts = { connection: store.connection, audience, expire }
  const upkeep = new Upkeep(parts, { recordsMs: hourMs, bodiesMs: hourMs, mostBytes: null })
  const minutes = async (count: number) => {
    vi.advanceTimersByTime(count * 60_000)
    upkeep.soon()
    await upkeep.idle()
  }
  for (const count of [9, 1, 9]) await minutes(count)
  expect(looked).toEqual([10])
  const year = 365 * 24 * 60
  vi.setSystemTime(start - year * 60_000)
  await minutes(1)
  expect(looked).toEqual([10, 1 - year])
  // At once where it is kept for another time.
  upkeep.keep({ recordsMs: 2 * hourMs, bodiesMs: hourMs, mostBytes: null })
  await upkeep.idle()
  expect(looked).toHaveLength(3)
  await upkeep.close()
  await store.close()
})

describe('a clock that is set ahead', () => {
  const dayMs = 24 * hourMs
  const monthMs = 30 * dayMs

  async function keepAMonth(store: OpenStore) {
    const audience = { ended: null, admitted: false, traffic: null, holds: null, traces: false }
    const parts = { connection: store.connection, audience, expire: async () => {} }
    const upkeep = new Upkeep(parts, { recordsMs: monthMs, bodiesMs: monthMs, mostBytes: null })
    const passes = async (ms: number) => {
      vi.advanceTimersByTime(ms)
      upkeep.soon()
      await upkeep.idle()
    }
    await passes(0)
    return { upkeep, passes, held: () => (upkeep.heldUntil === null ? null : upkeep.heldUntil - Date.now()) }
  }

  async function begin() {
    vi.useFakeTimers({ toFake: ['Date', 'performance'], now: start + 5 * hourMs })
    onTestFinished(() => void vi.useRealTimers())
    const store = await open()
    await put(store, [at(0), at(1)], 10)
    return store
  }

  it('removes nothing for a day, in which it can be set right', async () => {
    const store = await begin()
    const { upkeep, passes, held } = await keepAMonth(store)
    await passes(hourMs)
    expect([held(), (await left(store)).summed]).toEqual([null, 2])
    vi.setSystemTime(start + 400 * dayMs)
    await passes(hourMs)
    expect([held(), (await left(store)).summed]).toEqual([dayMs, 2])
    await passes(20 * hourMs)
    expect([held(), (await left(store)).summed]).toEqual([4 * hourMs, 2])
    // Corrected by a little, it is still wrong.
    vi.setSystemTime(Date.now() - 60_000)
    await passes(0)
    expect(held()).toBe(4 * hourMs + 60_000)
    vi.setSystemTime(start + 30 * hourMs)
    await passes(hourMs)
    expect(held()).toBeNull()
    await passes(2 * dayMs)
    expect(held()).toBe(dayMs)
    await upkeep.close()
    expect((await left(store)).bodies).toHaveLength(2)
    await store.close()
  })

  it('is not doubted when it comes to where it once was wrongly', async () => {
    const store = await begin()
    const { upkeep, passes, held } = await keepAMonth(store)
    vi.setSystemTime(start + 3 * dayMs)
    await passes(0)
    expect(held()).toBe(dayMs)
    // At once, and by less than it had gone ahead.
    vi.setSystemTime(Date.now() - 60_000)
    await passes(0)
    expect(held()).toBe(dayMs + 60_000)
    vi.setSystemTime(start + 6 * hourMs)
    for (let hour = 0; hour < 100; hour++) {
      await passes(hourMs)
      expect(held()).toBeNull()
    }
    await upkeep.close()
    await store.close()
  })

  it('is believed after a day, whatever is recorded meanwhile, and not sooner after a start or another step', async () => {
    const store = await begin()
    await (await keepAMonth(store)).upkeep.close()
    vi.setSystemTime(start + 400 * dayMs)
    const { passes, held, upkeep } = await keepAMonth(store)
    await put(store, [at(400 * 24)])
    await passes(23 * hourMs)
    expect([held(), (await left(store)).summed]).toEqual([hourMs, 3])
    vi.setSystemTime(start + 500 * dayMs)
    await passes(0)
    expect([held(), (await left(store)).summed]).toEqual([dayMs, 3])
    for (let hour = 0; hour < 25; hour++) await passes(hourMs)
    expect([held(), (await left(store)).summed]).toEqual([null, 0])
    await upkeep.close()
    await store.close()
  })
})
