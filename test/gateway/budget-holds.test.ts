import http, { type IncomingMessage, type ServerResponse } from 'node:http'
import { afterEach, describe, expect, it } from 'vitest'
import { fillPrice, type ModelPrice } from '../../src/core/cost/model-price.ts'
import type { Limit, LimitRules } from '../../src/core/policies/policy-limits.ts'
import type { SnapshotPolicy, SnapshotRoute } from '../../src/store/configuration/snapshot.ts'
import { type DataPlane, startDataPlane } from '../support/data-plane.ts'
import { expectLaneError } from '../support/lane-errors.ts'
import { closeServer, listenOnPort } from '../support/listen.ts'
import { type RawAnswer, send } from '../support/raw-http.ts'
import { makePolicy, makeRoute, makeTarget } from '../support/snapshot.ts'

type Answer = (request: IncomingMessage, response: ServerResponse, body: string) => void

const opened: { stop(): Promise<unknown> }[] = []
afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each.stop()
})

interface StartOptions {
  rules: LimitRules & Partial<SnapshotPolicy>
  answer?: Answer
  prices?: (Partial<ModelPrice> & Pick<ModelPrice, 'model'>)[]
  routes?: SnapshotRoute[]
  kinds?: readonly string[]
}

const usual = [{ model: 'openai-model', input: 1, output: 10 }]

async function start({ rules, answer = reply(10), prices = usual, routes = [], kinds = ['openai'] }: StartOptions) {
  const provider = http.createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString()
    answer(request, response, body)
  })
  opened.push({ stop: async () => closeServer(provider) })
  const port = await listenOnPort(provider)
  const plane = await startDataPlane({
    providers: kinds.map((kind) =>
      kind === 'demo'
        ? { kind, baseUrl: 'demo:', credentials: [] }
        : { kind, baseUrl: `http://127.0.0.1:${port}${kind === 'openai' ? '/v1' : ''}` },
    ),
    policies: [makePolicy('team', rules)],
    routes,
    timeouts: { firstByte: 500, betweenChunks: 500, total: 1500 },
  })
  opened.push(plane)
  await price(plane, prices)
  return plane
}

async function price(plane: DataPlane, prices: StartOptions['prices'] = []): Promise<void> {
  const filled = prices.map((each) => fillPrice({ source: 'set', version: 'v1', ...each }))
  plane.tell({ type: 'prices', prices: { revision: 1, prices: filled } })
  await plane.hear('has')
}

function reply(output: number): Answer {
  return (_request, response) => {
    const usage = { prompt_tokens: 20, completion_tokens: output, total_tokens: 20 + output }
    const choices = [{ index: 0, message: { role: 'assistant', content: 'x' }, finish_reason: 'stop' }]
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ id: 'c', object: 'chat.completion', model: 'openai-model', choices, usage }))
  }
}

function ask(plane: DataPlane, more: object = {}, headers: [string, string][] = []): Promise<RawAnswer> {
  const body = JSON.stringify({
    ...{ model: 'openai-model', messages: [{ role: 'user', content: 'hi' }], max_tokens: 100 },
    ...more,
  })
  const own: [string, string][] = [
    ['authorization', `Bearer ${plane.key}`],
    ['content-type', 'application/json'],
  ]
  return send(`${plane.baseUrl}/v1/chat/completions`, { headers: [...own, ...headers], body })
}

const budget = (kind: 'usd' | 'tokens', more: Partial<Limit> = {}): Limit => ({
  counter: `pol_team workspace ${kind} day`,
  ...{ policy: 'team', scope: 'workspace', kind, period: 'day', limit: 0, warns: false, perUser: false },
  ...more,
})
const use = (plane: DataPlane, limit = budget('usd'), user: string | null = null) =>
  plane.limits.budgetUse(limit, { timeZone: 'UTC', now: Date.now() }, user)
const sumOf = (plane: DataPlane) =>
  plane.records().reduce((sum, { cost }) => sum + Math.round((cost?.usd ?? 0) * 1e9), 0)

describe('a counter is the sum of its records', () => {
  it('litellm 40050: after clients that leave', async () => {
    const begun: (() => void)[] = []
    const plane = await start({
      rules: { budgetUsdDay: 1 },
      answer: (_request, response) => {
        response.writeHead(200, { 'content-type': 'application/json' })
        response.flushHeaders()
        begun.shift()?.()
      },
    })
    for (let count = 0; count < 5; count++) {
      const came = new Promise<void>((resolve) => begun.push(resolve))
      const abort = new AbortController()
      const headers = { authorization: `Bearer ${plane.key}`, 'content-type': 'application/json' }
      const body = JSON.stringify({ model: 'openai-model', max_tokens: 100, messages: [] })
      const url = `${plane.baseUrl}/v1/chat/completions`
      const gone = fetch(url, { method: 'POST', headers, body, signal: abort.signal }).catch(() => null)
      await came
      abort.abort()
      await gone
      await expect.poll(() => plane.records().length).toBe(count + 1)
      await expect.poll(() => use(plane)).toMatchObject({ used: sumOf(plane), held: 0, holders: 0 })
      expect(use(plane).used).toBeGreaterThan(0)
    }
  })

  it('litellm 27735: after refusals of the provider, which cost nothing', async () => {
    const plane = await start({
      rules: { budgetUsdDay: 0.002 },
      answer: (_request, response) =>
        response.writeHead(400, { 'content-type': 'application/json' }).end('{"error":{}}'),
    })
    for (let count = 0; count < 20; count++) expect((await ask(plane)).status).toBe(400)
    await expect.poll(() => use(plane)).toMatchObject({ used: 0, held: 0, holders: 0 })
  })

  it('litellm PR 30522: after retries and fallbacks, each held and charged once', async () => {
    let calls = 0
    const plane = await start({
      rules: { budgetUsdDay: 0.01 },
      prices: [...usual, { model: 'dear', input: 2, output: 20 }],
      routes: [
        makeRoute('both', [makeTarget('openai:openai-model'), makeTarget('openai:dear', { priority: 1 })], {
          ...{ projectId: 'prj_1', project: 'default', retries: 1 },
        }),
      ],
      answer: (request, response, body) => {
        calls++
        if (JSON.parse(body).model === 'dear') return reply(10)(request, response, body)
        response.writeHead(503, { 'content-type': 'application/json' }).end('{"error":{"message":"busy"}}')
      },
    })
    const { status, requestId } = await ask(plane, { model: 'both' })
    expect([status, calls]).toEqual([200, 3])
    const record = await plane.record(requestId)
    // 20 tokens at $2 and 10 at $20 a million.
    expect(record.cost?.usd).toBe(0.00024)
    await expect.poll(() => use(plane)).toMatchObject({ used: 240_000, held: 0, holders: 0 })
    // What the dearer target may come to was held before it was asked, and stands in the journal.
    const held = plane.entries().filter(({ kind }) => kind === 'held')
    expect(held).toMatchObject([
      { id: requestId, hold: [['pol_team workspace usd day', expect.any(String), expect.any(Number)]] },
    ])
    const admitted = plane.entries().find((entry) => entry.kind === 'admitted')
    const before = admitted?.kind === 'admitted' ? (admitted.hold?.[0]?.[2] ?? 0) : 0
    expect(held[0]?.kind === 'held' ? held[0].hold[0]?.[2] : 0).toBe(2 * before)
  })
})

describe('parallel first requests', () => {
  it.each([
    ['litellm 26672: of a new key', { per: 'key' }, {}],
    ['litellm 40095: of a new end user', { per: 'user' }, { user: 'new' }],
    ['litellm 34732: of a team', {}, {}],
  ] as const)('%s never pass together what one of them may spend', async (_what, rules, more) => {
    const waiting: (() => void)[] = []
    const plane = await start({
      rules: { budgetUsdDay: 0.0025, ...rules },
      answer: (...call) => void waiting.push(() => reply(90)(...call)),
    })
    const asked = Array.from({ length: 20 }, () => ask(plane, more))
    await expect.poll(() => [plane.records().length, waiting.length]).toEqual([18, 2])
    for (const answer of waiting.splice(0)) answer()
    const statuses = (await Promise.all(asked)).map(({ status }) => status)
    expect(statuses.filter((status) => status === 200)).toHaveLength(2)
    expect(statuses.filter((status) => status === 429)).toHaveLength(18)
    expect(sumOf(plane)).toBeLessThanOrEqual(2_500_000)
  })
})

describe('a hold', () => {
  it('litellm PR 40002: has the rates of the tier and of the long context that the request is for', async () => {
    const rates = {
      ...{ model: 'openai-model', input: 1, output: 10, max_output: 1000 },
      priority: { input: 2, output: 20 },
      long_context: { over: 1000, input: 5, output: 50 },
    }
    const held: number[] = []
    const plane = await start({
      rules: { budgetUsdDay: 10 },
      prices: [rates],
      answer: (...call) => {
        held.push(use(plane).held)
        reply(1)(...call)
      },
    })
    await ask(plane)
    await ask(plane, { service_tier: 'priority' })
    await ask(plane, { messages: [{ role: 'user', content: 'x'.repeat(8000) }] })
    const [plain = 0, priority = 0, long = 0] = held
    // The tier's name makes the body some tokens longer.
    expect(priority).toBeGreaterThanOrEqual(2 * plain)
    expect(priority).toBeLessThan(2.1 * plain)
    expect(long).toBeGreaterThan(2000 * 5000)
  })

  it('of a stream grows in the journal, before what it is for has been written', async () => {
    const plane = await start({
      rules: { budgetUsdDay: 1, budgetTokensDay: 100_000 },
      answer: (_request, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        const delta = { id: 'c', object: 'chat.completion.chunk', choices: [{ index: 0, delta: { content: 'x' } }] }
        for (let count = 0; count < 1500; count++) response.write(`data: ${JSON.stringify(delta)}\n\n`)
        response.end('data: [DONE]\n\n')
      },
    })
    const { requestId } = await ask(plane, { max_tokens: undefined, stream: true })
    const record = await plane.record(requestId)
    const entries = plane.entries()
    const holds = entries.flatMap((entry) => (entry.kind === 'held' && entry.id === requestId ? [entry] : []))
    expect(holds.length).toBeGreaterThan(1)
    const last = holds.at(-1)
    expect(last?.tokens.output).toBeGreaterThanOrEqual(record.tokens?.output ?? 0)
    const [usd = 0, tokens = 0] = last?.hold.map(([, , amount]) => amount) ?? []
    expect(usd).toBeGreaterThanOrEqual(Math.round((record.cost?.usd ?? 0) * 1e9))
    expect(tokens).toBe((last?.tokens.input ?? 0) + (last?.tokens.output ?? 0))
    // What an interrupted request would be charged is what its record would say.
    const admitted = entries.find((entry) => entry.kind === 'admitted')
    if (admitted?.kind !== 'admitted') throw new Error('not admitted')
    const [, held] = admitted.hold ?? []
    expect((admitted.record.tokens?.input ?? 0) + (admitted.record.tokens?.output ?? 0)).toBe(held?.[2])
  })

  it('is for all answers that are asked for, each as long as the model writes', async () => {
    const plane = await start({
      rules: { budgetUsdDay: 0.01 },
      prices: [{ model: 'openai-model', input: 1, output: 10, max_output: 200 }],
    })
    // Of 200 tokens each: 2,000 micro-dollars an answer.
    for (const more of [
      { n: 4, max_tokens: 500 },
      { n: 4, max_tokens: undefined },
    ])
      expect((await ask(plane, more)).status).toBe(200)
    for (const more of [
      { n: 5, max_tokens: 500 },
      { n: 128, max_tokens: undefined },
      { n: '8', max_tokens: 500 },
    ])
      expectLaneError('openai', await ask(plane, more), 'budget_exceeded')
  })

  it('is no more than the model writes', async () => {
    const plane = await start({
      rules: { budgetUsdDay: 1 },
      prices: [{ model: 'openai-model', input: 1, output: 10, max_output: 200 }],
      answer: (_request, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        const delta = { id: 'c', object: 'chat.completion.chunk', choices: [{ index: 0, delta: { content: 'x' } }] }
        for (let count = 0; count < 180; count++) response.write(`data: ${JSON.stringify(delta)}\n\n`)
        response.end('data: [DONE]\n\n')
      },
    })
    const { requestId } = await ask(plane, { max_tokens: undefined, stream: true })
    await plane.record(requestId)
    expect(plane.entries().filter(({ kind }) => kind === 'held')).toEqual([])
  })
})

describe('a price of the built-in provider', () => {
  it('is charged where one is set, held by budgets, and nothing is flagged where none is', async () => {
    const plane = await start({ rules: { budgetUsdDay: 1 }, kinds: ['demo'], prices: [] })
    const free = await plane.record((await ask(plane, { model: 'demo-model' })).requestId)
    expect(free.cost).toBeNull()
    expect(free.policy_signals.map(({ rule }) => rule)).not.toContain('unpriced')
    await price(plane, [{ model: 'demo-model', provider: 'demo', input: 1, output: 10 }])
    const paid = await plane.record((await ask(plane, { model: 'demo-model' })).requestId)
    const { input = 0, output = 0 } = paid.tokens ?? {}
    expect(Math.round((paid.cost?.usd ?? 0) * 1e9)).toBe(input * 1000 + output * 10_000)
    expect(use(plane).used).toBe(input * 1000 + output * 10_000)
  })
})

describe('end users beyond those that have counters of their own', () => {
  it('share one, by which they are booked', async () => {
    const plane = await start({ rules: { budgetTokensDay: 1000, per: 'user' } })
    // As if so many had come before.
    const limit = budget('tokens', { perUser: true, limit: 1000 })
    const hold = plane.limits.admit([limit], 'first', { requests: 1, tokens: 0 })
    if (!('taken' in hold)) throw new Error('refused')
    for (let count = 0; count < 100_000; count++) {
      const many = { ...hold, user: `user ${count}`, budgets: [] }
      plane.limits.holdBudgets(many, { usd: 0n, tokens: 1 }, { timeZone: 'UTC', now: Date.now() })
      plane.limits.release(many)
    }
    for (const user of ['late', 'later']) await ask(plane, { user })
    await expect.poll(() => use(plane, limit, 'anybody').used).toBe(60)
    const booked = plane.entries().flatMap((entry) => (entry.kind === 'settled' ? (entry.booked ?? []) : []))
    expect(booked.map(([counter, , amount]) => [counter, amount])).toEqual([
      ['pol_team workspace tokens day/others', 30],
      ['pol_team workspace tokens day/others', 30],
    ])
  })

  it('cannot name the counters that the gateway keeps for itself', async () => {
    const plane = await start({ rules: { budgetTokensDay: 1000, per: 'user' } })
    const limit = budget('tokens', { perUser: true })
    for (const user of ['(users)', '(others)', '/users', 'someone']) {
      await ask(plane, { user })
      await expect.poll(() => use(plane, limit, user)).toMatchObject({ used: 30, held: 0, holders: 0 })
    }
  })
})

describe('headers', () => {
  it('openai-dotnet 838: are never negative or empty, whatever is left', async () => {
    const plane = await start({ rules: { rpm: 2, tpm: 100 }, answer: reply(5000) })
    const answers = [await ask(plane, { max_tokens: 10 }), await ask(plane, { max_tokens: 10 }), await ask(plane)]
    for (const { headers } of answers)
      for (const [name, value] of headers)
        if (name.startsWith('x-ratelimit-')) expect(`${name} ${value}`).toMatch(/ (\d+|(\d+m)?\d+(\.\d+)?m?s)$/)
    expect(answers.every(({ headers }) => headers.has('x-ratelimit-remaining-tokens'))).toBe(true)
  })

  it.each([
    ['requests a minute', { rpm: 1 }, {}],
    ['tokens a minute', { tpm: 150 }, {}],
    ['a budget that running requests hold', { budgetUsdDay: 0.0015 }, { hang: true }],
    ['requests at once', { concurrency: 1 }, { hang: true }],
  ] as [string, LimitRules, { hang?: boolean }][])(
    'litellm 4695: say when to come again where waiting cures it: %s',
    async (_what, rules, { hang = false }) => {
      const hanging: (() => void)[] = []
      const plane = await start({
        rules,
        answer: (...call) => (hang ? void hanging.push(() => reply(1)(...call)) : reply(90)(...call)),
      })
      const first = ask(plane)
      if (hang) await expect.poll(() => hanging.length).toBe(1)
      else await first
      const refused = await ask(plane)
      expectLaneError('openai', refused, 'rate_limited')
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
      for (const answer of hanging) answer()
      await first
    },
  )
})

describe('an answer that is no HTTP', () => {
  it.each([
    ['with two lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n{}'],
    ['that switches protocols', 'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'],
  ])('%s is a bad answer, and no provider that cannot be reached', async (_what, bytes) => {
    const plane = await start({ rules: {}, answer: (request) => void request.socket.end(bytes) })
    expectLaneError('openai', await ask(plane), 'provider_bad_response')
  })
})
