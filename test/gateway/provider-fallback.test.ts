import http from 'node:http'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { fillPrice } from '../../src/core/cost/model-price.ts'
import type { RequestRecord } from '../../src/core/record.ts'
import { type DataPlane, startDataPlane } from '../support/data-plane.ts'
import { expectLaneError } from '../support/lane-errors.ts'
import { closeServer, listenOnPort } from '../support/listen.ts'
import { send } from '../support/raw-http.ts'
import { makePolicy, makeRoute, makeTarget } from '../support/snapshot.ts'

let provider: http.Server
let plane: DataPlane
let next: object | object[] = {}
let sent: string[] = []

const models = ['claude-fable-5', 'claude-opus-4-8', 'claude-sonnet-5']

beforeAll(async () => {
  provider = http.createServer(async (request, response) => {
    sent.push(Buffer.concat(await request.toArray()).toString())
    const events = Array.isArray(next) ? (next as object[]) : null
    response.setHeader('content-type', events === null ? 'application/json' : 'text/event-stream')
    if (events === null) return void response.end(JSON.stringify(next))
    for (const event of events) response.write(`data: ${JSON.stringify(event)}\n\n`)
    // One that does not end is cut by its client.
    if (JSON.stringify(events.at(-1)).includes('message_stop')) response.end()
  })
  const port = await listenOnPort(provider)
  plane = await startDataPlane({
    providers: [
      { kind: 'anthropic', baseUrl: `http://127.0.0.1:${port}` },
      { kind: 'openai', baseUrl: `http://127.0.0.1:${port}/v1` },
    ],
    routes: [
      ...models.map((model) => makeRoute(model, [makeTarget(`anthropic:${model}`)])),
      makeRoute('gpt', [makeTarget('openai:gpt')]),
    ],
  })
  const price = (model: string, input: number, output: number) =>
    fillPrice({ model, vendor: 'anthropic', source: 'shipped', version: 'v1', input, output, cache_read: input / 10 })
  const prices = [price('claude-fable-5', 10, 50), price('claude-opus-4-8', 5, 25), price('claude-sonnet-5', 3, 15)]
  plane.tell({ type: 'prices', prices: { revision: 1, prices } })
  await plane.hear('has')
})
beforeEach(async () => {
  sent = []
  plane.configure({ policies: [] })
  await plane.hear('has')
})
afterAll(async () => {
  await plane.stop()
  closeServer(provider)
})

const asked = { model: 'claude-fable-5', max_tokens: 1000, messages: [{ role: 'user', content: 'hi' }] }
const headers = (): [string, string][] => [
  ['authorization', `Bearer ${plane.key}`],
  ['content-type', 'application/json'],
]
const post = (more: object, path = '/v1/anthropic/v1/messages') =>
  send(`${plane.baseUrl}${path}`, { headers: headers(), body: JSON.stringify({ ...asked, ...more }) })

async function ask(more: object, answer: object | object[]): Promise<RequestRecord> {
  next = answer
  return await plane.record((await post(more)).requestId)
}

async function use(policy: object): Promise<void> {
  plane.configure({ policies: [makePolicy('team', policy)] })
  await plane.hear('has')
}

const counts = (input: number, output: number, cached = 0) => ({
  ...{ input_tokens: input, output_tokens: output, cache_read_input_tokens: cached, cache_creation_input_tokens: 0 },
})
const declined = (input: number, output: number) => ({
  type: 'message',
  model: 'claude-fable-5',
  ...counts(input, output),
})
const served = { type: 'fallback_message', model: 'claude-opus-4-8', ...counts(412, 264) }
const whole = (model: string, usage: object) => ({
  ...{ id: 'msg_1', type: 'message', role: 'assistant', model, stop_reason: 'end_turn' },
  content: [{ type: 'text', text: 'hello' }],
  usage,
})

describe('a call that lets the provider choose a model to fall back to', () => {
  it.each([
    ['allows certain models', { allowModels: ['claude-fable-5'] }, 'limits models'],
    ['denies some', { denyModels: ['gpt*'] }, 'limits models'],
    ['denies models without a price', { unpriced: 'deny' }, 'denies models without a price'],
  ])('is refused where a policy %s', async (_what, policy, why) => {
    await use(policy)
    const refused = await post({ fallbacks: 'default' })
    expectLaneError('anthropic', refused, 'policy_denied')
    expect(refused.body.toString()).toContain(`The policy team ${why}`)
    expect(refused.body.toString()).toContain('Name those in `fallbacks`')
    const batch = { requests: [{ custom_id: '1', params: { ...asked, fallbacks: 'default' } }] }
    expectLaneError('anthropic', await post(batch, '/v1/anthropic/v1/messages/batches'), 'policy_denied')
    expect(sent).toEqual([])
  })

  it('costs what the model costs that answered', async () => {
    const record = await ask({ fallbacks: 'default' }, whole('claude-opus-4-8', counts(412, 264)))
    expect(record).toMatchObject({
      upstream_model: 'claude-opus-4-8',
      tokens: { input: 412, output: 264 },
      cost: { usd: 0.00866 },
      attempts: [{ upstream_model: 'claude-fable-5', priced_as: 'claude-opus-4-8', cost: { usd: 0.00866 } }],
    })
    expect(record.routing_signals.map(({ text }) => text)).toContain(
      'The provider fell back to claude-opus-4-8, as the call lets it.',
    )
  })

  it('takes a date for no other model, and one without a price for the one that was asked', async () => {
    const dated = await ask({ fallbacks: 'default' }, whole('claude-fable-5-20260609', counts(1000, 100)))
    expect(dated).toMatchObject({ upstream_model: 'claude-fable-5', cost: { usd: 0.015 } })
    const unknown = await ask({ fallbacks: 'default' }, whole('claude-next', counts(1000, 100)))
    expect(unknown).toMatchObject({ upstream_model: 'claude-next', cost: { usd: 0.015 } })
  })
})

describe('an answer for which several models have worked', () => {
  it('costs what each has used, without what declined before it wrote anything', async () => {
    const usage = { ...counts(412, 264), iterations: [declined(408, 0), served] }
    const free = await ask({ fallbacks: 'default' }, whole('claude-opus-4-8', usage))
    expect(free).toMatchObject({ tokens: { input: 412, output: 264 }, cost: { usd: 0.00866 } })
    const late = { ...counts(412, 264), iterations: [declined(408, 100), served] }
    const charged = await ask({ fallbacks: [{ model: 'claude-opus-4-8' }] }, whole('claude-opus-4-8', late))
    // 408 × 10 + 100 × 50 of the first.
    const usd = 0.00866 + 0.00408 + 0.005
    expect(charged).toMatchObject({
      tokens: { input: 820, output: 364, source: 'reported' },
      cost: { usd },
      attempts: [{ cost: { usd } }],
    })
    expect(charged.routing_signals.map(({ rule }) => rule)).toContain('turns')
  })

  it('counts an adviser and a compaction, which the usual counts leave out', async () => {
    const iterations = [
      { type: 'message', ...counts(100, 10) },
      { type: 'advisor_message', model: 'claude-opus-4-8', ...counts(1000, 200) },
      { type: 'compaction', ...counts(300, 20) },
      { type: 'message', ...counts(0, 5) },
    ]
    const tools = [{ type: 'advisor_20260301', name: 'advisor', model: 'claude-opus-4-8' }]
    const answer = whole('claude-sonnet-5', { ...counts(100, 15), iterations })
    const record = await ask({ model: 'claude-sonnet-5', tools }, answer)
    expect(record).toMatchObject({
      upstream_model: 'claude-sonnet-5',
      tokens: { input: 1400, output: 235 },
      // 100 × 3 + 15 × 15, 1000 × 5 + 200 × 25, 300 × 3 + 20 × 15
      cost: { usd: 0.000525 + 0.01 + 0.0012 },
    })
  })

  it('believes no adviser that has used more than it can', async () => {
    const adviser = { type: 'advisor_message', model: 'claude-opus-4-8', ...counts(9e8, 9e8) }
    const tools = [{ type: 'advisor_20260301', name: 'advisor', model: 'claude-opus-4-8' }]
    const answer = whole('claude-sonnet-5', { ...counts(100, 10), iterations: [adviser] })
    const record = await ask({ model: 'claude-sonnet-5', tools }, answer)
    expect(record).toMatchObject({ tokens: { input: 100, output: 10 }, cost: { usd: 0.00045 } })
    expect(record.policy_signals.map(({ rule }) => rule)).toContain('usage')
  })

  const start = { type: 'message_start', message: { ...whole('claude-fable-5', counts(408, 1)), content: [] } }
  const text = (words: string) => ({
    type: 'content_block_delta',
    index: 0,
    delta: { type: 'text_delta', text: words },
  })
  const block = {
    type: 'content_block_start',
    index: 1,
    content_block: { type: 'fallback', from: { model: 'claude-fable-5' }, to: { model: 'claude-opus-4-8' } },
  }

  it('is charged so where the provider fell back in the midst of a stream', async () => {
    const usage = { ...counts(412, 264), iterations: [declined(408, 100), served] }
    const events = [start, text('a'), block, text('b'), { type: 'message_delta', delta: {}, usage }]
    for (const fallbacks of ['default', [{ model: 'claude-opus-4-8' }]]) {
      const record = await ask({ stream: true, fallbacks }, [...events, { type: 'message_stop' }])
      expect(record).toMatchObject({
        upstream_model: 'claude-opus-4-8',
        tokens: { input: 820, output: 364 },
        cost: { usd: 0.00866 + 0.00908 },
      })
    }
  })

  it('costs what its last model costs where it is cut behind that', async () => {
    next = [start, text('a'), block, text('b'.repeat(4000))]
    const answer = await fetch(`${plane.baseUrl}/v1/anthropic/v1/messages`, {
      method: 'POST',
      headers: Object.fromEntries(headers()),
      body: JSON.stringify({ ...asked, stream: true, fallbacks: 'default' }),
    })
    const reader = answer.body!.getReader()
    let seen = ''
    while (!seen.includes('bbbb')) seen += Buffer.from((await reader.read()).value ?? []).toString()
    await reader.cancel()
    const record = await plane.record(answer.headers.get('x-sp-request-id'))
    expect(record).toMatchObject({ status: 499, upstream_model: 'claude-opus-4-8', tokens: { source: 'estimated' } })
    const { input, output } = record.tokens!
    expect(output).toBeGreaterThan(900)
    expect(record.cost?.usd).toBeCloseTo((input * 5 + output * 25) / 1e6, 9)
  })
})

describe('a limit of its own of a model to fall back to', () => {
  const longer = [{ model: 'claude-opus-4-8', max_tokens: 8000 }, { model: 'claude-sonnet-5' }]
  beforeEach(() => {
    next = whole('claude-fable-5', counts(10, 10))
  })

  it('passes where no policy limits answers', async () => {
    expect((await post({ fallbacks: longer })).status).toBe(200)
    expect(JSON.parse(sent[0]!)).toMatchObject({ max_tokens: 1000, fallbacks: longer })
  })

  it('counts where a policy does, and is refused by its name', async () => {
    await use({ maxOutputTokens: 2000 })
    const refused = await post({ fallbacks: longer })
    expectLaneError('anthropic', refused, 'policy_denied')
    expect(refused.body.toString()).toContain('asks for 8000 output tokens')
    expect(refused.body.toString()).toContain('Set `fallbacks.max_tokens` to at most 2000')
    expect((await post({ fallbacks: [{ model: 'claude-opus-4-8', max_tokens: 2000 }] })).status).toBe(200)
    expect(sent).toHaveLength(1)
  })

  it('is capped like that of the request', async () => {
    await use({ maxOutputTokens: 500, capOutput: true })
    expect((await post({ fallbacks: longer })).status).toBe(200)
    expect(JSON.parse(sent[0]!)).toMatchObject({
      max_tokens: 500,
      fallbacks: [{ model: 'claude-opus-4-8', max_tokens: 500 }, { model: 'claude-sonnet-5' }],
    })
  })

  it('is held by budgets', async () => {
    await use({ budgetTokensDay: 5000 })
    const refused = await post({ fallbacks: longer })
    expectLaneError('anthropic', refused, 'budget_exceeded')
    expect(refused.body.toString()).toContain('fallbacks.max_tokens')
    expect((await post({ fallbacks: [{ model: 'claude-opus-4-8', max_tokens: 4000 }] })).status).toBe(200)
  })
})

describe('a refusal', () => {
  const details = { type: 'refusal', category: 'cyber', explanation: 'It could do harm.' }
  const refused = (output: number) => ({
    ...whole('claude-fable-5', counts(412, output)),
    ...{ content: [], stop_reason: 'refusal', stop_details: details },
  })

  it('costs nothing where the model has written nothing, and its record says so', async () => {
    const free = { tokens: { input: 412, output: 0 }, cost: { usd: 0, price_version: 'v1' }, estimate_error: null }
    const record = await ask({}, refused(0))
    expect(record).toMatchObject({ ...free, attempts: [{ cost: { usd: 0 } }] })
    expect(record.routing_signals.map(({ rule }) => rule)).toContain('refusal')
    const streamed = await ask({ stream: true }, [
      { type: 'message_start', message: { ...refused(1), stop_reason: null, stop_details: null } },
      { type: 'message_delta', delta: { stop_reason: 'refusal', stop_details: details }, usage: { output_tokens: 0 } },
      { type: 'message_stop' },
    ])
    expect(streamed).toMatchObject(free)
  })

  it('costs what any answer does once something was written', async () => {
    const record = await ask({}, refused(10))
    expect(record).toMatchObject({ cost: { usd: 0.00462 } })
  })
})
