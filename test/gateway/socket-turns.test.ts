import { once } from 'node:events'
import { afterEach, describe, expect, it } from 'vitest'
import { fillPrice } from '../../src/core/model-price.ts'
import type { Limit, LimitRules } from '../../src/core/policy-limits.ts'
import type { SnapshotPolicy } from '../../src/store/configuration/snapshot.ts'
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
const held = (plane: DataPlane) => plane.entries().filter((entry) => entry.kind === 'held')
const use = (plane: DataPlane) => plane.limits.budgetUse(budget, { timeZone: 'UTC', now: Date.now() })

describe('a WebSocket', () => {
  async function connect(rules: LimitRules & Partial<SnapshotPolicy>, query = '?model=openai-model') {
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
      dial(`${plane.baseUrl}/v1/realtime${query}`, { headers: { authorization: `Bearer ${plane.key}` } }),
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

  it('litellm PR 38419: that names its model late holds budgets from its first turn on', async () => {
    const { plane, client, far } = await connect({ budgetUsdDay: 0.02 }, '?intent=transcription')
    expect(use(plane).holders).toBe(0)
    client.send({ type: 'session.update', session: { model: 'openai-model' } })
    await far.next()
    client.send(turn)
    await far.next()
    expect(use(plane)).toMatchObject({ used: 0, holders: 1 })
    const entry = plane.entries().findLast(({ kind }) => kind === 'held')
    expect(entry).toMatchObject({
      id: client.requestId,
      hold: [[budget.counter, expect.any(String), use(plane).held]],
    })
    for (const frame of [created, done(30)]) far.send(frame)
    for (const _frame of [1, 2]) await client.next()
    client.socket.close(1000)
    await plane.record(client.requestId)
    await expect.poll(() => use(plane)).toMatchObject({ used: 20_000 + 300_000, held: 0, holders: 0 })
  })

  it('begins no turn for which its budgets have no room', async () => {
    const { plane, client, far } = await connect({ budgetUsdDay: 0.012 })
    client.send(turn)
    await far.next()
    for (const frame of [created, done(1150)]) far.send(frame)
    for (const _frame of [1, 2]) await client.next()
    client.send(turn)
    const refused = await client.nextJson()
    expect(refused).toMatchObject({ type: 'error', error: { code: 'budget_exceeded' } })
    // What the turns before came to is used, also where it is not written yet.
    expect(refused).toMatchObject({
      error: { message: expect.stringMatching(/need 0\.00\d+ USD, and 0\.01152 are used/) },
    })
    client.socket.close(1000)
    await plane.record(client.requestId)
    await expect.poll(() => use(plane)).toMatchObject({ used: 11_520_000, held: 0 })
  })

  it('has used what its turns came to once they have ended, and holds nothing between them', async () => {
    const { plane, client, far } = await connect({ budgetUsdDay: 0.1 })
    const opening = use(plane)
    expect(opening).toMatchObject({ used: 0, holders: 1 })
    const turns: [output: number, used: number][] = [
      [30, 320_000],
      // More than was held for it.
      [2000, 20_340_000],
    ]
    for (const [output, used] of turns) {
      client.send(turn)
      await far.next()
      expect(use(plane)).toMatchObject({ holders: 1 })
      expect(use(plane).held).toBeGreaterThan(10_000_000)
      for (const frame of [created, done(output)]) far.send(frame)
      for (const _frame of [1, 2]) await client.next()
      await expect.poll(() => use(plane)).toMatchObject({ used, held: 0 })
      const [, , amount] = held(plane).at(-1)?.hold[0] ?? []
      expect(amount).toBe(used)
    }
    client.send(turn)
    await far.next()
    // Should the process die now, this is what the store books: what was used, and what the turn may come to.
    expect(held(plane).at(-1)?.hold[0]?.[2]).toBe(use(plane).used + use(plane).held)
    client.socket.close(1000)
    const record = await plane.record(client.requestId)
    await expect.poll(() => use(plane)).toMatchObject({ used: 20_340_000, held: 0, holders: 0 })
    expect(record.cost?.usd).toBe(0.02034)
    // The second turn was held as 20 bytes and 1024 tokens.
    expect(record.estimate_error).toBeGreaterThan(0.009)
  })

  it('is closed where its provider begins by itself what the limits do not allow', async () => {
    const { plane, client, far } = await connect({ rpm: 2 })
    for (const frame of [created, done(1)]) far.send(frame)
    for (const _frame of [1, 2]) await client.next()
    far.send(created)
    expect(await client.nextJson()).toMatchObject({ type: 'error', error: { code: 'rate_limited' } })
    await once(client.socket, 'close')
    expect((await plane.record(client.requestId)).error?.code).toBe('rate_limited')
  })

  it('begins no turn at an hour that its policy does not allow', async () => {
    const { plane, client, far } = await connect({})
    client.send(turn)
    await far.next()
    const minute = new Date(Date.now() + 120 * 60_000)
    const at = (hours: number) => `${String((minute.getUTCHours() + hours) % 24).padStart(2, '0')}:00`
    const policies = [makePolicy('team', { hours: [`${at(0)}-${at(1)}`] })]
    plane.configure({ policies })
    await plane.hear('has')
    client.send(turn)
    expect(await client.nextJson()).toMatchObject({ type: 'error', error: { code: 'policy_denied' } })
    client.socket.close(1000)
    await plane.record(client.requestId)
  })
})
