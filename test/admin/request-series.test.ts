import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { requests } from '../../src/admin/contract/requests/requests.ts'
import { rowsOf } from '../../src/admin/contract/show-rows.ts'
import { newId } from '../../src/core/ids.ts'
import type { RequestRecord } from '../../src/core/record.ts'
import { sampleRecord } from '../support/sample-record.ts'
import { journal, refusal, startTestGateway } from './gateway.ts'

const start = Date.parse('2026-03-01T12:00:00.000Z')

function at(minutes: number, change: Partial<RequestRecord> = {}): RequestRecord {
  const time = start + minutes * 60_000
  return sampleRecord({ id: newId('req', time), time: new Date(time).toISOString(), ...change })
}

const window = { since: '2026-03-01T12:05:00Z', until: '2026-03-01T13:00:00Z' }

describe('requests.series', () => {
  it('lays steps on multiples of the step, the first one whole, and sums each', async () => {
    const gateway = await startTestGateway()
    journal(gateway, at(1), at(12, { status: 500 }), at(59), at(60))
    const found = await gateway.client.requests.series({ ...window, step: '10m' })
    expect(found).toMatchObject({
      since: '2026-03-01T12:00:00.000Z',
      until: '2026-03-01T13:00:00.000Z',
      step_ms: 600_000,
    })
    expect(found.groups.map(({ group, points }) => [group, ...points.map((point) => point.requests)])).toEqual([
      ['total', 1, 1, 0, 0, 0, 1],
    ])
    expect(found.groups[0]?.points[1]).toMatchObject({ time: '2026-03-01T12:10:00.000Z', errors: 1 })
    const { show } = requests.series['~orpc'].meta
    const rows = rowsOf(show, found)
    expect(rows).toHaveLength(6)
    expect(rows[5]).toMatchObject({ group: 'total', time: '2026-03-01T12:50:00.000Z', requests: 1 })
  })

  it('chooses a step of about sixty, whatever the span', async () => {
    const { client } = await startTestGateway()
    // At the beginning of a second there is a step less.
    vi.useFakeTimers({ toFake: ['Date'] }).setSystemTime('2026-03-01T12:00:00.500Z')
    onTestFinished(() => void vi.useRealTimers())
    const stepOf = async (since: string) => {
      const { step_ms, groups } = await client.requests.series({ since })
      return [step_ms / 1000, groups[0]?.points.length]
    }
    expect(await stepOf('1m')).toEqual([1, 61])
    expect((await stepOf('1h'))[0]).toBe(60)
    expect((await stepOf('24h'))[0]).toBe(1800)
    expect((await stepOf('7d'))[0]).toBe(10_800)
    expect((await stepOf('90d'))[0]).toBe(172_800)
    expect((await stepOf('3650d'))[0]).toBe(5_270_400)
  })

  it('are summed by one or two of what they have in common, and by no more', async () => {
    const gateway = await startTestGateway()
    const { client } = gateway
    const many = { input: 90, output: 5, cache_read: 0, cache_write: 0, reasoning: 0, source: 'reported' } as const
    journal(
      gateway,
      at(1, { model: 'm', environment: 'staging' }),
      at(2, { model: 'm', status: 429 }),
      at(3, { model: 'n', tokens: many, cost: { usd: 4, price_version: 'test' } }),
      at(4, { model: 'm' }),
    )
    const sums = async (by: string) =>
      (await client.requests.stats({ by })).map(({ group, groups, requests }) => [group, groups, requests])
    expect(await sums('environment')).toEqual([
      ['production', ['production'], 3],
      ['staging', ['staging'], 1],
    ])
    expect(await sums('model,status')).toEqual([
      ['m, 2xx', ['m', '2xx'], 2],
      ['m, 4xx', ['m', '4xx'], 1],
      ['n, 2xx', ['n', '2xx'], 1],
    ])
    expect(await client.requests.stats({ by: 'model', limit: 1 })).toMatchObject([{ group: 'm', requests: 3 }])
    expect(await client.requests.stats({ by: 'day,model', limit: 1 })).toMatchObject([
      { groups: [expect.anything(), 'm'] },
    ])
    for (const sort of ['tokens', 'cost'] as const)
      expect(await client.requests.stats({ by: 'model', sort, limit: 1 })).toMatchObject([{ group: 'n', requests: 1 }])
    expect(await client.requests.stats({ by: 'day,model', sort: 'errors', limit: 1 })).toHaveLength(1)
    for (const by of ['nothing', 'key,key', 'key,model,tag', ''])
      expect(await refusal(client.requests.stats({ by }))).toMatchObject({ code: 'invalid' })
    const { groups } = await client.requests.series({ ...window, step: '1h', by: 'environment' })
    expect(groups.map(({ group }) => group)).toEqual(['production', 'staging'])
  })

  it('groups, filters by tag, and refuses what would be too much', async () => {
    const gateway = await startTestGateway()
    const { client } = gateway
    journal(gateway, at(6, { tags: { team: 'a' } }), at(7, { tags: { team: 'b' }, model: 'm' }), at(8))
    const groups = async (input: object) =>
      (await client.requests.series({ ...window, step: '1h', ...input })).groups.map(({ group }) => group)
    expect(await groups({ by: 'model' })).toEqual(['gpt-4o-mini', 'm'])
    expect(await groups({ by: 'model', tags: ['team=b'] })).toEqual(['m'])
    expect(await groups({ by: 'tag', tags: ['team'] })).toEqual(['team=a', 'team=b'])
    expect(await client.requests.list({ tags: ['team=a'] })).toHaveLength(1)
    expect(await client.requests.stats({ tags: ['team'] })).toMatchObject([{ requests: 2, first_byte_p95_ms: 50 }])
    expect(await refusal(client.requests.series({ since: '90d', step: '1s' }))).toMatchObject({ code: 'invalid' })
    expect(await refusal(client.requests.series({ ...window, step: '0s' }))).toMatchObject({ code: 'invalid' })
    expect(await refusal(client.requests.series({ since: '1h', until: '2h' }))).toMatchObject({ code: 'invalid' })
    expect(await refusal(client.requests.list({ tags: ['=a'] }))).toMatchObject({ code: 'invalid' })
  })
})

describe('requests.show', () => {
  it('takes an ID as users give it', async () => {
    const gateway = await startTestGateway()
    const record = at(1)
    journal(gateway, record)
    for (const id of [record.id, record.id.toUpperCase(), `x-sp-request-id: ${record.id}`])
      expect(await gateway.client.requests.show({ id })).toMatchObject({ id: record.id })
  })
})
