import { afterEach, describe, expect, it } from 'vitest'
import { fillPrice } from '../../src/core/cost/model-price.ts'
import type { Limit, LimitRules } from '../../src/core/policies/policy-limits.ts'
import { askedSeveralModels } from '../../src/core/turns-signal.ts'
import type { SnapshotPolicy } from '../../src/store/configuration/snapshot.ts'
import { type DataPlane, startDataPlane } from '../support/data-plane.ts'
import { makePolicy, makeRoute, makeTarget } from '../support/snapshot.ts'
import { type Dialled, dial, type End, startSocketProvider } from '../support/sockets.ts'

const opened: { stop(): Promise<unknown> }[] = []
afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each.stop()
})

const budget: Limit = {
  counter: 'pol_team workspace usd day',
  ...{ policy: 'team', scope: 'workspace', kind: 'usd', period: 'day', limit: 0, warns: false, perUser: false },
}
const use = (plane: DataPlane) => plane.limits.budgetUse(budget, { timeZone: 'UTC', now: Date.now() })

describe('a turn of a connection that names models to fall back to', () => {
  async function connect(rules: LimitRules & Partial<SnapshotPolicy>) {
    const provider = await startSocketProvider()
    opened.push(provider)
    const route = (model: string) => makeRoute(model, [makeTarget(`openai:up-${model}`)], { retries: 0 })
    const plane = await startDataPlane({
      providers: [{ kind: 'openai', baseUrl: `${provider.baseUrl}/v1` }],
      routes: [route('cheap'), route('dear'), route('nameless')],
      policies: [makePolicy('team', rules)],
    })
    opened.push(plane)
    const price = (model: string, input: number, output: number) =>
      fillPrice({
        ...{ model, source: 'set', version: 'v1', input, output, per_search: 0.01, cache_write: input },
        priority: { input: 5 * input, output: 5 * output },
      })
    plane.tell({
      type: 'prices',
      prices: { revision: 1, prices: [price('up-cheap', 1, 10), price('up-dear', 10, 100)] },
    })
    await plane.hear('has')
    const client = await dial(`${plane.baseUrl}/v1/responses`, { headers: { authorization: `Bearer ${plane.key}` } })
    const far = provider.accepted().then(({ end }) => end)
    return { plane, client, far }
  }

  const turn = (model: string, ...models: string[]) => ({
    type: 'response.create',
    ...{ model, input: 'hi', store: false },
    ...(models.length === 0 ? {} : { models }),
  })
  const frames = (model: string) => [
    { type: 'response.created', response: { id: 'resp_1', store: false } },
    {
      type: 'response.completed',
      response: { id: 'resp_1', model, usage: { input_tokens: 20, output_tokens: 30, total_tokens: 50 } },
    },
  ]

  it('holds what its tools may cost besides, and no longer than the turn', async () => {
    const { plane, client, far } = await connect({ budgetUsdDay: 0.035 })
    client.send(turn('cheap'))
    const end = await far
    await end.next()
    const alone = use(plane).held
    await passAnswer(end, client, 'up-cheap')
    await expect.poll(() => use(plane)).toMatchObject({ used: 320_000, held: 0 })
    const searching = { ...turn('cheap'), tools: [{ type: 'web_search' }], max_tool_calls: 2 }
    client.send(searching)
    await end.next()
    expect(use(plane).held).toBeGreaterThanOrEqual(alone + 20_000_000)
    await passAnswer(end, client, 'up-cheap')
    await expect.poll(() => use(plane)).toMatchObject({ used: 640_000, held: 0 })
    client.send({ ...searching, max_tool_calls: 4 })
    expect(await client.nextJson()).toMatchObject({ error: { code: 'budget_exceeded' } })
    client.send(turn('cheap'))
    await end.next()
    expect(use(plane).held).toBeLessThan(2 * alone)
    await passAnswer(end, client, 'up-cheap')
  })

  /** The provider answers, and the client gets both frames. */
  async function passAnswer(end: End, client: Dialled, model: string): Promise<void> {
    for (const frame of frames(model)) end.send(frame)
    for (const _frame of [1, 2]) await client.next()
  }

  it('holds what the dearest of them may come to, and is charged as the one that answers', async () => {
    const { plane, client, far } = await connect({ budgetUsdDay: 1 })
    client.send(turn('cheap'))
    const end = await far
    await end.next()
    const alone = use(plane).held
    await passAnswer(end, client, 'up-cheap')
    await expect.poll(() => use(plane)).toMatchObject({ used: 320_000, held: 0 })
    client.send(turn('cheap', 'dear'))
    expect(await end.nextJson()).toMatchObject({ model: 'up-cheap', models: ['up-dear'] })
    expect(use(plane).held).toBeGreaterThan(9 * alone)
    await passAnswer(end, client, 'up-dear-2026-01-01')
    await expect.poll(() => use(plane)).toMatchObject({ used: 320_000 + 3_200_000, held: 0 })
    // Another turn without them is held as before.
    client.send(turn('cheap'))
    await end.next()
    expect(use(plane).held).toBeLessThan(2 * alone)
    await passAnswer(end, client, 'up-cheap')
    client.socket.close(1000)
    const record = await plane.record(client.requestId)
    expect(record).toMatchObject({ cost: { usd: 0.00384 }, tokens: { input: 60, output: 90 } })
    expect(record.routing_signals).toContainEqual(
      expect.objectContaining({ rule: 'model', text: 'The provider fell back to up-dear, as the call lets it.' }),
    )
  })

  it('is held at the rates of the tier that its frame asks for', async () => {
    const { plane, client, far } = await connect({ budgetUsdDay: 1 })
    const held: number[] = []
    for (const tier of [undefined, 'priority', undefined]) {
      client.send({ ...turn('cheap'), service_tier: tier })
      const end = await far
      await end.next()
      held.push(use(plane).held)
      await passAnswer(end, client, 'up-cheap')
      await expect.poll(() => use(plane).held).toBe(0)
    }
    const [usual = 0, dearer = 0, again] = held
    expect(dearer).toBeGreaterThan(4.9 * usual)
    expect(again).toBe(usual)
    client.socket.close(1000)
    expect(askedSeveralModels(await plane.record(client.requestId))).toBe(false)
  })

  it('is held and charged as its own model where it names another than the first did', async () => {
    const { plane, client, far } = await connect({ budgetUsdDay: 1 })
    client.send(turn('cheap'))
    const end = await far
    await end.next()
    const alone = use(plane).held
    await passAnswer(end, client, 'up-cheap')
    client.send(turn('dear'))
    await end.next()
    expect(use(plane).held).toBeGreaterThan(9 * alone)
    await passAnswer(end, client, 'up-dear')
    await expect.poll(() => use(plane)).toMatchObject({ used: 320_000 + 3_200_000, held: 0 })
    client.socket.close(1000)
    const record = await plane.record(client.requestId)
    expect(record.cost?.usd).toBe(0.00352)
    // For whoever prices it again.
    expect(askedSeveralModels(record)).toBe(true)
  })

  it('is charged as its own model, and says so, where the turn before, of another, came to nothing', async () => {
    const { plane, client, far } = await connect({ budgetUsdDay: 1 })
    client.send(turn('cheap'))
    const end = await far
    await end.next()
    end.send({ type: 'error', error: { type: 'invalid_request_error', message: 'no' } })
    await client.next()
    client.send(turn('dear'))
    await end.next()
    await passAnswer(end, client, 'up-dear')
    client.socket.close(1000)
    const record = await plane.record(client.requestId)
    expect(record).toMatchObject({ upstream_model: 'up-cheap', cost: { usd: 0.0032 } })
    expect(askedSeveralModels(record)).toBe(true)
  })

  it('says so where its only turn was answered by another model', async () => {
    const { plane, client, far } = await connect({ budgetUsdDay: 1 })
    client.send(turn('cheap', 'dear'))
    const end = await far
    await end.next()
    await passAnswer(end, client, 'up-dear')
    client.socket.close(1000)
    const record = await plane.record(client.requestId)
    expect(record).toMatchObject({ upstream_model: 'up-cheap', cost: { usd: 0.0032 } })
    expect(askedSeveralModels(record)).toBe(true)
  })

  it('does not begin where its budgets have no room for the dearest, or one has no price', async () => {
    const { client, far } = await connect({ budgetUsdDay: 0.006 })
    client.send(turn('cheap'))
    const end = await far
    await end.next()
    await passAnswer(end, client, 'up-cheap')
    client.send(turn('cheap', 'dear'))
    expect(await client.nextJson()).toMatchObject({ error: { code: 'budget_exceeded' } })
    client.send(turn('cheap', 'nameless'))
    expect(await client.nextJson()).toMatchObject({ error: { code: 'policy_denied' } })
  })

  it('does not begin where a policy denies models without a price', async () => {
    const { client, far } = await connect({ unpriced: 'deny' })
    client.send(turn('cheap'))
    await (await far).next()
    client.send(turn('cheap', 'nameless'))
    expect(await client.nextJson()).toMatchObject({
      error: { message: expect.stringContaining('denies models without a price') },
    })
  })
})
