import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ReadingFilter } from '../../../src/cluster/readings/reading.ts'
import { searchRecords } from '../../../src/cluster/readings/search.ts'
import { newId } from '../../../src/core/ids.ts'
import type { RequestRecord } from '../../../src/core/record.ts'
import { PostgresRecords } from '../../support/postgres-records.ts'
import { needsPostgres, postgresPrograms } from '../../support/postgres-server.ts'
import { sampleRecord } from '../../support/sample-record.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs
const from = Date.UTC(2026, 2, 1)
const days = 6

/** One in an hour that nobody else has, and those that begin and end days and hours. */
const moments = [
  ...Array.from({ length: 60 }, (_, index) => index * 13 * 60_000),
  ...[0, 1, hourMs - 1, hourMs, dayMs - 1, dayMs, 3 * dayMs - 1, 3 * dayMs, 5 * dayMs + 23 * hourMs],
]
const records = moments
  .map((moment, index) => {
    const time = from + moment
    const status = index % 5 === 0 ? 429 : 200
    return sampleRecord({
      ...{ id: newId('req', time), time: new Date(time).toISOString(), status },
      error: status === 200 ? null : { code: 'rate_limited', origin: 'gateway', message: 'No.' },
      ...{
        model: `m-${index % 3}`,
        project: index % 7 === 0 ? 'search' : 'default',
        provider: index === 31 ? 'rare' : 'p',
      },
      // NUL, and what only looks like it.
      tags: index % 4 === 0 ? { team: 'a', 'x\0': 'y\0z', path: 'c:\\u0000' } : {},
    })
  })
  .toSorted((one, other) => (one.id < other.id ? 1 : -1))

const matches = (record: RequestRecord, filter: ReadingFilter): boolean =>
  (filter.model === undefined || record.model === filter.model) &&
  (filter.provider === undefined || record.provider === filter.provider) &&
  (filter.status === undefined || String(record.status) === filter.status) &&
  (filter.error === undefined || record.error?.code === filter.error) &&
  (filter.tags === undefined || record.tags.team === 'a') &&
  (filter.names === undefined || filter.names.some(({ name }) => name === record.project)) &&
  (filter.since === undefined || record.time >= filter.since) &&
  (filter.until === undefined || record.time < filter.until)

const moment = fc.nat((days * dayMs) / 60_000).map((minutes) => new Date(from + minutes * 60_000).toISOString())
const filters = fc.record(
  {
    ...{
      model: fc.constantFrom('m-0', 'm-1', 'none'),
      provider: fc.constantFrom('p', 'rare'),
      status: fc.constantFrom('200', '429'),
    },
    ...{
      error: fc.constant('rate_limited'),
      tags: fc.constantFrom<Record<string, string | null>>(
        { team: 'a' },
        { 'x\0': 'y\0z' },
        { 'x\0': null, path: 'c:\\u0000' },
      ),
      since: moment,
      until: moment,
    },
    names: fc.constantFrom<NonNullable<ReadingFilter['names']>>([], [{ name: 'search', since: '', until: null }]),
  },
  { requiredKeys: [] },
)

describe.skipIf(postgresPrograms === null)(`a search through PostgreSQL (${needsPostgres})`, () => {
  let shared: PostgresRecords
  beforeAll(async () => {
    shared = await PostgresRecords.start(records)
  })
  afterAll(() => shared.remove())

  /** Page after page, as far as there are any. */
  async function findAll(filter: Omit<ReadingFilter, 'limit'>, limit: number, withinMs: number): Promise<string[]> {
    const ids: string[] = []
    for (let before: string | undefined; ; ) {
      const page = await searchRecords(
        shared.ask,
        { ...filter, limit, ...(before === undefined ? {} : { before }) },
        withinMs,
      )
      ids.push(...page.records.map(({ id }) => id))
      if (page.before === null) return ids
      before = page.before
    }
  }

  it('finds each record once, newest first, however little time a page has', async () => {
    await fc.assert(
      fc.asyncProperty(filters, fc.integer({ min: 1, max: 20 }), fc.boolean(), async (filter, limit, hurried) => {
        const wanted = records.filter((record) => matches(record, { ...filter, limit })).map(({ id }) => id)
        expect(await findAll(filter, limit, hurried ? 0 : 60_000)).toEqual(wanted)
      }),
      { numRuns: 60 },
    )
  })

  it('looks only where there is something, and says how far it has come', async () => {
    shared.asked.length = 0
    const rare = await searchRecords(shared.ask, { provider: 'rare', limit: 5 }, 60_000)
    expect(rare.records.map(({ provider }) => provider)).toEqual(['rare'])
    // The newest day, and the one hour that has it.
    expect(shared.asked.filter((text) => text.includes('from spgw.records '))).toHaveLength(2)
    const hurried = await searchRecords(shared.ask, { tags: { team: 'a' }, limit: 50 }, 0)
    expect(hurried.searchedUntil).toBe(new Date(from + 5 * dayMs + 23 * hourMs).toISOString())
    expect(await searchRecords(shared.ask, { id: records[3]?.id ?? '', limit: 5 }, 0)).toMatchObject({
      ...{ records: [{ id: records[3]?.id }], before: null, searchedUntil: null },
    })
  })
})
