import { once } from 'node:events'
import { afterEach, describe, expect, it } from 'vitest'
import { fillPrice } from '../../src/core/cost/model-price.ts'
import type { Limit, LimitRules } from '../../src/core/policies/policy-limits.ts'
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

  it('holds what an image in a frame comes to, and not its length', async () => {
    const { client, far } = await connect({ budgetUsdDay: 0.02, tpm: 5000 })
    const url = `data:image/png;base64,iVBORw0KGgoA${'A'.repeat(100_000)}`
    const content = [{ type: 'input_image', image_url: url }]
    client.send({ ...turn, response: { input: [{ type: 'message', role: 'user', content }] } })
    expect(await Promise.race([far.nextJson(), client.nextJson()])).toMatchObject({ type: 'response.create' })
    client.socket.close(1000)
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
    // What the third sent may be billed.
    await expect.poll(() => use(plane)).toMatchObject({ used: 20_347_000, held: 0, holders: 0 })
    expect(record.cost?.usd).toBe(0.020347)
    // The second turn was held as 20 bytes and 1024 tokens.
    expect(record.estimate_error).toBeGreaterThan(0.009)
  })

  const delta = (bytes: number) => ({ type: 'response.output_text.delta', delta: 'x'.repeat(bytes) })

  it('llmgateway PR 3331: charges what has come of a turn that its client or its provider leaves', async () => {
    for (const leaving of ['client', 'far'] as const) {
      const sides = await connect({ budgetUsdDay: 0.1 })
      const { plane, client, far } = sides
      client.send(turn)
      await far.next()
      for (const frame of [created, ...Array.from({ length: 10 }, () => delta(398))]) far.send(frame)
      for (let frame = 0; frame < 11; frame++) await client.next()
      sides[leaving].socket.terminate()
      const record = await plane.record(client.requestId)
      expect(record.tokens).toMatchObject({ input: 7, output: 1000, source: 'estimated' })
      await expect.poll(() => use(plane)).toMatchObject({ used: 10_007_000, held: 0, holders: 0 })
      expect(record.cost?.usd).toBe(0.010007)
    }
  })

  it('holds a turn as sound, and charges one that is cut what its sound costs', async () => {
    const { plane, client, far } = await connect({ budgetUsdDay: 1 })
    const price = {
      model: 'openai-model',
      source: 'set',
      version: 'v1',
      input: 1,
      output: 10,
      audio_output: 64,
    } as const
    plane.tell({ type: 'prices', prices: { revision: 2, prices: [fillPrice(price)] } })
    await plane.hear('has')
    client.send(turn)
    await far.next()
    expect(use(plane)).toMatchObject({ held: 1024 * 64_000 + 7000 })
    // Four seconds of sound, and a text of ten tokens.
    const sound = { type: 'response.output_audio.delta', delta: 'A'.repeat(4 * 64_000 - 2) }
    for (const frame of [created, sound, delta(38)]) far.send(frame)
    for (let frame = 0; frame < 3; frame++) await client.next()
    far.socket.terminate()
    const record = await plane.record(client.requestId)
    expect(record).toMatchObject({ tokens: { input: 7, output: 90 }, usage_detail: { audio_output: 80 } })
    expect(record.cost?.usd).toBe((7 * 1000 + 80 * 64_000 + 10 * 10_000) / 1e9)
    await expect.poll(() => use(plane)).toMatchObject({ used: 5_227_000, held: 0, holders: 0 })
  })

  it('charges a turn that reports nothing by what it wrote, one that reports twice once, and none for an error', async () => {
    const { plane, client, far } = await connect({ budgetUsdDay: 0.1 })
    const silent = { type: 'response.done', response: { id: 'resp_1' } }
    const failed = { type: 'response.done', response: { id: 'resp_1', status: 'failed' } }
    const turns: [frames: object[], used: number][] = [
      [[created, delta(398), silent], 1_007_000],
      [[created, done(10), done(10)], 1_127_000],
      [[created, failed], 1_127_000],
      // It may be that of a provider that refuses to begin one.
      [[{ type: 'error', error: { type: 'invalid_request_error', message: 'no' } }], 1_127_000],
    ]
    for (const [frames] of turns) {
      client.send(turn)
      await far.next()
      for (const frame of frames) far.send(frame)
      for (const _frame of frames) await client.next()
    }
    client.socket.close(1000)
    expect((await plane.record(client.requestId)).tokens).toMatchObject({ input: 27, output: 110 })
    await expect.poll(() => use(plane)).toMatchObject({ used: turns.at(-1)?.[1], held: 0, holders: 0 })
  })

  it('believes no turn that reports more than it can have used, and says so once', async () => {
    const { plane, client, far } = await connect({ budgetUsdDay: 0.1 })
    for (let time = 0; time < 2; time++) {
      client.send(turn)
      await far.next()
      const frames = [created, delta(398), done(9e8)]
      for (const frame of frames) far.send(frame)
      for (const _frame of frames) await client.next()
    }
    client.socket.close(1000)
    const { tokens, policy_signals } = await plane.record(client.requestId)
    expect(tokens).toMatchObject({ input: 14, output: 200, source: 'estimated' })
    expect(policy_signals.filter(({ rule }) => rule === 'usage')).toHaveLength(1)
    await expect.poll(() => use(plane)).toMatchObject({ used: 2_014_000, held: 0 })
  })

  it('holds each of several turns that run at once', async () => {
    const { plane, client, far } = await connect({ budgetUsdDay: 0.025 })
    const held: number[] = []
    for (let time = 0; time < 2; time++) {
      client.send(turn)
      await far.next()
      held.push(use(plane).held)
    }
    expect(held).toEqual([10_247_000, 2 * 10_247_000])
    // Where less is left, a turn is content with less, until nothing is.
    const refused = client.nextJson()
    for (let time = 0; time < 5; time++) client.send(turn)
    expect(await refused).toMatchObject({ type: 'error', error: { code: 'rate_limited' } })
    expect(use(plane).held).toBeGreaterThan(22_000_000)
    expect(use(plane).held).toBeLessThanOrEqual(25_000_000)
    far.send(created)
    far.send(done(100))
    let frame: unknown = null
    do frame = await client.nextJson()
    while (Object(frame).type !== 'response.done')
    client.socket.close(1000)
    const { tokens } = await plane.record(client.requestId)
    // 20 and 100 tokens, and what the others sent.
    expect(tokens).toMatchObject({ output: 100, input: expect.toSatisfy((input: number) => input % 7 === 20 % 7) })
    await expect.poll(() => use(plane)).toMatchObject({ held: 0, holders: 0 })
    expect(use(plane).used).toBe((tokens?.input ?? 0) * 1000 + 1_000_000)
  })

  it('holds more for a turn that goes on, and ends where the budget does', async () => {
    const { plane, client, far } = await connect({ budgetUsdDay: 0.02 })
    client.send(turn)
    await far.next()
    far.send(created)
    for (let frame = 0; frame < 30; frame++) far.send(delta(398))
    let last: unknown = null
    do last = await client.nextJson()
    while (Object(last).type !== 'error')
    expect(last).toMatchObject({ error: { code: 'budget_exceeded' } })
    await once(client.socket, 'close')
    const { tokens, error } = await plane.record(client.requestId)
    expect(error?.code).toBe('budget_exceeded')
    expect(tokens?.output).toBeLessThanOrEqual(2000)
    await expect.poll(() => use(plane).used).toBeGreaterThan(15_000_000)
    expect(use(plane)).toMatchObject({ held: 0, holders: 0 })
    // What came last was not passed on, and is paid for all the same.
    expect(use(plane).used).toBeLessThanOrEqual(20_000_000 + 1_007_000)
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

  const transcriber = { audio: { input: { transcription: { model: 'gpt-transcribe' } } } }
  const setUp = (session: object = transcriber) => ({ type: 'session.updated', session })
  const heard = (usage: object) => ({ type: 'conversation.item.input_audio_transcription.completed', usage })
  const words = { type: 'conversation.item.input_audio_transcription.delta', delta: 'x'.repeat(4000) }
  const spoken = heard({
    ...{ type: 'tokens', input_tokens: 1000, output_tokens: 100, total_tokens: 1100 },
    input_token_details: { text_tokens: 0, audio_tokens: 1000 },
  })

  async function listen(rules: LimitRules & Partial<SnapshotPolicy>, query?: string) {
    const sides = await connect(rules, query)
    const price = (model: string, rates: object) => fillPrice({ model, source: 'set', version: 'v1', ...rates })
    const prices = [
      price('openai-model', { input: 1, output: 10 }),
      price('gpt-transcribe', { input: 2, audio_input: 4, output: 20 }),
      price('whisper', { per_second: 0.0001 }),
    ]
    sides.plane.tell({ type: 'prices', prices: { revision: 2, prices } })
    await sides.plane.hear('has')
    const hear = async (...frames: object[]) => {
      for (const frame of frames) sides.far.send(frame)
      for (const _frame of frames) await sides.client.next()
    }
    return { ...sides, hear }
  }

  it('counts what was written down of what its user said, at the price of the model that did', async () => {
    const { plane, client, far, hear } = await listen({ budgetUsdDay: 0.1, budgetTokensDay: 50_000 })
    await hear(setUp())
    client.send(turn)
    await far.next()
    // 1000 × 4 + 100 × 20 of the transcription, beside a turn and between turns.
    await hear(created, words, spoken, done(30))
    await expect.poll(() => use(plane)).toMatchObject({ used: 320_000 + 6_000_000, held: 0 })
    await hear(spoken)
    await expect.poll(() => use(plane)).toMatchObject({ used: 320_000 + 12_000_000, held: 0 })
    client.socket.close(1000)
    const record = await plane.record(client.requestId)
    expect(record).toMatchObject({
      tokens: { input: 20 + 2000, output: 30 + 200, source: 'reported' },
      usage_detail: { audio_input: 2000 },
      cost: { usd: 0.01232 },
    })
    expect(record.routing_signals.map(({ rule }) => rule)).toContain('turns')
    await expect.poll(() => use(plane)).toMatchObject({ used: 12_320_000, held: 0, holders: 0 })
    const tokens = { ...budget, counter: budget.counter.replace('usd', 'tokens'), kind: 'tokens' } as const
    expect(plane.limits.budgetUse(tokens, { timeZone: 'UTC', now: Date.now() }).used).toBe(2250)
  })

  it('counts the seconds of a model that is billed by time, named where sessions did before', async () => {
    const { plane, client, hear } = await listen({ budgetUsdDay: 0.1 })
    const session = { input_audio_transcription: { model: 'whisper' } }
    await hear({ type: 'session.created', session }, heard({ type: 'duration', seconds: 8 }))
    await expect.poll(() => use(plane)).toMatchObject({ used: 800_000, held: 0 })
    client.socket.close(1000)
    const record = await plane.record(client.requestId)
    expect(record).toMatchObject({ usage_detail: { seconds: 8 }, cost: { usd: 0.0008 } })
    await expect.poll(() => use(plane)).toMatchObject({ used: 800_000, held: 0, holders: 0 })
  })

  it('charges the model that answers for nothing that one without a price has written down', async () => {
    const { plane, client, hear } = await listen({})
    const session = { input_audio_transcription: { model: 'house-whisper' } }
    await hear({ type: 'session.created', session }, spoken)
    client.socket.close(1000)
    const record = await plane.record(client.requestId)
    expect(record).toMatchObject({ tokens: { input: 1000, output: 100 }, cost: null })
    expect(record.policy_signals.filter(({ rule }) => rule === 'unpriced')).toMatchObject([
      { data: { model: 'house-whisper' } },
    ])
  })

  it('litellm PR 40010: that only writes down ends where its budget does', async () => {
    const { plane, client, hear, far } = await listen({ budgetUsdDay: 0.04 }, '?intent=transcription')
    client.send({ type: 'session.update', session: { type: 'transcription', ...transcriber } })
    await far.next()
    await hear(setUp(), words, spoken)
    await expect.poll(() => use(plane)).toMatchObject({ used: 6_000_000, held: 0, holders: 1 })
    let last: unknown = null
    for (let time = 0; time < 8; time++) far.send(spoken)
    do last = await client.nextJson()
    while (Object(last).type !== 'error')
    expect(last).toMatchObject({ error: { code: 'budget_exceeded' } })
    await once(client.socket, 'close')
    const record = await plane.record(client.requestId)
    expect(record).toMatchObject({ error: { code: 'budget_exceeded' }, upstream_model: 'gpt-transcribe' })
    expect(record.cost?.usd).toBeLessThanOrEqual(0.046)
    await expect.poll(() => use(plane)).toMatchObject({ used: (record.cost?.usd ?? 0) * 1e9, held: 0, holders: 0 })
  })
})
