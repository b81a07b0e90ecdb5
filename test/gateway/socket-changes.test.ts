import { afterEach, describe, expect, it } from 'vitest'
import { fillPrice } from '../../src/core/cost/model-price.ts'
import type { Limit, LimitRules } from '../../src/core/policies/policy-limits.ts'
import { type DataPlane, startDataPlane } from '../support/data-plane.ts'
import { makePolicy } from '../support/snapshot.ts'
import { dial, startSocketProvider } from '../support/sockets.ts'

const opened: { stop(): Promise<unknown> }[] = []
afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each.stop()
})

const budget: Limit = {
  counter: 'pol_team workspace usd day',
  ...{ policy: 'team', scope: 'workspace', kind: 'usd', period: 'day', limit: 0, warns: false, perUser: false },
}
const use = (plane: DataPlane) => plane.limits.budgetUse(budget, { timeZone: 'UTC', now: Date.now() })

describe('a WebSocket whose key or policy changes', () => {
  async function connect(rules: LimitRules) {
    const provider = await startSocketProvider()
    opened.push(provider)
    const plane = await startDataPlane({
      providers: [{ kind: 'openai', baseUrl: `${provider.baseUrl}/v1` }],
      policies: [makePolicy('team', rules)],
      defaults: true,
    })
    opened.push(plane)
    const price = fillPrice({ model: 'openai-model', source: 'set', version: 'v1', input: 1, output: 10 })
    plane.tell({ type: 'prices', prices: { revision: 1, prices: [price] } })
    await plane.hear('has')
    const [client, { end: far }] = await Promise.all([
      dial(`${plane.baseUrl}/v1/realtime?model=openai-model`, { headers: { authorization: `Bearer ${plane.key}` } }),
      provider.accepted(),
    ])
    return { plane, client, far }
  }

  const turn = { type: 'response.create' }
  const done = (output: number) => ({
    type: 'response.done',
    response: { id: 'resp_1', usage: { input_tokens: 20, output_tokens: output, total_tokens: 20 + output } },
  })
  const created = { type: 'response.created', response: { id: 'resp_1' } }

  it.each<[string, Parameters<DataPlane['changeKey']>[0], string]>([
    ['revoked', { revokedAt: 1 }, 'revoked'],
    ['expired', { expiresAt: 1 }, 'expired'],
    ['removed', null, 'removed'],
  ])('begins no turn once its key is %s, and lets one end that runs', async (_how, change, word) => {
    const { plane, client, far } = await connect({})
    client.send(turn)
    await far.next()
    await plane.changeKey(change)
    client.send(turn)
    expect(await client.nextJson()).toMatchObject({
      type: 'error',
      error: { code: 'invalid_key', message: expect.stringContaining(word) },
    })
    for (const frame of [created, done(7)]) far.send(frame)
    expect(await client.nextJson()).toMatchObject(created)
    expect(await client.nextJson()).toMatchObject({ type: 'response.done' })
    client.socket.close(1000)
    expect(await plane.record(client.requestId)).toMatchObject({ tokens: { output: 7 } })
  })

  it.each([{ denyModels: ['openai-*'] }, { lanes: ['anthropic' as const] }])(
    'begins no turn that its policy no longer allows: %o',
    async (rules) => {
      const { plane, client, far } = await connect({})
      client.send(turn)
      await far.next()
      plane.configure({ policies: [makePolicy('team', rules)] })
      await plane.hear('has')
      client.send(turn)
      expect(await client.nextJson()).toMatchObject({ type: 'error', error: { code: 'policy_denied' } })
      client.socket.close(1000)
      await plane.record(client.requestId)
    },
  )

  it.each<[string, LimitRules, LimitRules, string]>([
    ['a limit that was added', {}, { rpm: 1 }, 'rate_limited'],
    ['a limit that was lowered', { rpm: 100 }, { rpm: 2 }, 'rate_limited'],
    ['a limit beside another', { rpm: 100 }, { rpm: 100, tpm: 1 }, 'rate_limited'],
    ['a budget that was added', {}, { budgetTokensDay: 60 }, 'budget_exceeded'],
    [
      'a budget beside another',
      { budgetTokensDay: 1_000_000 },
      { budgetTokensDay: 1_000_000, budgetUsdDay: 0.0001 },
      'budget_exceeded',
    ],
  ])('keeps to %s', async (_what, before, after, code) => {
    const { plane, client, far } = await connect(before)
    const take = async () => {
      client.send(turn)
      await far.next()
      for (const frame of [created, done(30)]) far.send(frame)
      for (const _frame of [1, 2]) await client.next()
    }
    await take()
    plane.configure({ policies: [makePolicy('team', after)] })
    await plane.hear('has')
    if (code === 'rate_limited' && after.tpm === undefined && before.rpm === undefined) await take()
    client.send(turn)
    expect(await client.nextJson()).toMatchObject({ type: 'error', error: { code } })
    plane.configure({ policies: [makePolicy('team', {})] })
    await plane.hear('has')
    await take()
    client.socket.close(1000)
    expect(await plane.record(client.requestId)).toMatchObject({ error: null })
    await expect.poll(() => use(plane)).toMatchObject({ held: 0, holders: 0 })
  })
})
