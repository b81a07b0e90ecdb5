import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { newId } from '../../src/core/ids.ts'
import type { RequestRecord } from '../../src/core/record.ts'
import { fellBack, sampleRecord } from '../support/sample-record.ts'
import { journal, startTestGateway, type TestGateway } from './gateway.ts'

const now = (change: Partial<RequestRecord>) => sampleRecord({ id: newId('req'), ...change })

async function addProviders({ client }: TestGateway): Promise<void> {
  await client.providers.add({ name: 'openai', kind: 'openai', credential: 'sk-one-credential-0001' })
  await client.providers.add({ name: 'azure', kind: 'openai', credential: 'sk-two-credential-0002' })
}

describe('providers.history', () => {
  it('tells each change newest first, and what held before', async () => {
    const gateway = await startTestGateway()
    await addProviders(gateway)
    const provider = await gateway.store.providers.find('openai')
    const found = (state: 'ready' | 'failing', reason: string | null, minutes: number) =>
      gateway.store.providers.setReadiness(
        provider?.id ?? '',
        { state, reason, since: new Date(Date.now() + minutes * 60_000).toISOString() },
        null,
      )
    await found('failing', 'credential rejected', 10)
    await found('ready', null, 20)
    const history = await gateway.client.providers.history({ name: 'openai' })
    expect(history).toMatchObject([
      { state: 'ready', reason: null },
      { state: 'failing', reason: 'credential rejected' },
      { state: 'ready', reason: null },
    ])
    const late = new Date(Date.now() + 15 * 60_000).toISOString()
    expect(await gateway.client.providers.history({ name: 'openai', since: late })).toEqual(history.slice(0, 2))
  })
})

describe('routes.traffic', () => {
  it('tells who answered what share, and every target that got nothing', async () => {
    const gateway = await startTestGateway()
    const { client } = gateway
    await addProviders(gateway)
    await client.routes.add({ model: 'gpt-*', targets: ['openai', 'azure:gpt4-eu'], allEnvironments: true })
    const routed = { route: 'gpt-*', model: 'gpt-4o', upstream_model: 'gpt-4o', provider: 'openai' }
    journal(
      gateway,
      ...[1, 2].map(() => now(routed)),
      now({ ...routed, status: 500, duration_ms: 900 }),
      now({ ...routed, provider: 'former', upstream_model: 'old' }),
      now({ ...routed, provider: null, upstream_model: null }),
      now({ ...routed, route: 'gpt-4o' }),
      now({ ...routed, environment: 'staging' }),
      now({ ...routed, project: 'elsewhere' }),
      now({
        ...routed,
        id: newId('req', Date.now() - 7_200_000),
        time: new Date(Date.now() - 7_200_000).toISOString(),
      }),
    )
    await client.environments.add({ name: 'staging' })
    await client.routes.add({ model: 'gpt-*', provider: 'openai', environment: 'staging' })
    expect(await client.routes.traffic({ model: 'gpt-*', allEnvironments: true })).toEqual([
      {
        provider: 'openai',
        upstream_model: 'gpt-4o',
        target: true,
        requests: 3,
        errors: 1,
        tried: 3,
        failed: 1,
        fell_back: 0,
        share: 0.75,
        duration_p95_ms: 901,
        first_byte_p50_ms: 50,
      },
      expect.objectContaining({ provider: 'former', upstream_model: 'old', target: false, share: 0.25 }),
      expect.objectContaining({ provider: 'azure', upstream_model: 'gpt4-eu', target: true, requests: 0, share: 0 }),
    ])
    expect(await client.routes.traffic({ model: 'gpt-*', environment: 'staging' })).toMatchObject([
      { provider: 'openai', requests: 1, share: 1 },
    ])
    expect(await client.requests.list({ route: 'gpt-4o' })).toHaveLength(1)
  })
})

describe('keys.usage', () => {
  it('tells what each key has used, and when that begins anew', async () => {
    const gateway = await startTestGateway()
    // Far from where a day, or a month, begins anew.
    vi.useFakeTimers({ toFake: ['Date'] }).setSystemTime('2026-03-11T12:00:00Z')
    onTestFinished(() => void vi.useRealTimers())
    const { client } = gateway
    await client.environments.add({ name: 'staging' })
    const { id } = await client.keys.create({ name: 'ci' })
    // Keys of one name are told apart.
    const { id: other } = await client.keys.create({ name: 'ci', environment: 'staging' })
    const of = (key: string) => ({ key: { id: key, name: 'ci' } })
    journal(gateway, now(of(id)), now(of(id)), now(of(other)), now({}))
    const all = await client.keys.usage({ all: true })
    const sums = all.map(({ key, environment, today, month, limits }) => [
      [key.id, environment],
      [today.requests, today.tokens, today.usd],
      month,
      limits,
    ])
    expect(sums).toHaveLength(2)
    expect(sums).toContainEqual([[id, 'production'], [2, 30, 0.002], null, []])
    expect(sums).toContainEqual([[other, 'staging'], [1, 15, 0.001], null, []])
    const [one] = await client.keys.usage({ key: 'ci' })
    expect(one).toMatchObject({ key: { id }, today: { requests: 2 }, month: { requests: 2, usd: 0.002 } })
    for (const sum of [one?.today, one?.month]) expect(sum?.resets_at).toMatch(/T00:00:00\.000Z$/)
    expect(one?.last_used_at).not.toBeNull()
  })
})

describe('figures of a provider that others stand in for', () => {
  it('count its attempts, and their failures, as the route does', async () => {
    const gateway = await startTestGateway()
    const { client } = gateway
    await addProviders(gateway)
    await client.routes.add({ model: 'm', targets: ['azure', 'openai'], allEnvironments: true })
    const routed = { route: 'm', model: 'm', upstream_model: 'm', provider: 'openai', first_byte_ms: null }
    const stoodIn = { ...routed, attempts: fellBack('azure', 'openai') }
    journal(gateway, now(stoodIn), now(stoodIn), now(stoodIn), now(routed))
    await gateway.parts.runtime.ingest()
    const hour = async (name: string) => (await client.providers.show({ name })).last_hour
    // A reading of a moment ago may still be good.
    const all = { tried: 3, failed: 3, fell_back: 3, requests: 3, errors: 3 }
    await expect.poll(() => hour('azure'), { timeout: 20_000 }).toMatchObject(all)
    expect(await hour('openai')).toMatchObject({ tried: 4, failed: 0, fell_back: 0, requests: 4, errors: 0 })
    expect(await client.routes.traffic({ model: 'm', allEnvironments: true })).toMatchObject([
      { provider: 'openai', upstream_model: 'm', tried: 4, failed: 0, fell_back: 0, share: 0.5714 },
      { provider: 'azure', upstream_model: 'm', tried: 3, failed: 3, fell_back: 3, share: 0.4286 },
    ])
    const [sum] = await client.requests.stats({})
    expect(sum).toMatchObject({ requests: 4, errors: 0 })
  })
})
