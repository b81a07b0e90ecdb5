import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PostgresSource } from '../../../src/cluster/readings/postgres-source.ts'
import { newId } from '../../../src/core/ids.ts'
import type { StatsBy } from '../../../src/store/api.ts'
import { recordSeries } from '../../../src/store/records/record-series.ts'
import { recordStats } from '../../../src/store/records/record-stats.ts'
import { recordUsage } from '../../../src/store/records/record-usage.ts'
import { PostgresRecords } from '../../support/postgres-records.ts'
import { needsPostgres, postgresPrograms } from '../../support/postgres-server.ts'
import { sampleRecord } from '../../support/sample-record.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs
const from = Date.UTC(2026, 1, 10, 5)
const days = 40

/** Of several weeks: most days and weeks have several of a label, and some none. One key gets another name in the midst of a week. */
const records = Array.from({ length: 400 }, (_, index) => {
  const time = from + ((index * 7919) % (days * 24 * 60)) * 60_000
  const status = index % 6 === 0 ? 500 : index % 31 === 0 ? null : 200
  return sampleRecord({
    ...{ id: newId('req', time), time: new Date(time).toISOString(), status, model: `m-${index % 3}` },
    error: status !== 500 ? null : { code: 'provider_error', origin: 'provider', message: 'No.' },
    key: {
      id: `key_${index % 4}`,
      name: index % 4 === 0 && time >= from + 17 * dayMs ? 'renamed' : `key-${index % 4}`,
    },
    // Of some it is not known.
    ...{ provider: index % 7 === 0 ? null : `p-${index % 2}`, environment: index % 5 === 0 ? null : 'production' },
    ...{ duration_ms: 1 + ((index * 37) % 5000), first_byte_ms: index % 5 === 0 ? null : (index * 17) % 900 },
    route: index % 11 === 0 ? null : `m-${index % 4}*`,
    cost: index % 9 === 0 ? null : { usd: index / 1e4, price_version: 'v' },
  })
}).toSorted((one, other) => (one.time < other.time ? -1 : 1))

const moment = fc.nat(days * 24).map((hours) => new Date(from + hours * hourMs).toISOString())
const filters = fc.record(
  { since: moment, until: moment, model: fc.constantFrom('m-0', 'none'), key: fc.constant('key_1') },
  { requiredKeys: [] },
)
const ways = fc.constantFrom<StatsBy[]>(
  ['total'],
  ['model'],
  ['key', 'model'],
  ['status'],
  ['error'],
  ['project', 'day'],
  ['provider', 'environment', 'model'],
  ['key', 'day'],
  ['route'],
  ['project', 'route'],
  ['route', 'tag'],
)
/** So few that a page ends at any of them. */
const pages = fc.integer({ min: 1, max: 9 })

/** In no order. */
const sorted = (rows: readonly { id: string }[]) => rows.toSorted((one, other) => (one.id < other.id ? -1 : 1))

describe.skipIf(postgresPrograms === null)(`statistics through PostgreSQL (${needsPostgres})`, () => {
  let shared: PostgresRecords
  beforeAll(async () => {
    shared = await PostgresRecords.start(records)
  })
  afterAll(() => shared.remove())

  it('are those of a gateway alone, of any time and by whatever they are grouped', async () => {
    await fc.assert(
      fc.asyncProperty(filters, ways, pages, async (filter, by, pageRows) => {
        const asked = { ...filter, limit: 1 }
        const source = new PostgresSource(shared.ask, pageRows)
        expect(await recordStats(source, asked, by)).toEqual(await shared.own.stats(asked, by))
        const lately = new Date(from + 30 * dayMs).toISOString()
        const usage = await recordUsage(source, asked, lately)
        expect(sorted(usage)).toEqual(sorted(await shared.own.usage(asked, lately)))
      }),
      { numRuns: 40 },
    )
  })

  it('are told by node', async () => {
    const [whole, ...others] = await recordStats(new PostgresSource(shared.ask), { limit: 1 }, 'node')
    const [total] = await shared.own.stats({ limit: 1 }, 'total')
    expect(others).toEqual([])
    expect(whole).toEqual({ ...total, id: 'gw-a', group: 'gw-a', groups: ['gw-a'] })
  })

  it('are those of a gateway alone step by step, of hours, days and weeks', async () => {
    for (const stepMs of [6 * hourMs, dayMs, 7 * dayMs]) {
      const begin = Math.floor(from / stepMs) * stepMs
      const question = {
        by: 'model' as const,
        from: begin,
        stepMs,
        steps: Math.ceil((days * dayMs) / stepMs) + 1,
        most: 5,
      }
      const filter = { limit: 1, since: new Date(begin).toISOString() }
      expect(await recordSeries(new PostgresSource(shared.ask, 7), filter, question)).toEqual(
        await shared.own.series(filter, question),
      )
    }
  })
})
