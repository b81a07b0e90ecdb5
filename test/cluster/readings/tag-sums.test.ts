import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PostgresSource } from '../../../src/cluster/readings/postgres-source.ts'
import { keepDays } from '../../../src/cluster/records/days.ts'
import { newId } from '../../../src/core/ids.ts'
import type { RequestRecord } from '../../../src/core/record.ts'
import type { RecordFilter, StatsBy } from '../../../src/store/api.ts'
import { recordSeries } from '../../../src/store/records/record-series.ts'
import { recordStats } from '../../../src/store/records/record-stats.ts'
import { PostgresRecords } from '../../support/postgres-records.ts'
import { needsPostgres, postgresPrograms } from '../../support/postgres-server.ts'
import { sampleRecord } from '../../support/sample-record.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs
const days = 16
/** So that days can be too old; whole hours, and within a week of the sums. */
const from = Math.floor(Date.now() / dayMs) * dayMs - days * dayMs
const nodes = ['gw-a', 'gw-b']
/** Rows of a day of a node. */
const mostTagRows = 5000

/** Names and texts that look like what stands around them. */
const word = fc.constantFrom('a', 'b', 'tags', '"', '\\', 'ü', '},"tags":{', '{"tags":{"a":"b"}}', '\0', '=')
const tags = fc.oneof(
  fc.constant<Record<string, string>>({}),
  fc.dictionary(fc.constantFrom('team', 'user', 'tags', '"'), word, { maxKeys: 3 }),
)
const shape = fc.record({
  tags,
  minute: fc.nat(days * 24 * 60),
  status: fc.constantFrom(200, 429),
  key: fc.nat(2),
  usd: fc.option(fc.nat(1e6).map((nano) => nano / 1e9)),
  tokens: fc.nat(1000),
  duration: fc.option(fc.nat(400_000)),
})
type Shape = typeof shape extends fc.Arbitrary<infer Value> ? Value : never

const which = fc.nat(200)
const step = fc.oneof(
  fc.record({ act: fc.constant('add' as const), shapes: fc.array(shape, { minLength: 1, maxLength: 8 }) }),
  fc.record({ act: fc.constant('replace' as const), which, shape }),
  fc.record({ act: fc.constant('again' as const), which }),
  fc.record({ act: fc.constant('reprice' as const), which, usd: fc.nat(1e6).map((nano) => nano / 1e9) }),
  fc.record({ act: fc.constant('purge' as const), which }),
)
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never

const plan = fc.array(fc.record({ step, node: fc.nat(1), older: fc.nat(5).map((drawn) => drawn === 0) }), {
  minLength: 1,
  maxLength: 8,
})

const moment = fc.nat(days * 24).map((hours) => new Date(from + hours * hourMs).toISOString())
const filters = fc.record(
  { since: moment, until: moment, key: fc.constant('key_1'), errors: fc.constant(true) },
  { requiredKeys: [] },
)
const charts = fc.tuple(fc.constantFrom(1, 3, 50), fc.constantFrom(6 * hourMs, dayMs, 7 * dayMs))
const ways = fc.constantFrom<StatsBy[]>(['tag'], ['tag', 'day'], ['tag', 'key'], ['model', 'tag', 'status'])

function makeRecord({ minute, status, key, usd, tokens, duration, tags }: Shape, id?: string): RequestRecord {
  const time = from + minute * 60_000
  return sampleRecord({
    ...{ id: id ?? newId('req', time), time: new Date(time).toISOString(), status, tags, model: `m-${key}` },
    error: status === 200 ? null : { code: 'rate_limited', origin: 'gateway', message: 'It was "tags":{} \0.' },
    ...{ key: { id: `key_${key}`, name: `key-${key}` }, provider: status === 200 ? 'openai' : null },
    cost: usd === null ? null : { usd, price_version: 'v' },
    tokens: { input: tokens, output: 1, cache_read: 0, cache_write: 0, reasoning: 0, source: 'reported' },
    ...{ duration_ms: duration, first_byte_ms: duration === null ? null : duration / 3 },
  })
}

describe.skipIf(postgresPrograms === null)(`statistics by tag through PostgreSQL (${needsPostgres})`, () => {
  let shared: PostgresRecords
  const known = new Map<string, { node: string; record: RequestRecord }>()
  beforeAll(async () => {
    shared = await PostgresRecords.start([])
  })
  afterAll(() => shared?.remove())

  const pick = (index: number) => [...known.values()][index % Math.max(1, known.size)]

  async function ship(node: string, records: readonly RequestRecord[], again: boolean): Promise<void> {
    for (const record of records) known.set(record.id, { node, record })
    await shared.ship(node, records, again)
  }

  async function run(step: Step, node: string): Promise<void> {
    if (step.act === 'add')
      return await ship(
        node,
        step.shapes.map((each) => makeRecord(each)),
        false,
      )
    const found = pick(step.which)
    if (found === undefined) return
    const { id } = found.record
    if (step.act === 'again') await ship(found.node, [found.record], true)
    else if (step.act === 'replace') {
      const minute = (Date.parse(found.record.time) - from) / 60_000
      await ship(found.node, [makeRecord({ ...step.shape, minute }, id)], true)
    } else if (step.act === 'reprice') {
      const cost = { usd: step.usd, price_version: 'q' }
      found.record = { ...found.record, cost }
      await shared.reprice([{ id, cost, attempt: null }])
    } else {
      known.delete(id)
      await shared.removeRecords([id])
    }
  }
  const own = (filter: Omit<RecordFilter, 'limit'>, by: StatsBy[]) => shared.own.stats({ ...filter, limit: 1 }, by)
  const all = (filter: Omit<RecordFilter, 'limit'>, by: StatsBy[], pageRows = 5000) =>
    recordStats(new PostgresSource(shared.ask, pageRows), { ...filter, limit: 1 }, by)

  /** Charts as well. */
  async function expectSeries(most: number, stepMs: number): Promise<void> {
    const begin = Math.floor(from / stepMs) * stepMs
    const question = { by: 'tag' as const, from: begin, stepMs, steps: Math.ceil((days * dayMs) / stepMs) + 1, most }
    const filter = { limit: 1, since: new Date(begin).toISOString() }
    expect(await recordSeries(new PostgresSource(shared.ask), filter, question)).toEqual(
      await shared.own.series(filter, question),
    )
  }

  it('are those of a gateway alone, whatever becomes of records, and through nodes of whatever version', async () => {
    await fc.assert(
      fc.asyncProperty(
        plan,
        filters,
        ways,
        charts,
        fc.integer({ min: 1, max: 9 }),
        async (steps, filter, by, chart, pageRows) => {
          known.clear()
          await shared.clear()
          for (const { step, node, older } of steps) {
            const act = () => run(step, nodes[node] ?? '')
            await (older ? shared.asOlder(act) : act())
          }
          expect(await all(filter, by, pageRows)).toEqual(await own(filter, by))
          expect(await all({}, by)).toEqual(await own({}, by))
          await expectSeries(...chart)
        },
      ),
      { numRuns: 60 },
    )
  })

  const atMinute = (minute: number, tags: Record<string, string>) =>
    makeRecord({ minute, status: 200, key: 0, usd: 0.5, tokens: 3, duration: 9, tags })
  const minutesOfDay = 24 * 60
  /** Which records were read: as what, and of which days. */
  const readings = () => shared.asked.filter((text) => text.includes('from spgw.records ')).length

  async function expectTags(wanted: Record<string, number>, records: number): Promise<void> {
    shared.asked.length = 0
    const found = await all({ since: new Date(from).toISOString() }, ['tag'])
    expect(found).toEqual(await own({ since: new Date(from).toISOString() }, ['tag']))
    expect(Object.fromEntries(found.map(({ group, requests }) => [group, requests]))).toEqual(wanted)
    expect(readings()).toBe(records)
  }

  it('read no record of whole days, but where a node of an earlier version has written some', async () => {
    known.clear()
    await shared.clear()
    await ship(
      'gw-a',
      [atMinute(1, { team: 'a' }), atMinute(2, {}), atMinute(minutesOfDay, { team: 'b', user: 'u' })],
      false,
    )
    await ship('gw-b', [atMinute(3, { team: 'a' })], false)
    await expectTags({ 'team=a': 2, 'team=b': 1, 'user=u': 1, '(none)': 1 }, 0)
    const [late, later] = [atMinute(4, { team: 'a' }), atMinute(5, {})]
    await shared.asOlder(() => ship('gw-b', [late, later], false))
    await expectTags({ 'team=a': 3, 'team=b': 1, 'user=u': 1, '(none)': 2 }, 1)
    await shared.asOlder(() => shared.removeRecords([late.id, later.id]))
    await expectTags({ 'team=a': 2, 'team=b': 1, 'user=u': 1, '(none)': 1 }, 0)
    await ship('gw-a', [atMinute(2 * minutesOfDay, { team: 'c' })], false)
    await expectTags({ 'team=a': 2, 'team=b': 1, 'team=c': 1, 'user=u': 1, '(none)': 1 }, 0)
    const [, , between] = [...known.values()].filter(({ node }) => node === 'gw-a')
    await shared.asOlder(() => shared.removeRecords([between?.record.id ?? '']))
    await expectTags({ 'team=a': 2, 'team=c': 1, '(none)': 1 }, 0)
  })

  it('read the records of a day of a node that has too many tags, and keep none of its sums', async () => {
    await shared.clear()
    const many = (day: number, count: number, user = '') =>
      Array.from({ length: count }, (_, number) => atMinute(day * minutesOfDay, { user: `${user}${number}` }))
    await ship('gw-a', [...many(0, mostTagRows - 1), ...many(1, mostTagRows - 1)], false)
    await ship('gw-b', many(0, 10, 'of b'), false)
    shared.asked.length = 0
    expect(await all({}, ['tag'])).toHaveLength(mostTagRows + 9)
    expect(readings()).toBe(0)
    await ship('gw-a', [atMinute(0, { user: 'one more' })], false)
    shared.asked.length = 0
    expect(await all({}, ['tag'])).toHaveLength(mostTagRows + 10)
    expect(readings()).toBe(1)
    const kept = await shared.client.query(
      `select node, start, count(*)::int as rows from spgw.tag_sums group by 1, 2 order by 1, 2`,
    )
    expect(kept.rows.map(({ node, rows }) => `${node} ${rows}`)).toEqual([`gw-a ${mostTagRows}`, 'gw-b 11'])
    // What goes again does not bring it back.
    await shared.removeRecords([...known.values()].filter(({ node }) => node === 'gw-a').map(({ record }) => record.id))
    expect(await all({}, ['tag'])).toHaveLength(10)
    expect((await shared.client.query('select start from spgw.tag_sums where node = $1', ['gw-a'])).rows).toEqual([])
  })

  it('go with the days that no node keeps any more', async () => {
    await shared.clear()
    await ship('gw-a', [atMinute(0, { team: 'old' }), atMinute((days - 1) * minutesOfDay, { team: 'new' })], false)
    await shared.client.query("insert into spgw.members (id, name) values ('nod_a', 'gw-a')")
    await shared.client.query("insert into spgw.shipped (member, node, keep_ms) values ('nod_a', 'gw-a', $1)", [
      3 * dayMs,
    ])
    await keepDays(shared.client)
    for (const table of ['tag_sums', 'tag_days'])
      expect((await shared.client.query(`select distinct start from spgw.${table}`)).rows).toHaveLength(1)
    expect((await all({}, ['tag'])).map(({ group }) => group)).toEqual(['team=new'])
  })
})
