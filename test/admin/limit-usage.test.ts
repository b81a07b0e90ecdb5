import { describe, expect, it } from 'vitest'
import { refusal, startTestGateway } from './gateway.ts'

const noSum = { requests: 0, tokens: 0, usd: null }

describe('the usage of limits', () => {
  it('is shown for a key, with all policies that apply to it', async () => {
    const { client, used } = await startTestGateway()
    await client.keys.create({ name: 'ci' })
    const [policy] = [await client.policies.add({ name: 'team', rpm: 60, tpm: 1000, attach: ['project:default'] })]
    await client.policies.add({ name: 'one', concurrency: 5, attach: ['key:ci'] })
    const { id } = await client.projects.show({ name: 'default' })
    used.set(`${policy.id} ${id} requests minute`, {
      ...{ used: 12, held: 0, holders: 0, resetsAt: 60_000, includesHeld: true },
    })
    const [usage] = await client.keys.usage({ key: 'ci' })
    expect(usage).toMatchObject({ today: noSum, month: noSum, periods: [] })
    expect(usage?.limits).toEqual([
      { policy: 'one', scope: 'key:default/production/ci', kind: 'concurrency', used: 0, limit: 5, resets_at: null },
      {
        policy: 'team',
        scope: 'project:default',
        kind: 'requests',
        used: 12,
        used_includes_held: true,
        limit: 60,
        resets_at: '1970-01-01T00:01:00.000Z',
      },
      { policy: 'team', scope: 'project:default', kind: 'tokens', used: 0, limit: 1000, resets_at: null },
    ])
    expect((await client.keys.usage({ all: true })).map(({ limits }) => limits.length)).toEqual([3])
  })

  it('shows the hours of all policies of a key, and when they open or close', async () => {
    const { client } = await startTestGateway()
    await client.keys.create({ name: 'ci' })
    expect((await client.keys.usage({ key: 'ci' }))[0]?.hours).toEqual([])
    await client.policies.add({ name: 'day', hours: ['08:00-18:00'], attach: ['project:default'] })
    await client.policies.add({ name: 'ever', hours: ['00:00-24:00'], attach: ['key:ci'] })
    const [day, ever, ...more] = (await client.keys.usage({ key: 'ci' }))[0]?.hours ?? []
    expect([ever?.policy, ever?.open, ever?.opens_at, ever?.closes_at, more]).toEqual(['ever', true, null, null, []])
    expect(day).toMatchObject({ policy: 'day', hours: ['08:00-18:00'], time_zone: 'UTC' })
    const [changes, none] = day?.open === true ? [day.closes_at, day.opens_at] : [day?.opens_at, day?.closes_at]
    expect(changes).toMatch(day?.open === true ? /T18:00:00/ : /T08:00:00/)
    expect(none).toBeNull()
  })

  it('is shown for a policy, at each place that counts apart', async () => {
    const { client } = await startTestGateway()
    await client.environments.add({ name: 'staging' })
    await client.keys.create({ name: 'ci' })
    await client.keys.create({ name: 'web', environment: 'staging' })
    await client.policies.add({ name: 'none', allowModels: ['gpt-4o'], attach: ['workspace'] })
    const attach = ['workspace', 'project:default', 'environment:default/staging', 'key:ci']
    await client.policies.add({ name: 'all', rpm: 60, attach })
    const scopes = async (name: string) => {
      const [usage, ...more] = await client.policies.usage({ name })
      expect(more).toEqual([])
      return usage?.limits.map(({ scope, limit }) => `${scope} ${limit}`).sort()
    }
    expect(await scopes('none')).toEqual([])
    expect(await scopes('all')).toEqual([
      'environment:default/staging 60',
      'key:default/production/ci 60',
      'project:default 60',
      'workspace 60',
    ])
    await client.policies.edit({ name: 'all', per: 'key' })
    expect(await scopes('all')).toEqual(['key:default/production/ci 60', 'key:default/staging/web 60'])
    await client.policies.edit({ name: 'all', per: 'user', attach: ['workspace'] })
    expect(await client.policies.usage({ name: 'all' })).toMatchObject([
      { limits: [{ scope: 'workspace', used: null }] },
    ])
    expect((await client.policies.usage({})).map(({ policy }) => policy)).toEqual(['all', 'none'])
  })

  it('shows budgets with what is held, and when they begin anew', async () => {
    const { client, used } = await startTestGateway()
    const budgets = { budgetUsdMonth: 200.5, budgetTokensDay: 1000, onBudget: 'warn' as const }
    const policy = await client.policies.add({ name: 'team', ...budgets, attach: ['workspace'] })
    expect(policy).toMatchObject({ budget_usd_month: 200.5, budget_tokens_day: 1000, on_budget: 'warn' })
    used.set(`${policy.id} workspace usd month`, { used: 42.1e9, held: 0.02e9, holders: 0, resetsAt: 60_000 })
    const [usage] = await client.policies.usage({})
    const shared = { policy: 'team', scope: 'workspace' }
    expect(usage?.limits).toEqual([])
    expect(usage?.periods).toMatchObject([
      {
        ...shared,
        ...{ kind: 'usd', period: 'month', used: 42.1, held: 0.02, limit: 200.5 },
        resets_at: '1970-01-01T00:01:00.000Z',
      },
      { ...shared, kind: 'tokens', period: 'day', used: 0, held: 0, limit: 1000 },
    ])
    await client.keys.create({ name: 'ci' })
    expect((await client.keys.usage({ key: 'ci' }))[0]?.periods).toEqual(usage?.periods)
    // The one nearest to its end is the first that the status tells of; what is held counts.
    const kinds = async () => (await client.status({})).budgets.map(({ kind }) => kind)
    expect(await kinds()).toEqual(['usd', 'tokens'])
    used.set(`${policy.id} workspace tokens day`, { used: 0, held: 900, holders: 1, resetsAt: 60_000 })
    expect(await kinds()).toEqual(['tokens', 'usd'])
  })

  it('keeps 0, which lets nothing pass, apart from no limit', async () => {
    const { client } = await startTestGateway()
    await client.policies.add({ name: 'shut', rpm: 0, attach: ['workspace'] })
    expect(await client.policies.usage({})).toMatchObject([{ limits: [{ kind: 'requests', limit: 0 }] }])
    expect(await client.policies.edit({ name: 'shut', clear: ['rpm'] })).toMatchObject({ rpm: null })
    expect(await client.policies.usage({})).toEqual([{ policy: 'shut', limits: [], periods: [] }])
  })

  it('has more room while a budget is granted more, and is told until when', async () => {
    const { client, parts } = await startTestGateway()
    await client.policies.add({ name: 'team', budgetUsdMonth: 200, budgetTokensDay: 1000, attach: ['workspace'] })
    await client.policies.add({ name: 'rates', rpm: 5 })
    const until = new Date(Date.now() + 60_000).toISOString()
    const more = { usd: 50, until }
    expect(await client.policies.grant({ name: 'team', ...more })).toMatchObject({
      grants: [more],
      budget_usd_month: 200,
    })
    const limits = async () => (await client.policies.usage({ name: 'team' }))[0]?.periods.map(({ limit }) => limit)
    expect(await limits()).toEqual([250, 1000])
    expect(await client.policies.edit({ name: 'team', budgetUsdMonth: 100 })).toMatchObject({ grants: [more] })
    expect(await limits()).toEqual([150, 1000])
    expect(parts.runtime.snapshot().configuration.policies[1]?.grants).toEqual([more])
    expect(await client.policies.edit({ name: 'team', clear: ['grants'] })).toMatchObject({ grants: [] })
    expect(await limits()).toEqual([100, 1000])
    const past = client.policies.grant({ name: 'team', usd: 1, until: '2026-01-01T00:00:00Z' })
    expect(await refusal(past)).toMatchObject({ code: 'invalid' })
    const rates = client.policies.grant({ name: 'rates', ...more })
    expect(await refusal(rates)).toMatchObject({
      code: 'invalid',
      message: expect.stringContaining('no budget in USD'),
    })
    const [line] = await client.audit.list({ operation: 'policies.grant' })
    expect(line).toMatchObject({ resource: { name: 'team' } })
  })
})
