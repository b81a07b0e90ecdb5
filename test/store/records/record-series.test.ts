import { describe, expect, it } from 'vitest'
import { newId } from '../../../src/core/ids.ts'
import { type AttemptRecord, noGroup, type RequestRecord } from '../../../src/core/record.ts'
import type { SeriesQuestion, StoreClient } from '../../../src/store/api.ts'
import { StoreStopped } from '../../../src/store/store-error.ts'
import { encodeEntry, JournalWriter } from '../../support/journal-writer.ts'
import { sampleRecord, settled } from '../../support/sample-record.ts'
import { startTestStore, storePaths, temporaryDirectory } from '../support.ts'

const start = Date.parse('2026-03-01T12:00:00.000Z')
const minuteMs = 60_000

function at(minutes: number, change: Partial<RequestRecord> = {}): RequestRecord {
  const time = start + minutes * minuteMs
  return sampleRecord({ id: newId('req', time), time: new Date(time).toISOString(), ...change })
}

async function storeWith(records: readonly RequestRecord[]): Promise<StoreClient> {
  const data = storePaths(temporaryDirectory())
  const writer = new JournalWriter(data.journalDirectory, { boot: 'live', thread: 0, sequence: 1 }, 16 * 1024 * 1024)
  writer.writeBytes(Buffer.concat(records.map(settled).map(encodeEntry)))
  const store = await startTestStore(data)
  await store.ingest()
  return store
}

const question: SeriesQuestion = { by: 'total', from: start, stepMs: 10 * minuteMs, steps: 3, most: 8 }
const filter = { limit: 1, since: new Date(start).toISOString() }

describe('series', () => {
  it('tells outcomes apart, and errors by their code', async () => {
    const error = { code: 'provider_timeout', origin: 'provider', message: 'late' } as const
    const store = await storeWith([at(0), at(1), at(2, { status: 404 }), at(11, { status: 504, error })])
    const groups = async (by: SeriesQuestion['by']) =>
      (await store.records.series(filter, { ...question, by })).map(({ group, points }) => [
        group,
        ...points.map(({ requests }) => requests),
      ])
    expect(await groups('status')).toEqual([
      ['2xx', 2, 0, 0],
      ['4xx', 1, 0, 0],
      ['5xx', 0, 1, 0],
    ])
    expect(await groups('error')).toEqual([
      [noGroup, 2, 0, 0],
      ['provider_timeout', 0, 1, 0],
      ['status_404', 1, 0, 0],
    ])
  })

  it('sums step by step, with every step in its place', async () => {
    const store = await storeWith([
      at(-1),
      at(0, { duration_ms: 100, first_byte_ms: 40 }),
      at(9.999, { duration_ms: 300, first_byte_ms: 60, status: 500 }),
      at(20, { duration_ms: 20_004, first_byte_ms: null, cost: null }),
      at(30),
    ])
    const [total, ...others] = await store.records.series(filter, question)
    expect(others).toEqual([])
    expect(total?.group).toBe('total')
    const empty = {
      requests: 0,
      errors: 0,
      input: 0,
      output: 0,
      usd: null,
      duration_p50_ms: null,
      duration_p95_ms: null,
      duration_p99_ms: null,
      first_byte_p50_ms: null,
      first_byte_p95_ms: null,
    }
    expect(total?.points).toEqual([
      {
        time: '2026-03-01T12:00:00.000Z',
        requests: 2,
        errors: 1,
        input: 20,
        output: 10,
        usd: 0.002,
        duration_p50_ms: 100,
        duration_p95_ms: 300,
        duration_p99_ms: 300,
        first_byte_p50_ms: 40,
        first_byte_p95_ms: 60,
      },
      { ...empty, time: '2026-03-01T12:10:00.000Z' },
      {
        ...empty,
        time: '2026-03-01T12:20:00.000Z',
        requests: 1,
        input: 10,
        output: 5,
        duration_p50_ms: 20_031,
        duration_p95_ms: 20_031,
        duration_p99_ms: 20_031,
      },
    ])
  })

  it('tells the busiest groups apart and sums the rest, a record once', async () => {
    const store = await storeWith([
      ...[1, 2, 3].map((minute) => at(minute, { model: 'usual', tags: { team: 'a', run: `r${minute}` } })),
      ...[4, 5].map((minute) => at(minute, { model: 'second', tags: { team: 'b' } })),
      at(6, { model: 'rare' }),
      at(7, { model: null }),
    ])
    const requests = async (by: SeriesQuestion['by'], most = 2) =>
      (await store.records.series(filter, { ...question, by, most })).map(({ group, points }) => [
        group,
        points.reduce((sum, point) => sum + point.requests, 0),
      ])
    expect(await requests('model')).toEqual([
      ['usual', 3],
      ['second', 2],
      ['other', 2],
    ])
    expect(await requests('model', 8)).toContainEqual([noGroup, 1])
    // Those of team a have a tag that is not told apart, too.
    expect(await requests('tag')).toEqual([
      ['team=a', 3],
      [noGroup, 2],
      ['other', 5],
    ])
    expect(await requests('total')).toEqual([['total', 7]])
  })

  it('counts attempts at a provider, also of requests that another one answered', async () => {
    const attempt = (provider: string, outcome: string, took: number): AttemptRecord => ({
      provider,
      upstream_model: 'm',
      status: outcome === 'answered' ? 200 : 503,
      outcome,
      started_ms: 1,
      connected_ms: 2,
      first_byte_ms: 3,
      ended_ms: 1 + took,
      message: null,
      cost: null,
    })
    const cut = { code: 'provider_bad_response', origin: 'provider', message: 'cut' } as const
    const left = { code: 'client_closed', origin: 'client', message: 'left' } as const
    const store = await storeWith([
      at(0, {
        provider: 'azure',
        attempts: [attempt('openai', 'retry', 10), attempt('openai', 'fallback', 20), attempt('azure', 'answered', 5)],
      }),
      at(1, { attempts: [attempt('openai', 'answered', 40)], duration_ms: 40 }),
      at(2, { attempts: [attempt('openai', 'answered', 40)], error: cut }),
      at(21, { attempts: [attempt('openai', 'answered', 50)], error: left, status: 499, duration_ms: 50 }),
    ])
    const asked = { provider: 'openai', from: start, stepMs: 10 * minuteMs, steps: 3 }
    const { points, providers } = await store.records.attemptSeries(filter, asked)
    expect(providers).toEqual([{ provider: 'openai', points }])
    expect(points).toEqual([
      { time: '2026-03-01T12:00:00.000Z', tried: 4, failed: 3, fell_back: 1, duration_p50_ms: 20, duration_p95_ms: 40 },
      {
        time: '2026-03-01T12:10:00.000Z',
        tried: 0,
        failed: 0,
        fell_back: 0,
        duration_p50_ms: null,
        duration_p95_ms: null,
      },
      { time: '2026-03-01T12:20:00.000Z', tried: 1, failed: 0, fell_back: 0, duration_p50_ms: 50, duration_p95_ms: 50 },
    ])
    const all = await store.records.attemptSeries(filter, { ...asked, provider: null })
    expect(all.points[0]).toMatchObject({ tried: 5, failed: 3, fell_back: 1 })
    expect(all.providers).toMatchObject([
      { provider: 'azure', points: [{ tried: 1, failed: 0 }, { tried: 0 }, { tried: 0 }] },
      { provider: 'openai', points },
    ])
    expect(await store.records.attempts(filter)).toMatchObject([
      { provider: 'openai', tried: 5, failed: 3, fell_back: 1 },
      { provider: 'azure', tried: 1, failed: 0, fell_back: 0 },
    ])
  })

  it('calls a key by its latest name', async () => {
    const names = ['first', 'second', 'third']
    const store = await storeWith(names.map((name, index) => at(index, { key: { id: 'key_1', name } })))
    expect(await store.records.series(filter, { ...question, by: 'key' })).toMatchObject([{ group: 'third' }])
    expect(await store.records.stats({ limit: 1 }, 'key')).toMatchObject([{ id: 'key_1', group: 'third', requests: 3 }])
  })

  it('names keys of one name with their scope', async () => {
    const of = (id: string, name: string, project: string) => at(0, { key: { id, name }, project })
    const store = await storeWith([of('key_1', 'app', 'search'), of('key_2', 'app', 'data'), of('key_3', 'ci', 'data')])
    const names = (rows: readonly { group: string }[]) => rows.map(({ group }) => group).sort()
    const apart = ['ci', 'data/production/app', 'search/production/app']
    expect(names(await store.records.stats({ limit: 1 }, 'key'))).toEqual(apart)
    expect(names(await store.records.series(filter, { ...question, by: 'key' }))).toEqual(apart)
    expect(names(await store.records.stats({ limit: 1 }, ['key', 'model']))).toEqual(
      apart.map((name) => `${name}, gpt-4o-mini`),
    )
    const other = await storeWith([
      of('key_1', 'app', 'search'),
      { ...of('key_2', 'app', 'data'), model: 'o3' },
      of('key_3', 'ci', 'data'),
    ])
    // Another model beside it does not say whose key it is.
    expect(names(await other.records.stats({ limit: 1 }, ['key', 'model']))).toEqual([
      'ci, gpt-4o-mini',
      'data/production/app, o3',
      'search/production/app, gpt-4o-mini',
    ])
    expect(names(await store.records.stats({ limit: 1 }, ['project', 'key']))).toEqual([
      'data, app',
      'data, ci',
      'search, app',
    ])
  })

  it('names a key alone, whatever its scope was called and whatever it took the place of', async () => {
    const of = (index: number, id: string, project: string, model: string) =>
      at(index, { key: { id, name: 'app' }, project, model })
    for (const other of [of(1, 'key_1', 'find', 'b'), of(1, 'key_2', 'search', 'b')]) {
      const store = await storeWith([of(0, 'key_1', 'search', 'a'), other])
      const rows = await store.records.stats({ limit: 1 }, ['key', 'model'])
      expect(rows.map(({ group }) => group)).toEqual(['app, a', 'app, b'])
    }
  })

  it('ends when nobody waits for it any more', async () => {
    const store = await storeWith(Array.from({ length: 4500 }, (_, index) => at(index)))
    const leave = new AbortController()
    const reading = store.until(leave.signal).records.series({ limit: 1 }, question)
    leave.abort()
    await expect(reading).rejects.toThrow(StoreStopped)
    await expect(store.until(leave.signal).records.list({ limit: 1 })).rejects.toThrow(StoreStopped)
    const patient = store.until(new AbortController().signal)
    expect((await patient.records.stats({ limit: 1 }, 'total'))[0]?.requests).toBe(4500)
  })

  it('is all empty steps where nothing matches, and obeys the filter', async () => {
    const store = await storeWith([at(1), at(2, { model: 'm' })])
    const [none] = await store.records.series({ ...filter, model: 'nobody' }, question)
    expect(none?.points.map((point) => point.requests)).toEqual([0, 0, 0])
    const [one] = await store.records.series({ ...filter, model: 'm' }, question)
    expect(one?.points.map((point) => point.requests)).toEqual([1, 0, 0])
    expect(await store.records.series({ ...filter, model: 'nobody' }, { ...question, by: 'model' })).toEqual([])
  })
})

describe('tags', () => {
  const tagged = [
    at(0, { tags: { team: 'a', run: '7' } }),
    at(1, { tags: { team: 'b' } }),
    at(2, { tags: { 'team"': 'a', text: '"team":"a"' } }),
    at(3, { model: '"team":"a"', error: { code: 'provider_error', origin: 'provider', message: '{"team":"a"}' } }),
    at(4),
  ]

  it('are found by name, by value, and only as tags', async () => {
    const store = await storeWith(tagged)
    const find = async (tags: Record<string, string | null>) =>
      (await store.records.list({ limit: 10, tags })).map(({ id }) => tagged.findIndex((record) => record.id === id))
    expect(await find({ team: 'a' })).toEqual([0])
    expect(await find({ team: null })).toEqual([1, 0])
    expect(await find({ team: 'a', run: '7' })).toEqual([0])
    expect(await find({ team: 'a', run: '8' })).toEqual([])
    expect(await find({ 'team"': 'a' })).toEqual([2])
    expect(await find({ toString: null })).toEqual([])
    const [sum] = await store.records.stats({ limit: 1, tags: { team: null } }, 'total')
    expect(sum?.requests).toBe(2)
    const [series] = await store.records.series({ ...filter, tags: { team: 'b' } }, question)
    expect(series?.points[0]?.requests).toBe(1)
  })

  it('fill a page as any other filter does', async () => {
    const many = Array.from({ length: 2500 }, (_, index) =>
      at(index, index % 500 === 0 ? { tags: { odd: 'yes' } } : {}),
    )
    const store = await storeWith(many)
    const first = await store.records.list({ limit: 3, tags: { odd: 'yes' } })
    expect(first).toHaveLength(3)
    const second = await store.records.list({ limit: 3, tags: { odd: 'yes' }, before: first.at(-1)?.id ?? '' })
    expect(second).toHaveLength(2)
  })
})
