import { describe, expect, it } from 'vitest'
import { newId } from '../../../src/core/ids.ts'
import type { RequestRecord } from '../../../src/core/record.ts'
import { TrafficTallier } from '../../../src/store/ingest/traffic-tally.ts'
import { encodeEntry, JournalWriter } from '../../support/journal-writer.ts'
import { sampleRecord } from '../../support/sample-record.ts'
import { startTestStore, storePaths, temporaryDirectory } from '../support.ts'

const start = Date.parse('2026-03-01T00:00:00.000Z')
const since = new Date(start).toISOString()
const hourMs = 3_600_000
const hours = 49

/** What a client sent, and in every second hour a copy of it, which is dearer and slow, and every fourth time fails. */
function invent(): RequestRecord[] {
  return Array.from({ length: hours }, (_, hour) => hour).flatMap((hour) => {
    const time = start + hour * hourMs
    const at = (ms: number, change: Partial<RequestRecord>) =>
      sampleRecord({ id: newId('req', time + ms), time: new Date(time + ms).toISOString(), ...change })
    const asked = at(0, { provider: 'main' })
    if (hour % 2 === 1) return [asked]
    const error = { code: 'provider_error', origin: 'provider', message: 'no' } as const
    const copy = at(1, {
      ...{ provider: 'second', shadow_of: asked.id, duration_ms: 90_000, first_byte_ms: 80_000 },
      ...{ cost: { usd: 0.003, price_version: 'test' } },
      ...(hour % 4 === 0 ? { status: 500, error } : {}),
      ...(hour === 48 ? { state: 'interrupted' as const, status: null } : {}),
    })
    return [asked, copy]
  })
}

async function storeWith(records: readonly RequestRecord[]) {
  const data = storePaths(temporaryDirectory())
  const writer = new JournalWriter(data.journalDirectory, { boot: 'live', thread: 0, sequence: 1 }, 1024 * 1024)
  writer.writeBytes(Buffer.concat(records.map((record) => encodeEntry({ kind: 'settled', record }))))
  const store = await startTestStore(data)
  await store.ingest()
  return store
}

describe('copies for shadow targets', () => {
  it("are spent, and are nobody's requests, errors or latencies, whoever counts", async () => {
    const records = invent()
    const store = await storeWith(records)
    const copies = records.filter(({ shadow_of }) => shadow_of !== null)
    const spent = { input: records.length * 10, output: records.length * 5, usd: hours * 0.001 + copies.length * 0.003 }
    const filter = { limit: 1000, since }

    const [total] = await store.records.stats(filter, 'total')
    const counted = { requests: hours, errors: 0, interrupted: 0 }
    expect(total).toMatchObject({ ...counted, shadows: copies.length, ...spent, interrupted_tokens: 15 })
    expect(total).toMatchObject({ duration_p99_ms: 100, first_byte_p95_ms: 50 })
    // A filter by tag or route reads the records themselves.
    expect(await store.records.stats({ ...filter, route: 'gpt-4o-mini' }, 'total')).toEqual([total])

    for (const by of ['key', 'model', 'provider', 'project', 'environment', 'day', 'status', 'error', 'tag'] as const) {
      const rows = await store.records.stats(filter, by)
      const sum = (name: 'requests' | 'shadows' | 'errors' | 'input') => rows.reduce((all, row) => all + row[name], 0)
      expect([by, sum('requests'), sum('shadows'), sum('errors'), sum('input')]).toEqual([
        ...[by, hours, copies.length, 0, spent.input],
      ])
      expect(rows.reduce((all, { usd }) => all + (usd ?? 0), 0)).toBeCloseTo(spent.usd, 9)
    }

    const [key] = await store.records.usage({ limit: 1, since }, since)
    expect(key?.whole).toEqual({ requests: hours, tokens: spent.input + spent.output, cached: 0, usd: spent.usd })

    for (const [by, stepMs] of [
      ['total', hourMs],
      ['provider', 24 * hourMs],
    ] as const) {
      const series = await store.records.series(filter, { by, from: start, stepMs, steps: 49, most: 1 })
      const points = series.flatMap((group) => group.points)
      const sum = (name: 'requests' | 'errors' | 'input') => points.reduce((all, point) => all + point[name], 0)
      expect([sum('requests'), sum('errors'), sum('input')]).toEqual([hours, 0, spent.input])
      expect(Math.max(...points.map((point) => point.duration_p99_ms ?? 0))).toBe(100)
    }

    const tallier = new TrafficTallier()
    for (const record of records) tallier.add({ ...record, figures: null })
    const tally = tallier.take()
    expect(tally?.served.reduce((all, { count }) => all + count, 0)).toBe(hours)
    expect(tally?.seconds.reduce((all, { requests, errors }) => all + requests + errors, 0)).toBe(hours)
    expect(tally?.served.reduce((all, { tokens }) => all + tokens.input, 0)).toBe(spent.input)

    expect(await store.records.list(filter)).toHaveLength(hours + copies.length)
  })

  it('leave the sums as they came', async () => {
    const store = await storeWith(invent())
    const [copy] = await store.records.list({ limit: 1, provider: 'second' })
    const cost = { usd: 0.5, price_version: 'next' }
    await store.records.reprice([{ id: copy?.id ?? '', cost, attempt: null }])
    const [dear] = await store.records.stats({ limit: 1, since }, 'provider')
    expect(dear).toMatchObject({ group: 'main', requests: hours, shadows: 0, usd: hours * 0.001 })
    const [, second] = await store.records.stats({ limit: 1, since }, 'provider')
    expect(second).toMatchObject({
      group: 'second',
      requests: 0,
      shadows: 25,
      usd: expect.closeTo(24 * 0.003 + 0.5, 9),
    })
  })
})
