import { describe, expect, it } from 'vitest'
import { fillPrice } from '../../src/core/cost/model-price.ts'
import { refusal, startTestGateway, type TestGateway } from './gateway.ts'

async function start(): Promise<TestGateway> {
  const gateway = await startTestGateway()
  for (const name of ['openai', 'spare'])
    await gateway.client.providers.add({ name, kind: 'openai', credential: `sk-${name}-credential-0001` })
  return gateway
}

describe('what a route does besides choosing a target', () => {
  it('is off, is set, and is switched off again', async () => {
    const { client, parts } = await start()
    const off = { sticky: false, hedge: null, shadow: null }
    expect(await client.routes.add({ model: 'm', provider: 'openai' })).toMatchObject({
      ...{ ...off, strict: false, echo_model: false, fetch_media: false },
    })
    const on = { sticky: true, hedge: { after: '120ms', share: 5 }, shadow: 'spare:small' }
    expect(
      await client.routes.edit({ model: 'm', sticky: true, hedgeAfter: '120ms', shadow: 'spare:small' }),
    ).toMatchObject(on)
    expect(parts.runtime.snapshot().configuration.routes[0]).toMatchObject({
      sticky: true,
      hedge: { after: 120, share: 5 },
      shadow: { upstreamModel: 'small' },
    })
    // What an edit does not name stays.
    expect(await client.routes.edit({ model: 'm', disabled: true })).toMatchObject({ enabled: false })
    expect(await client.routes.edit({ model: 'm', retries: 2 })).toMatchObject({ enabled: false, retries: 2 })
    expect(await client.routes.edit({ model: 'm', disabled: false })).toMatchObject({ enabled: true })
    expect(await client.routes.edit({ model: 'm', hedgeShare: 2 })).toMatchObject({
      ...on,
      hedge: { after: '120ms', share: 2 },
    })
    expect(await client.routes.edit({ model: 'm', hedgeAfter: 'p95' })).toMatchObject({
      hedge: { after: 'p95', share: 2 },
    })
    expect(await client.routes.edit({ model: 'm', sticky: false, hedgeAfter: 'none', shadow: 'none' })).toMatchObject(
      off,
    )
  })

  it.each([
    [{ hedgeAfter: 'soon' }, 'invalid'],
    [{ hedgeAfter: '1ms' }, 'invalid'],
    [{ hedgeShare: 5 }, 'invalid'],
    [{ shadow: 'spare,weight=2' }, 'invalid'],
    [{ shadow: 'spare:small-*' }, 'invalid'],
    [{ shadow: 'nobody' }, 'not_found'],
  ] as const)('is refused: %j', async (input, code) => {
    const { client } = await start()
    await client.routes.add({ model: 'm', provider: 'openai' })
    expect((await refusal(client.routes.edit({ model: 'm', ...input }))).code).toBe(code)
  })

  it('keeps the provider of a shadow', async () => {
    const { client } = await start()
    await client.routes.add({ model: 'm', provider: 'openai', shadow: 'spare' })
    expect((await refusal(client.providers.remove({ name: 'spare' }))).code).toBe('conflict')
  })
})

describe('an explanation for a key', () => {
  it('shows what is left of its limits and budgets', async () => {
    const { client, used } = await start()
    await client.routes.add({ model: 'm', provider: 'openai', sticky: true, hedgeAfter: 'p95' })
    await client.keys.create({ name: 'ci' })
    const policy = await client.policies.add({ name: 'team', rpm: 60, budgetUsdDay: 2, attach: ['workspace'] })
    used.set(`${policy.id} workspace requests minute`, { used: 12, held: 0, holders: 0, resetsAt: null })
    used.set(`${policy.id} workspace usd day`, { used: 500_000_000, held: 250_000_000, holders: 0, resetsAt: null })
    const explained = await client.routes.explain({ model: 'm', key: 'ci' })
    expect(explained.limits).toMatchObject([{ kind: 'requests', used: 12, limit: 60, left: 48 }])
    expect(explained.periods).toMatchObject([{ kind: 'usd', used: 0.5, held: 0.25, limit: 2, left: 1.25 }])
    expect(explained.route).toMatchObject({ sticky: true, hedge: { after: 'p95', share: 5 }, shadow: null })
    expect(await client.routes.explain({ model: 'm' })).toMatchObject({ limits: [], periods: [] })
  })
})

describe('an explanation of a route whose provider has limits of its own', () => {
  it('skips the targets whose accounts have no room, and says what the client would be told', async () => {
    const { client, used, parts } = await start()
    await client.routes.add({ model: 'm', targets: ['openai:m', 'spare:m'] })
    const { id } = await client.providers.edit({ name: 'openai', rpm: 5, budgetUsdMonth: 20 })
    const explain = () => client.routes.explain({ model: 'm' })
    const price = fillPrice({ model: 'm', source: 'set', version: 'v1', input: 10, output: 10 })
    expect(await explain()).toMatchObject({
      error: null,
      skipped: [{ provider: 'openai', reason: expect.stringMatching(/has no price/) }],
    })
    parts.runtime.prices = () => [price]
    expect((await explain()).taken.map(({ provider }) => provider)).toEqual(['openai', 'spare'])

    used.set(`${id} account requests minute`, { used: 5, held: 0, holders: 0, resetsAt: Date.now() + 30_000 })
    const minute = await explain()
    expect(minute.taken.map(({ provider }) => provider)).toEqual(['spare'])
    expect(minute.skipped).toMatchObject([
      { provider: 'openai', reason: expect.stringMatching(/may be used for 5 requests a minute/) },
    ])
    expect(minute.routing_signals.at(-1)).toMatchObject({
      ...{ rule: 'target', verdict: 'skipped', data: { code: 'account' }, text: expect.stringMatching(/[^.]\.$/) },
    })

    // Of a limit that nodes share it is not known what is used of it, and not only held.
    used.set(`${id} account requests minute`, {
      ...{ used: 5, held: 0, holders: 0, resetsAt: Date.now() + 30_000, includesHeld: true },
    })
    expect((await explain()).skipped[0]?.reason).toContain(
      'They are used up, or nodes of the cluster hold the rest; try again',
    )
    const account = await client.providers.show({ name: 'openai' })
    expect(account.limits.map((limit) => limit.used_includes_held)).toEqual([true, undefined])

    used.set(`${id} account requests minute`, { used: 0, held: 0, holders: 0, resetsAt: null })
    const spent = { used: 20e9, held: 0, holders: 0, resetsAt: Date.now() }
    used.set(`${id} account usd month`, spent)
    await client.routes.edit({ model: 'm', targets: ['openai:m'] })
    expect(await explain()).toMatchObject({ taken: [], error: { code: 'budget_exceeded' } })
    used.set(`${id} account usd month`, { ...spent, used: 0, held: 20e9, holders: 2 })
    expect(await explain()).toMatchObject({
      error: { code: 'rate_limited', message: expect.stringMatching(/2 running requests hold/) },
    })
  })
})
