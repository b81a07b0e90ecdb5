import { describe, expect, it } from 'vitest'
import { newId } from '../../../src/core/ids.ts'
import { type AttemptRecord, noGroup, type RequestRecord } from '../../../src/core/record.ts'
import type { RecordFilter, StoreClient } from '../../../src/store/api.ts'
import { recordsTable } from '../../../src/store/records/records.ts'
import { removeRecordsBefore } from '../../../src/store/records/retention.ts'
import { openStore } from '../../../src/store/sqlite/open.ts'
import { encodeEntry, JournalWriter } from '../../support/journal-writer.ts'
import { admitted, sampleRecord, settled } from '../../support/sample-record.ts'
import { ingestJournal, startTestStore, storePaths, temporaryDirectory } from '../support.ts'

const start = Date.parse('2026-03-01T12:00:00.000Z')

/** The `index`-th record of the test, a minute after the one before. */
function minute(index: number, change: Partial<RequestRecord> = {}): RequestRecord {
  const time = start + index * 60_000
  return sampleRecord({ id: newId('req', time), time: new Date(time).toISOString(), ...change })
}

async function storeWith(
  records: readonly RequestRecord[],
  ...more: Parameters<JournalWriter['write']>
): Promise<StoreClient> {
  const data = storePaths(temporaryDirectory())
  const writer = new JournalWriter(data.journalDirectory, { boot: 'live', thread: 0, sequence: 1 }, 16 * 1024 * 1024)
  writer.writeBytes(Buffer.concat([...records.map(settled), ...more].map(encodeEntry)))
  const store = await startTestStore(data)
  await store.ingest()
  return store
}

const triedOnce: AttemptRecord = {
  provider: 'openai',
  upstream_model: 'm',
  status: 200,
  outcome: 'answered',
  started_ms: 1,
  connected_ms: 2,
  first_byte_ms: 3,
  ended_ms: 4,
  message: null,
  cost: null,
}
const failure = { code: 'rate_limited', origin: 'policy', message: 'wait' } as const

describe('records', () => {
  it('lists newest first, by every filter, page by page', async () => {
    const records = [
      minute(0, { key: { id: 'key_2', name: 'other' }, lane: 'gemini', project: 'web' }),
      minute(1, { status: 429, error: failure, key: null }),
      minute(2, { status: 404, model: 'm', provider: 'vllm', environment: 'staging' }),
      minute(3),
    ]
    const store = await storeWith(records)
    const list = async (filter: Partial<RecordFilter>) => {
      const found = await store.records.list({ limit: 100, ...filter })
      return found.map((record) => records.findIndex((each) => each.id === record.id))
    }
    expect(await list({})).toEqual([3, 2, 1, 0])
    expect(await list({ limit: 2 })).toEqual([3, 2])
    expect(await list({ limit: 2, before: records[2]?.id ?? '' })).toEqual([1, 0])
    expect(await list({ key: 'other' })).toEqual([0])
    expect(await list({ key: 'key_2' })).toEqual([0])
    expect(await list({ lane: 'gemini' })).toEqual([0])
    expect(await list({ project: 'web' })).toEqual([0])
    expect(await list({ environment: 'staging' })).toEqual([2])
    expect(await list({ model: 'm', provider: 'vllm' })).toEqual([2])
    expect(await list({ status: '4xx' })).toEqual([2, 1])
    expect(await list({ status: '429' })).toEqual([1])
    expect(await list({ status: 'no' })).toEqual([])
    expect(await list({ error: 'rate_limited' })).toEqual([1])
    expect(await list({ since: '2026-03-01T12:01:00Z', until: '2026-03-01T12:03:00Z' })).toEqual([2, 1])
    expect(await list({ id: records[1]?.id ?? '' })).toEqual([1])
    expect(await list({ id: records[1]?.id.slice(-9) ?? '' })).toEqual([1])
    expect(await list({ id: 'req%' })).toEqual([])
    expect(await list({ id: '_' })).toEqual([3, 2, 1, 0])
    expect((await store.records.list({ limit: 1 }))[0]).toEqual(records[3])
  })

  it('lists what failed, what was slow, and what fell back', async () => {
    const attempt = (outcome: string, provider = 'openai'): AttemptRecord => ({ ...triedOnce, provider, outcome })
    const brokeOff = { code: 'provider_bad_response', origin: 'provider', message: 'cut' } as const
    const records = [
      minute(0, { attempts: [attempt('provider_unreachable'), attempt('answered', 'azure')], duration_ms: 4000 }),
      minute(1, { status: 500, duration_ms: 5000 }),
      minute(2, { error: brokeOff, attempts: [attempt('answered')] }),
      minute(3, { tags: { outcome: 'fallback' }, duration_ms: 3999 }),
    ]
    const store = await storeWith(records)
    const list = async (filter: Partial<RecordFilter>) => {
      const found = await store.records.list({ limit: 100, ...filter })
      return found.map((record) => records.findIndex((each) => each.id === record.id))
    }
    expect(await list({ errors: true })).toEqual([2, 1])
    expect(await list({ slowerThanMs: 4000 })).toEqual([1, 0])
    expect(await list({ fellBack: true })).toEqual([0])
    expect(await list({ fellBack: true, errors: true })).toEqual([])
    expect(await list({ failedAt: 'openai' })).toEqual([2, 1, 0])
    expect(await list({ failedAt: 'azure' })).toEqual([])
    const outcomes = await store.records.stats({ limit: 1 }, 'status')
    expect(outcomes.map(({ group, requests, errors }) => [group, requests, errors])).toEqual([
      ['2xx', 2, 0],
      ['2xx_error', 1, 1],
      ['5xx', 1, 1],
    ])
    const errors = await store.records.stats({ limit: 1, errors: true }, 'error')
    expect(errors.map(({ group }) => group)).toEqual(['provider_bad_response', 'status_500'])
  })

  it('looks further than one window', async () => {
    const many = Array.from({ length: 2500 }, (_, index) => minute(index, { model: index < 3 ? 'rare' : 'usual' }))
    const store = await storeWith(many)
    expect((await store.records.list({ limit: 5, model: 'rare' })).map((record) => record.id)).toEqual(
      many
        .slice(0, 3)
        .map((record) => record.id)
        .reverse(),
    )
    expect(await store.records.stats({ limit: 1 }, 'model')).toMatchObject([
      { group: 'usual', requests: 2497 },
      { group: 'rare', requests: 3 },
    ])
  })

  it('leaves out of latencies what was rejected before a provider was asked', async () => {
    const error = { code: 'rate_limited', origin: 'gateway', message: 'no' } as const
    const refused = { provider: null, status: 429, error, duration_ms: 1, first_byte_ms: 1 }
    const failed = { ...refused, provider: 'openai', status: 504, duration_ms: 300 }
    const store = await storeWith([
      ...Array.from({ length: 5 }, (_, index) => minute(index, refused)),
      minute(6, { duration_ms: 100 }),
      minute(7, failed),
      // From the cache: a client waited for it.
      minute(8, { provider: null, duration_ms: 2 }),
    ])
    const latencies = { requests: 8, errors: 6, duration_p50_ms: 100, duration_p99_ms: 300 }
    expect(await store.records.stats({ limit: 1 }, 'total')).toMatchObject([latencies])
    // Read record by record.
    expect(await store.records.stats({ limit: 1, route: 'gpt-4o-mini' }, 'total')).toMatchObject([latencies])
    expect(await store.records.stats({ limit: 1, error: 'rate_limited', status: '429' }, 'total')).toMatchObject([
      { requests: 5, duration_p50_ms: null, first_byte_p95_ms: null },
    ])
  })

  it('sums by group, with percentiles', async () => {
    const records = [
      ...Array.from({ length: 100 }, (_, index) => minute(index, { duration_ms: index + 1 })),
      minute(1500, {
        model: 'dear',
        status: 502,
        cost: null,
        tokens: null,
        duration_ms: null,
        key: { id: 'key_1', name: 'renamed' },
      }),
    ]
    const store = await storeWith(records)
    const filter = { limit: 1 }
    expect(await store.records.stats(filter, 'model')).toEqual([
      {
        id: 'gpt-4o-mini',
        group: 'gpt-4o-mini',
        groups: ['gpt-4o-mini'],
        requests: 100,
        shadows: 0,
        errors: 0,
        interrupted: 0,
        interrupted_tokens: 0,
        input: 1000,
        output: 500,
        cache_read: 0,
        cache_write: 0,
        reasoning: 0,
        usd: 0.1,
        duration_p50_ms: 50,
        duration_p95_ms: 95,
        duration_p99_ms: 99,
        first_byte_p50_ms: 50,
        first_byte_p95_ms: 50,
      },
      expect.objectContaining({ group: 'dear', requests: 1, errors: 1, input: 0, usd: null, duration_p50_ms: null }),
    ])
    expect(await store.records.stats(filter, 'key')).toMatchObject([{ id: 'key_1', group: 'renamed', requests: 101 }])
    expect(await store.records.stats(filter, 'day')).toMatchObject([{ group: '2026-03-01' }, { group: '2026-03-02' }])
    expect(await store.records.stats({ ...filter, model: 'dear' }, 'total')).toMatchObject([
      { group: 'total', requests: 1 },
    ])
    expect(await store.records.stats({ ...filter, model: 'none' }, 'total')).toEqual([])
  })

  it('charges an interrupted request its hold, and one that is under way nothing yet', async () => {
    const hold = { input: 40, output: 900, cache_read: 0, cache_write: 0, reasoning: 0, source: 'estimated' } as const
    const cut = minute(1, { state: 'interrupted', status: null, tokens: hold })
    const store = await storeWith(
      [minute(0)],
      { kind: 'settled', record: cut },
      admitted(minute(2, { status: null, tokens: hold })),
    )
    const listed = async (state: RequestRecord['state']) =>
      (await store.records.list({ limit: 10, state })).map((record) => record.state)
    expect([await listed('interrupted'), await listed('admitted')]).toEqual([['interrupted'], ['admitted']])
    expect(await store.records.stats({ limit: 1 }, 'total')).toMatchObject([
      { requests: 3, interrupted: 1, interrupted_tokens: 940, input: 50, output: 905 },
    ])
  })

  it('sums by tag: a record counts under each of its tags', async () => {
    const store = await storeWith([
      minute(0, { tags: { team: 'a', user: 'u-1' } }),
      minute(1, { tags: { team: 'a' }, status: 500 }),
      minute(2),
    ])
    expect(await store.records.stats({ limit: 1 }, 'tag')).toMatchObject([
      { group: 'team=a', requests: 2, errors: 1, input: 20 },
      { group: noGroup, requests: 1, errors: 0 },
      { group: 'user=u-1', requests: 1, errors: 0 },
    ])
  })

  it('sums by route, also one whose name has to be escaped, beside other ways', async () => {
    const store = await storeWith([
      minute(0, { route: 'gpt-*', tags: { team: 'a' } }),
      minute(1, { route: 'gpt-*', status: 500 }),
      minute(2, { route: 'say "hi"' }),
      minute(3, { route: null }),
    ])
    expect(await store.records.stats({ limit: 1 }, 'route')).toMatchObject([
      { group: 'gpt-*', requests: 2, errors: 1 },
      { group: noGroup, requests: 1 },
      { group: 'say "hi"', requests: 1 },
    ])
    expect(await store.records.stats({ limit: 1, route: 'gpt-*' }, ['tag', 'route'])).toMatchObject([
      { groups: [noGroup, 'gpt-*'], requests: 1, errors: 1 },
      { groups: ['team=a', 'gpt-*'], requests: 1, errors: 0 },
    ])
  })

  it('resolves an id that shared a record, and says how many did', async () => {
    const shared = minute(0, { status: 401, key: null })
    const lastTime = new Date(start + 5000).toISOString()
    const store = await storeWith(
      [shared],
      { kind: 'repeated', id: shared.id, count: 3, lastTime: new Date(start + 1000).toISOString() },
      { kind: 'repeated', id: shared.id, count: 4, lastTime },
    )
    const found = await store.records.get(newId('req', start + 3000))
    expect(found?.id).toBe(shared.id)
    expect(found?.policy_signals).toMatchObject([{ rule: 'repeated', data: { count: 7, last_time: lastTime } }])
    expect((await store.records.get(`${shared.id.slice(0, 14)}${'0'.repeat(16)}`))?.id).toBe(shared.id)
    expect(await store.records.get(newId('req', start + 6000))).toBeNull()
    expect(await store.records.get(newId('req', start - 1000))).toBeNull()
    expect(await store.records.get('req_nonsense')).toBeNull()
  })

  it('go when their time is over, but for those under way', async () => {
    const { databasePath: path, journalDirectory } = storePaths(temporaryDirectory())
    const writer = new JournalWriter(journalDirectory, { boot: 'live', thread: 0, sequence: 1 }, 16 * 1024 * 1024)
    const records = Array.from({ length: 1300 }, (_, index) => minute(index))
    const shared = records[1]?.id ?? ''
    const entries = records.map((record, index) => (index === 0 ? admitted(record) : settled(record)))
    const repeat = { kind: 'repeated', id: shared, count: 1, lastTime: new Date(start).toISOString() } as const
    writer.writeBytes(Buffer.concat([...entries, repeat].map(encodeEntry)))
    const store = await openStore({ path })
    const { connection } = store
    await ingestJournal({
      connection,
      journalDirectory,
      writers: { boot: 'live', running: [], next: 0 },
      onRecords: () => {},
    })
    expect(await removeRecordsBefore(connection, start + 1200 * 60_000)).toBe(1199)
    const left = await recordsTable(connection.db).list({ limit: 1000 })
    expect(left.map((record) => record.id).sort()).toEqual(
      [records[0], ...records.slice(1200)].map((record) => record?.id),
    )
    expect(await connection.db.selectFrom('repeated_records').selectAll().execute()).toEqual([])
    await store.close()
  })
})
