import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { nanoOfUsd } from '../../../src/core/cost/money.ts'
import { newId } from '../../../src/core/ids.ts'
import type { RequestRecord } from '../../../src/core/record.ts'
import type { RecordFilter, StatsBy } from '../../../src/store/api.ts'
import { durationStep } from '../../../src/store/records/duration-counts.ts'
import { firstBytePlace } from '../../../src/store/records/latency-blob.ts'
import { purge } from '../../../src/store/records/purge.ts'
import { groupsOf } from '../../../src/store/records/record-groups.ts'
import { readHead } from '../../../src/store/records/record-head.ts'
import { interruptRecords } from '../../../src/store/records/record-rows.ts'
import { scanRecords } from '../../../src/store/records/record-scan.ts'
import { spansOf } from '../../../src/store/records/record-sum-keys.ts'
import { RecordAdder } from '../../../src/store/records/record-sums.ts'
import { recordsTable } from '../../../src/store/records/records.ts'
import { repriceRecords } from '../../../src/store/records/reprice.ts'
import { removeRecordsBefore } from '../../../src/store/records/retention.ts'
import { scanTotals } from '../../../src/store/records/sum-scan.ts'
import type { Database } from '../../../src/store/schema.ts'
import type { Connection } from '../../../src/store/sqlite/connection.ts'
import type { OpenStore } from '../../../src/store/sqlite/open.ts'
import { openTestStore } from '../../support/empty-database.ts'
import { readLatencies } from '../../support/latencies.ts'
import { sampleRecord } from '../../support/sample-record.ts'
import { storePaths, temporaryDirectory } from '../support.ts'

const start = Date.parse('2026-03-01T20:00:00.000Z')
const spanMs = 60 * 3_600_000
const owners = ['live-0', 'live-1']
/** Of a day's sums by tag. */
const keptRows = 5000
const failure = { code: 'provider_error', origin: 'provider', message: 'no' } as const

interface Shape {
  at: number
  key: number
  model: number
  fails: boolean
  usd: number | null
  tokens: number
  took: number
  shadow: boolean
  tags: Record<string, string>
  /** Of what fails. */
  code?: NonNullable<RequestRecord['error']>['code']
}

const shapes: fc.Arbitrary<Shape> = fc.record({
  at: fc.nat(spanMs),
  key: fc.nat(2),
  model: fc.nat(2),
  fails: fc.boolean(),
  usd: fc.option(fc.nat(1_000_000).map((nano) => nano / 1e9)),
  tokens: fc.nat(100_000),
  took: fc.nat(400_000),
  shadow: fc.boolean(),
  tags: fc.constantFrom<Record<string, string>>(
    ...[{}, { team: 'a' }, { team: 'b' }, { team: 'a', user: 'u\n1' }],
    // Not told by the end of the record alone.
    ...[
      { team: 'a', tags: 'b' },
      { 'tags":{': 'é', user: 'ü'.repeat(600) },
    ],
  ),
})

type Step =
  | { kind: 'admit' | 'settle' | 'fail to settle'; shape: Shape; owner: number }
  /** Again, with another end, as a journal that is read twice or a correction brings it. */
  | { kind: 'again'; which: number; shape: Shape }
  | { kind: 'interrupt'; owner: number }
  | { kind: 'reprice'; which: number; usd: number }
  | { kind: 'retain'; until: number }
  | { kind: 'purge'; key: number; until: number }
  | { kind: 'sum older' }
  /** As a database of a version that had no sums. */
  | { kind: 'forget sums' }

const owner = fc.nat(1)
const steps: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({ kind: fc.constantFrom('admit', 'settle', 'fail to settle'), shape: shapes, owner }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('again'), which: fc.nat(), shape: shapes }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('interrupt'), owner }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('reprice'), which: fc.nat(), usd: fc.nat(1e6).map((nano) => nano / 1e9) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('retain'), until: fc.nat(spanMs) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('purge'), key: fc.nat(2), until: fc.nat(spanMs) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('sum older') }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('forget sums') }) },
) as fc.Arbitrary<Step>

function recordOf(
  { at, key, model, fails, usd, tokens, took, shadow, tags, code = failure.code }: Shape,
  change: Partial<RequestRecord>,
): RequestRecord {
  const time = start + at
  return sampleRecord({
    id: newId('req', time),
    time: new Date(time).toISOString(),
    key: { id: `key_${key}`, name: `key ${key}` },
    model: `model ${model}`,
    status: fails ? 502 : 200,
    error: fails ? { ...failure, code } : null,
    cost: usd === null ? null : { usd, price_version: 'p' },
    tokens: { input: tokens, output: 3, cache_read: 1, cache_write: 2, reasoning: 0, source: 'reported' },
    duration_ms: took + 0.4,
    first_byte_ms: Math.floor(took / 3),
    streamed: true,
    tags,
    shadow_of: shadow ? 'req_original' : null,
    // Rejected before a provider was asked.
    ...(fails && model === 2 ? { provider: null } : {}),
    ...change,
  })
}

class Scene {
  readonly #connection: Connection
  /** What has come, so that something of it can come again. */
  readonly #known: RequestRecord[] = []

  constructor({ connection }: OpenStore) {
    this.#connection = connection
  }

  async take(step: Step): Promise<void> {
    const connection = this.#connection
    switch (step.kind) {
      case 'admit':
      case 'settle':
        return this.#write(recordOf(step.shape, step.kind === 'admit' ? underWay : {}), owners[step.owner] ?? '')
      case 'fail to settle':
        return this.#write(recordOf(step.shape, {}), '', true)
      case 'again': {
        const known = this.#known[step.which % Math.max(1, this.#known.length)]
        if (known === undefined) return
        return this.#write(recordOf(step.shape, { id: known.id, time: known.time }), 'live-0')
      }
      case 'interrupt':
        return void (await connection.writeHot((hot) => interruptRecords(hot, [owners[step.owner] ?? ''], false)))
      case 'reprice': {
        const known = this.#known[step.which % Math.max(1, this.#known.length)]
        const cost = { usd: step.usd, price_version: 'q' }
        if (known !== undefined)
          await connection.write((db) => repriceRecords(db, [{ id: known.id, cost, attempt: null }]))
        return
      }
      case 'retain':
        return void (await removeRecordsBefore(connection, start + step.until))
      case 'purge': {
        const until = new Date(start + step.until).toISOString()
        return void (await purge(connection, { bodies: false, filter: { limit: 1, key: `key_${step.key}`, until } }))
      }
      case 'sum older':
        return void (await connection.writeHot((hot) => hot.sums.sumOlder()))
      case 'forget sums':
        await connection.write(forgetSums)
        // What the statements remember belongs to a connection that is gone then.
        return connection.writeHot((hot) => hot.forget())
    }
  }

  async #write(record: RequestRecord, by: string, fails = false): Promise<void> {
    const text = JSON.stringify(record)
    const head = readHead(text, record.state === 'admitted' ? 'admitted' : 'settled')
    if (head === null) throw new Error('a record without a head')
    const write = this.#connection.writeHot((hot) => {
      hot.writeRecord(head, by, text)
      if (fails) throw new Error('undone')
    })
    if (fails) return void (await write.catch(() => {}))
    await write
    this.#known.push(record)
  }
}

const underWay = { state: 'admitted', status: null, error: null, cost: null, duration_ms: null } as const

async function forgetSums(db: Database): Promise<void> {
  await db.deleteFrom('record_sums').execute()
  await db.deleteFrom('record_latencies').execute()
  await db.deleteFrom('tag_sums').execute()
  await db.deleteFrom('tag_sum_overflows').execute()
  const newest = await db.selectFrom('records').select('id').orderBy('id', 'desc').executeTakeFirst()
  const from = newest === undefined ? '' : `${newest.id}~`
  await db.updateTable('record_sum_state').set({ summed_from: from, tagged_from: from }).execute()
}

/** What must stand in the tables of sums, from the records alone. */
async function expectedSums(db: Database) {
  const { summed_from } = await db.selectFrom('record_sum_state').selectAll().executeTakeFirstOrThrow()
  const rows = await db.selectFrom('records').selectAll().where('state', '<>', 'admitted').execute()
  const sums = new Map<string, number[]>()
  const counts = new Map<string, Map<number, number>>()
  for (const row of rows.filter(({ id }) => id >= summed_from))
    for (const [span, begin] of Object.entries(spansOf(row.time))) {
      const name = [span, begin, row.label, row.state, row.status ?? 0, row.error_code ?? ''].join(' ')
      const nano = row.usd === null ? 0 : nanoOfUsd(row.usd)
      const more = [1, row.input, row.output, row.cache_read, row.cache_write, row.reasoning, nano]
      const sum = sums.get(name) ?? new Array<number>(more.length + 1).fill(0)
      sums.set(
        name,
        [...more, Number(row.usd !== null)].map((value, place) => (sum[place] ?? 0) + (value ?? 0)),
      )
      const count = counts.get(name) ?? new Map<number, number>()
      counts.set(name, count)
      const places = [
        ...(row.duration_ms === null ? [] : [durationStep(row.duration_ms)]),
        ...(row.first_byte_ms === null ? [] : [firstBytePlace(durationStep(row.first_byte_ms))]),
      ]
      for (const place of places) count.set(place, (count.get(place) ?? 0) + 1)
    }
  return { sums, counts: new Map([...counts].filter(([, count]) => count.size > 0)) }
}

async function storedSums(db: Database) {
  const rows = await db.selectFrom('record_sums').selectAll().execute()
  const latencies = await db.selectFrom('record_latencies').selectAll().execute()
  const sums = rows.map(({ span, start, label, state, status, error_code, ...amounts }) => {
    const { requests, input, output, cache_read, cache_write, reasoning, usd_nano, priced } = amounts
    const name = [span, start, label, state, status, error_code].join(' ')
    return [name, [requests, input, output, cache_read, cache_write, reasoning, usd_nano, priced]] as const
  })
  const counts = latencies.map(({ span, start, label, state, status, error_code, counts }) => {
    return [[span, start, label, state, status, error_code].join(' '), readLatencies(counts)] as const
  })
  return { sums: new Map(sums), counts: new Map(counts.filter(([, count]) => count.size > 0)) }
}

/** Each record by itself, as if there were no sums. */
async function statsOfRecords(db: Database, filter: RecordFilter, by: StatsBy | StatsBy[]) {
  const groups = new Map<string, RecordAdder>()
  const ways = [by].flat()
  for await (const { rows, labels } of scanRecords(db, filter, ways.includes('tag')))
    for (const row of rows)
      for (const id of combine(ways.map((way) => groupsOf(row, labels.get(row.label), way).map((group) => group.id)))) {
        const adder = groups.get(id) ?? new RecordAdder()
        groups.set(id, adder)
        adder.add(row, labels.get(row.label))
      }
  return new Map([...groups].map(([id, adder]) => [id, adder.finish()]))
}

function combine([ids = [], ...others]: readonly string[][]): string[] {
  return others.length === 0 ? ids : ids.flatMap((id) => combine(others).map((other) => `${id}\n${other}`))
}

const time = fc.nat(spanMs).map((at) => new Date(start + at).toISOString())
const filters: fc.Arbitrary<RecordFilter> = fc
  .record({
    since: fc.option(time, { nil: undefined }),
    until: fc.option(time, { nil: undefined }),
    key: fc.option(fc.constant('key_1'), { nil: undefined }),
    status: fc.option(fc.constantFrom('5xx', '200'), { nil: undefined }),
    errors: fc.option(fc.constant(true as const), { nil: undefined }),
    state: fc.option(fc.constantFrom('interrupted', 'settled', 'admitted'), { nil: undefined }),
  })
  .map((filter) => ({
    limit: 1,
    ...(Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined)) as Partial<RecordFilter>),
  }))

describe('sums', () => {
  it('are what the records add up to, whatever came, went and changed', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(steps, { minLength: 5, maxLength: 40 }),
        fc.array(
          fc.tuple(
            filters,
            fc.constantFrom<StatsBy | StatsBy[]>(
              ...(['total', 'key', 'model', 'provider', 'status', 'error', 'day', 'tag'] as const),
              ...([
                ['tag', 'day'],
                ['tag', 'key'],
                ['day', 'model'],
                ['tag', 'status', 'day'],
              ] satisfies StatsBy[][]),
            ),
          ),
          { minLength: 3, maxLength: 3 },
        ),
        async (taken, questions) => {
          const store = await openTestStore(storePaths(temporaryDirectory()).databasePath)
          const scene = new Scene(store)
          const { db } = store.connection
          for (const step of taken) await scene.take(step)
          expect(await storedSums(db)).toEqual(await expectedSums(db))
          for (const [filter, by] of questions) {
            const rows = await recordsTable(db).stats(filter, by)
            const found = new Map(rows.map(({ id, group: _, groups: __, ...sums }) => [id, sums]))
            expect(found).toEqual(await statsOfRecords(db, filter, by))
          }
          await store.close()
        },
      ),
      { numRuns: 40 },
    )
  })

  it('are added up by SQLite to what the question needs: outcomes are told apart where they are asked for', async () => {
    const store = await openTestStore(storePaths(temporaryDirectory()).databasePath)
    const { db } = store.connection
    const scene = new Scene(store)
    const shape = { model: 0, usd: 0.001, tokens: 5, took: 100, shadow: false, tags: { team: 'a' } }
    const codes = ['provider_error', 'provider_timeout', 'client_closed'] as const
    for (const [key, code] of codes.entries())
      for (const fails of [false, true])
        await scene.take({ kind: 'settle', owner: 0, shape: { ...shape, at: key, key, fails, code } })
    const count = async (...by: StatsBy[]) => {
      let read = 0
      const question = { longest: 'day', by, withLatencies: true } as const
      for await (const { rows } of scanTotals(db, { limit: 1 }, question)) read += rows.length
      return read
    }
    expect([await count('tag', 'day'), await count('tag', 'error'), await count('tag', 'key')]).toEqual([2, 4, 6])
    expect([await count('day'), await count('error'), await count('key')]).toEqual([2, 4, 6])
    await store.close()
  })

  it('of what was stored before there were sums are made in slices, with nothing twice', async () => {
    const store = await openTestStore(storePaths(temporaryDirectory()).databasePath)
    const { connection } = store
    const shape = { key: 0, model: 0, fails: false, usd: 0.001, tokens: 5, took: 100, shadow: false, tags: {} }
    const scene = new Scene(store)
    for (let index = 0; index < 4500; index++)
      await scene.take({ kind: 'settle', owner: 0, shape: { ...shape, at: index * 20_000 } })
    await connection.write(forgetSums)
    await connection.writeHot((hot) => hot.forget())
    let slices = 0
    do {
      slices++
      // Meanwhile others come in, new ones and old ones.
      await scene.take({ kind: 'settle', owner: 0, shape: { ...shape, at: 5000 * 20_000 + slices } })
      await scene.take({ kind: 'settle', owner: 0, shape: { ...shape, at: slices } })
    } while (await connection.writeHot((hot) => hot.sums.sumOlder()))
    expect(slices).toBe(2)
    expect(await storedSums(connection.db)).toEqual(await expectedSums(connection.db))
    const [sum] = await recordsTable(connection.db).stats({ limit: 1 }, 'total')
    expect(sum?.requests).toBe(4504)
    await store.close()
  })

  it('by tag are kept up to a number of rows a day, and what has more is read by its records', async () => {
    const store = await openTestStore(storePaths(temporaryDirectory()).databasePath)
    const { connection } = store
    const { db } = connection
    const shape = { key: 0, model: 0, fails: false, usd: 0.001, tokens: 5, took: 100, shadow: false }
    const write = async (at: number, users: number) =>
      await connection.writeHot((hot) => {
        for (let user = 0; user < users; user++) {
          const record = recordOf({ ...shape, at: at + user, tags: { user: `${user}`, session: `${user}` } }, {})
          const text = JSON.stringify(record)
          const head = readHead(text, 'settled')
          if (head !== null) hot.writeRecord(head, 'live-0', text)
        }
      })
    const dayMs = 86_400_000
    await write(0, keptRows / 2 + 1)
    await write(dayMs, 10)
    await write(0, 1)
    const kept = await db.selectFrom('tag_sums').select(['span', 'start']).distinct().execute()
    expect(kept.map(({ span, start: begin }) => `${span} ${begin}`)).toEqual(['day 2026-03-02', 'week 2026-02-26'])
    const since = '2026-03-01T00:00:00.000Z'
    for (const filter of [{ limit: 1 }, { limit: 1, since, until: '2026-03-03T00:00:00.000Z' }]) {
      const found = await recordsTable(db).stats(filter, 'tag')
      const expected = await statsOfRecords(db, filter, 'tag')
      expect(found).toHaveLength(keptRows + 2)
      for (const { id, group: _group, groups: _groups, ...sums } of found) expect(sums).toEqual(expected.get(id))
    }
    await store.close()
  })
})
