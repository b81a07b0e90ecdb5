import http, { type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { afterEach, describe, expect, it } from 'vitest'
import { fillPrice } from '../../src/core/cost/model-price.ts'
import type { Limit, LimitRules } from '../../src/core/policies/policy-limits.ts'
import { type DataPlane, startDataPlane } from '../support/data-plane.ts'
import { expectLaneError } from '../support/lane-errors.ts'
import { closeServer, listenOnPort } from '../support/listen.ts'
import { type RawAnswer, send } from '../support/raw-http.ts'
import { makePolicy } from '../support/snapshot.ts'

const opened: { stop(): Promise<unknown> }[] = []
afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each.stop()
})

/** The provider's answers wait for the test. */
let calls: ServerResponse[] = []
let bodies: unknown[] = []
let next: () => void = () => {}

async function start(rules: LimitRules, seeded = true): Promise<DataPlane> {
  calls = []
  bodies = []
  const provider = http.createServer((request, response) => {
    void text(request).then((body) => {
      bodies.push(JSON.parse(body))
      calls.push(response)
      next()
    })
  })
  opened.push({ stop: async () => closeServer(provider) })
  const port = await listenOnPort(provider)
  const plane = await startDataPlane({
    providers: [{ kind: 'openai', baseUrl: `http://127.0.0.1:${port}/v1` }],
    policies: [makePolicy('team', rules)],
    seeded,
  })
  opened.push(plane)
  const price = fillPrice({ model: 'openai-model', source: 'set', version: 'v1', input: 1, output: 10 })
  plane.tell({ type: 'prices', prices: { revision: 1, prices: [price] } })
  await plane.hear('has')
  return plane
}

function ask(plane: DataPlane, more: object = {}): Promise<RawAnswer> {
  const headers: [string, string][] = [
    ['authorization', `Bearer ${plane.key}`],
    ['content-type', 'application/json'],
  ]
  const body = JSON.stringify({
    model: 'openai-model',
    messages: [{ role: 'user', content: 'hi' }],
    max_tokens: 100,
    ...more,
  })
  return send(`${plane.baseUrl}/v1/chat/completions`, { headers, body })
}

async function called(): Promise<ServerResponse> {
  while (calls.length === 0) await new Promise<void>((resolve) => (next = resolve))
  return calls.shift()!
}

function answer(response: ServerResponse, output: number): void {
  const usage = { prompt_tokens: 20, completion_tokens: output, total_tokens: 20 + output }
  const choices = [{ index: 0, message: { role: 'assistant', content: 'x' }, finish_reason: 'stop' }]
  response.writeHead(200, { 'content-type': 'application/json' })
  response.end(JSON.stringify({ id: 'c', object: 'chat.completion', model: 'openai-model', choices, usage }))
}

const usd = (limit: number): Limit => ({
  counter: 'pol_team workspace usd day',
  ...{ policy: 'team', scope: 'workspace', kind: 'usd', period: 'day', limit, warns: false, perUser: false },
})
const use = (plane: DataPlane) => plane.limits.budgetUse(usd(0), { timeZone: 'UTC', now: Date.now() })

describe('a budget in USD', () => {
  it('is held before the call, settled from what it cost, and refuses what is spent with its reset', async () => {
    const plane = await start({ budgetUsdDay: 0.0015 })
    const first = ask(plane)
    const response = await called()
    const held = use(plane)
    expect(held).toMatchObject({ used: 0, holders: 1 })
    expect(held.held).toBeGreaterThan(1_000_000)
    const waiting = await ask(plane)
    expectLaneError('openai', waiting, 'rate_limited')
    expect(waiting.headers.get('retry-after')).toBe('1')
    expect(waiting.body.toString()).toContain('1 running request holds what is left')
    answer(response, 90)
    expect((await first).status).toBe(200)
    // 20 tokens at $1 and 90 at $10 a million.
    expect(use(plane)).toMatchObject({ used: 920_000, held: 0, holders: 0 })
    const spent = await ask(plane)
    expectLaneError('openai', spent, 'budget_exceeded')
    expect(spent.headers.get('x-should-retry')).toBe('false')
    expect(spent.headers.get('retry-after')).toBeUndefined()
    expect(Date.parse(spent.headers.get('x-sp-reset') ?? '')).toBe(use(plane).resetsAt)
    const fits = Number(/max_tokens of at most (\d+)/.exec(spent.body.toString())?.[1])
    const smaller = ask(plane, { max_tokens: fits })
    answer(await called(), 1)
    expect((await smaller).status).toBe(200)
    expectLaneError('openai', await ask(plane, { max_tokens: fits + 10 }), 'budget_exceeded')
    expect(await plane.record(spent.requestId)).toMatchObject({
      attempts: [],
      cost: null,
      policy_signals: [{}, {}, { rule: 'budget', verdict: 'deny' }],
    })
  })

  it('allows as long an answer as it has room for, where the policy caps', async () => {
    const plane = await start({ budgetUsdDay: 0.0015, capOutput: true })
    const first = ask(plane)
    answer(await called(), 90)
    expect((await first).status).toBe(200)
    // Four answers would be too short to be of use.
    expectLaneError('openai', await ask(plane, { n: 4 }), 'budget_exceeded')
    const second = ask(plane)
    const sent = await called()
    const allowed = use(plane)
    answer(sent, 10)
    expect((await second).status).toBe(200)
    expect(allowed.held).toBeLessThanOrEqual(1_500_000 - 920_000)
    const record = await plane.record((await second).requestId)
    const note = record.policy_signals.find(({ rule }) => rule === 'output')
    expect(note).toMatchObject({ verdict: 'note', data: { policy: 'team', asked: 100 } })
    const cap = Number(note?.data?.limit)
    expect(cap).toBeGreaterThanOrEqual(16)
    expect(bodies.at(-1)).toMatchObject({ max_tokens: cap })
    // So little is left now that no answer of use fits.
    const third = ask(plane, { max_tokens: 100 })
    answer(await called(), 50)
    await third
    expectLaneError('openai', await ask(plane), 'budget_exceeded')
  })

  it('sets a limit where neither client nor model has one and the policy caps, and refuses where it does not', async () => {
    const plane = await start({ budgetTokensDay: 5000, capOutput: true })
    const first = ask(plane, { max_tokens: undefined, n: 2 })
    const sent = await called()
    const body = bodies.at(-1)
    answer(sent, 2000)
    await first
    const record = await plane.record((await first).requestId)
    const notes = record.policy_signals.filter(({ rule }) => rule === 'output')
    expect(notes).toMatchObject([{ verdict: 'note', data: { policy: 'team', asked: null } }])
    const limit = Number(notes[0]?.data?.limit)
    expect([limit > 4900, limit < 5000]).toEqual([true, true])
    expect(body).toMatchObject({ max_completion_tokens: Math.floor(limit / 2) })
    const strict = await start({ budgetTokensDay: 5000 })
    expectLaneError('openai', await ask(strict, { max_tokens: undefined }), 'policy_denied')
  })

  it('holds what an image comes to, and not its length', async () => {
    const plane = await start({ budgetTokensDay: 3000, tpm: 3000 })
    const data = `data:image/png;base64,${Buffer.from('89504e470d0a1a0a', 'hex').toString('base64').slice(0, -1)}${'A'.repeat(400_000)}`
    const content = [{ type: 'image_url', image_url: { url: data } }]
    const asked = ask(plane, { messages: [{ role: 'user', content }] })
    answer(await called(), 50)
    expect((await asked).status).toBe(200)
  })

  it('litellm PR 38111: is free again of what failed, and of what was refused', async () => {
    const plane = await start({ budgetUsdDay: 0.01 })
    const failing = ask(plane)
    ;(await called()).writeHead(400, { 'content-type': 'application/json' }).end('{"error":{"message":"no"}}')
    expect((await failing).status).toBe(400)
    expect(use(plane)).toMatchObject({ used: 0, held: 0, holders: 0 })
  })

  it('llmgateway PR 3331: is charged the estimate of a client that leaves', async () => {
    const plane = await start({ budgetUsdDay: 0.01 })
    const abort = new AbortController()
    const gone = fetch(`${plane.baseUrl}/v1/chat/completions`, {
      method: 'POST',
      signal: abort.signal,
      headers: { authorization: `Bearer ${plane.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'openai-model', max_tokens: 100, messages: [] }),
    }).catch(() => null)
    await called()
    abort.abort()
    await gone
    await expect.poll(() => use(plane).holders).toBe(0)
    const [record] = plane.records()
    expect(record?.cost?.usd).toBeGreaterThan(0)
    expect(use(plane)).toMatchObject({ used: Math.round((record?.cost?.usd ?? 0) * 1e9), held: 0 })
  })

  it('lets nothing pass that has no price, and nothing at all until it is known what was spent', async () => {
    const plane = await start({ budgetUsdDay: 0.01 }, false)
    const closed = await ask(plane)
    expectLaneError('openai', closed, 'overloaded')
    expect(closed.headers.get('retry-after')).toBe('1')
    plane.limits.seed([])
    plane.tell({ type: 'prices', prices: { revision: 2, prices: [] } })
    await plane.hear('has')
    expectLaneError('openai', await ask(plane), 'policy_denied')
  })

  it('litellm 22726: that only warns, or none at all, refuses nothing', async () => {
    const plane = await start({ budgetUsdDay: 0.0001, onBudget: 'warn' })
    const passing = ask(plane)
    answer(await called(), 90)
    const { status, requestId } = await passing
    expect(status).toBe(200)
    const { policy_signals } = await plane.record(requestId)
    expect(policy_signals).toContainEqual(expect.objectContaining({ rule: 'budget', verdict: 'flag' }))
    const unlimited = ask(plane, { max_tokens: undefined })
    answer(await called(), 90)
    expect((await unlimited).status).toBe(200)
  })

  it('names the budget among the policies of a request whose cost has no limit', async () => {
    const plane = await start({ budgetUsdDay: 1 })
    const refused = await ask(plane, { max_tokens: undefined })
    expectLaneError('openai', refused, 'policy_denied')
    const { policy_signals, error } = await plane.record(refused.requestId)
    expect(policy_signals.at(-1)).toMatchObject({ rule: 'budget', verdict: 'deny', text: error?.message })
  })

  it('ends a stream that nothing else limits when it has no more room, and charges what passed', {
    timeout: 30_000,
  }, async () => {
    const plane = await start({ budgetUsdDay: 0.001 })
    const streaming = ask(plane, { max_tokens: undefined, stream: true })
    const response = await called()
    expect(use(plane).held).toBeLessThanOrEqual(1_000_000)
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    let open = true
    response.on('close', () => (open = false))
    const delta = JSON.stringify({
      id: 'c',
      object: 'chat.completion.chunk',
      choices: [{ index: 0, delta: { content: 'x' } }],
    })
    for (let count = 0; count < 400 && open; count++) {
      response.write(`data: ${delta}\n\n`)
      if (count % 20 === 0) await new Promise((resolve) => setTimeout(resolve, 1))
    }
    const { body, requestId } = await streaming
    expect(body.toString()).toContain('"code":"budget_exceeded"')
    const record = await plane.record(requestId)
    expect(record.error?.code).toBe('budget_exceeded')
    await expect.poll(() => use(plane).holders).toBe(0)
    const charged = Math.round((record.cost?.usd ?? 0) * 1e9)
    expect(use(plane)).toMatchObject({ used: charged, held: 0 })
    expect(charged).toBeGreaterThan(500_000)
    expect(charged).toBeLessThanOrEqual(1_000_000)
  })
})

describe('a budget in tokens', () => {
  it('does not ask for a price, and counts what the record does', async () => {
    const plane = await start({ budgetTokensDay: 1000 })
    plane.tell({ type: 'prices', prices: { revision: 2, prices: [] } })
    await plane.hear('has')
    const passing = ask(plane)
    answer(await called(), 30)
    expect((await passing).status).toBe(200)
    const tokens = { ...usd(1000), kind: 'tokens', counter: 'pol_team workspace tokens day' } as const
    expect(plane.limits.budgetUse(tokens, { timeZone: 'UTC', now: Date.now() })).toMatchObject({ used: 50, held: 0 })
    expectLaneError('openai', await ask(plane, { max_tokens: 960 }), 'budget_exceeded')
  })
})
