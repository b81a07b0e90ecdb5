import http, { type ServerResponse } from 'node:http'
import { afterEach, describe, expect, it } from 'vitest'
import { fillPrice } from '../../src/core/cost/model-price.ts'
import type { AccountLimits } from '../../src/core/policies/policy-limits.ts'
import { accountLimits } from '../../src/policy/limits/account-limits.ts'
import { type DataPlane, startDataPlane } from '../support/data-plane.ts'
import { expectLaneError } from '../support/lane-errors.ts'
import { closeServer, listen } from '../support/listen.ts'
import { type RawAnswer, send } from '../support/raw-http.ts'
import { makePolicy, makeRoute, makeTarget } from '../support/snapshot.ts'

const opened: { stop(): Promise<unknown> }[] = []
afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each.stop()
})

type Answer = (response: ServerResponse) => void

interface Upstream {
  baseUrl: string
  calls: number
  /** To the next calls; then it answers as usual. */
  next: Answer[]
}

const usual: Answer = (response) => {
  const usage = { prompt_tokens: 20, completion_tokens: 10, total_tokens: 30 }
  const choices = [{ index: 0, message: { role: 'assistant', content: 'x' }, finish_reason: 'stop' }]
  response.writeHead(200, { 'content-type': 'application/json' })
  response.end(JSON.stringify({ id: 'c', object: 'chat.completion', model: 'm', choices, usage }))
}

const failing: Answer = (response) => {
  response.writeHead(500, { 'content-type': 'application/json' }).end('{"error":{"message":"broken"}}')
}

async function upstream(): Promise<Upstream> {
  const found: Upstream = { baseUrl: '', calls: 0, next: [] }
  const server = http.createServer((request, response) => {
    request.resume().on('end', () => {
      found.calls++
      ;(found.next.shift() ?? usual)(response)
    })
  })
  opened.push({ stop: async () => closeServer(server) })
  found.baseUrl = `${await listen(server)}/v1`
  return found
}

interface Scene {
  plane: DataPlane
  first: Upstream
  second: Upstream
}

/** The model `m` goes to `first`, whose account has the limits, and then to `second`; `only` to the first alone. */
async function start(limits: Partial<AccountLimits>, retries = 0, policies: object[] = []): Promise<Scene> {
  const [first, second] = [await upstream(), await upstream()]
  const plane = await startDataPlane({
    providers: [
      { kind: 'openai', name: 'first', baseUrl: first.baseUrl, limits },
      { kind: 'openai', name: 'second', baseUrl: second.baseUrl },
    ],
    policies: policies.map((rules) => makePolicy('team', rules)),
    routes: [
      makeRoute('m', [makeTarget('first'), makeTarget('second', { priority: 1 })], { retries }),
      makeRoute('only', [makeTarget('first')], { retries }),
    ],
  })
  opened.push(plane)
  const prices = ['m', 'only'].map((model) => fillPrice({ model, source: 'set', version: 'v1', input: 1, output: 10 }))
  plane.tell({ type: 'prices', prices: { revision: 1, prices } })
  await plane.hear('has')
  return { plane, first, second }
}

function ask(plane: DataPlane, model = 'm', more: object = {}): Promise<RawAnswer> {
  const headers: [string, string][] = [
    ['authorization', `Bearer ${plane.key}`],
    ['content-type', 'application/json'],
  ]
  const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'hi' }], max_tokens: 100, ...more })
  return send(`${plane.baseUrl}/v1/chat/completions`, { headers, body })
}

function usage(plane: DataPlane, limits: Partial<AccountLimits>) {
  const whole = { rpm: null, tpm: null, budgetUsdMonth: null, ...limits }
  const [limit] = accountLimits({ id: 'prv_first', name: 'first', limits: whole }) ?? []
  if (limit === undefined) throw new Error('there is no limit')
  const moment = { timeZone: 'UTC', now: Date.now() }
  return limit.period === null ? { used: plane.limits.used(limit) } : plane.limits.budgetUse(limit, moment)
}

it.each([
  ['no policy', []],
  ['a policy without budgets', [{ rpm: 1000 }]],
  ['budgets that only warn', [{ budgetUsdDay: 1, onBudget: 'warn' }]],
])('a whole answer without a limit is never sent on an account with a budget, under %s', async (_name, policies) => {
  const { plane, first } = await start({ budgetUsdMonth: 1 }, 0, policies)
  const { status, body } = await ask(plane, 'only', { max_tokens: undefined })
  expect([status, body.toString()]).toEqual([403, expect.stringContaining('set max_completion_tokens to at most 9999')])
  expect(first.calls).toBe(0)
  const named = Number(/at most (\d+)/.exec(body.toString())?.[1])
  expect((await ask(plane, 'only', { max_tokens: named + 10 })).body.toString()).toContain('max_tokens of at most 9999')
  expect((await ask(plane, 'only', { max_tokens: named })).status).toBe(200)
})

it('a whole answer without a limit is told when the budget of an account resets that has no room for any', async () => {
  const { plane } = await start({ budgetUsdMonth: 0.00001 })
  expectLaneError('openai', await ask(plane, 'only', { max_tokens: undefined }), 'budget_exceeded')
})

it('a whole answer without a limit, of a model without a price, is told of the price', async () => {
  const { plane } = await start({ budgetUsdMonth: 1 })
  plane.tell({ type: 'prices', prices: { revision: 2, prices: [] } })
  await plane.hear('has')
  expect((await ask(plane, 'only', { max_tokens: undefined })).body.toString()).toContain('only has no price')
})

describe('requests a minute of an account', () => {
  it('go to the next target when they are used up, with the reason on the record', async () => {
    const { plane, first, second } = await start({ rpm: 2 })
    for (let count = 0; count < 3; count++) expect((await ask(plane)).status).toBe(200)
    expect([first.calls, second.calls]).toEqual([2, 1])
    const record = plane.newest()
    expect(record).toMatchObject({ provider: 'second', attempts: [{ provider: 'second', outcome: 'answered' }] })
    expect(record?.routing_signals).toContainEqual(
      expect.objectContaining({
        verdict: 'skipped',
        data: expect.objectContaining({ provider: 'first', code: 'account' }),
        text: expect.stringMatching(/^first \(m\): The account of provider first may be used for 2 requests a minute/),
      }),
    )
  })

  it('are refused with their wait when there is no other target', async () => {
    const { plane, first } = await start({ rpm: 1 })
    expect((await ask(plane, 'only')).status).toBe(200)
    const refused = await ask(plane, 'only')
    expectLaneError('openai', refused, 'rate_limited')
    const wait = Number(refused.headers.get('retry-after'))
    expect(wait).toBeGreaterThanOrEqual(60)
    expect(wait).toBeLessThanOrEqual(62)
    expect(first.calls).toBe(1)
    expect(await plane.record(refused.requestId)).toMatchObject({ attempts: [], cost: null })
  })

  it('count attempts, retries among them', async () => {
    const { plane, first } = await start({ rpm: 2 }, 1)
    first.next.push(failing, failing)
    expect((await ask(plane)).status).toBe(200)
    expect(first.calls).toBe(2)
    expect(usage(plane, { rpm: 2 })).toEqual({ used: 2 })
    await ask(plane)
    expect(first.calls).toBe(2)
  })

  it('are never exceeded by many at once', async () => {
    const { plane, first, second } = await start({ rpm: 5 })
    const answers = await Promise.all(Array.from({ length: 25 }, () => ask(plane)))
    expect(answers.every(({ status }) => status === 200)).toBe(true)
    expect([first.calls, second.calls]).toEqual([5, 20])
  })

  it('of 0 let nothing pass', async () => {
    const { plane, first } = await start({ rpm: 0 })
    expect((await ask(plane)).status).toBe(200)
    const refused = await ask(plane, 'only')
    expectLaneError('openai', refused, 'rate_limited')
    expect(refused.headers.get('x-should-retry')).toBe('false')
    expect(first.calls).toBe(0)
  })
})

describe('tokens a minute of an account', () => {
  it('are booked when an attempt is sent, and corrected by what it used', async () => {
    const { plane, first } = await start({ tpm: 200 })
    expect((await ask(plane)).status).toBe(200)
    expect(usage(plane, { tpm: 200 })).toEqual({ used: 30 })
    first.next.push(failing)
    expect((await ask(plane)).status).toBe(200)
    expect(usage(plane, { tpm: 200 })).toEqual({ used: 30 })
    expectLaneError('openai', await ask(plane, 'only', { max_tokens: 190 }), 'rate_limited')
  })
})

describe('a budget of an account', () => {
  const limits = { budgetUsdMonth: 0.0015 }

  it('is held before the call, settled from what it cost, and sends to the next target what has no room', async () => {
    const { plane, first, second } = await start(limits)
    const waiting = Promise.withResolvers<ServerResponse>()
    first.next.push((response) => waiting.resolve(response))
    const running = ask(plane)
    const response = await waiting.promise
    const held = usage(plane, limits)
    expect(held).toMatchObject({ used: 0, holders: 1 })
    expect((await ask(plane)).status).toBe(200)
    expect([first.calls, second.calls]).toEqual([1, 1])
    const refused = await ask(plane, 'only')
    expectLaneError('openai', refused, 'rate_limited')
    expect(refused.body.toString()).toContain('1 running request holds what is left')
    usual(response)
    expect((await running).status).toBe(200)
    // 20 tokens at $1 and 10 at $10 a million.
    expect(usage(plane, limits)).toMatchObject({ used: 120_000, held: 0, holders: 0 })
  })

  it('that is spent is refused with its reset', async () => {
    const { plane } = await start({ budgetUsdMonth: 0.0001 })
    const refused = await ask(plane, 'only')
    expectLaneError('openai', refused, 'budget_exceeded')
    expect(Date.parse(refused.headers.get('x-sp-reset') ?? '')).toBeGreaterThan(Date.now())
    expect((await ask(plane)).status).toBe(200)
  })

  it('is charged for the prompt where the client leaves before any content', async () => {
    const { plane, first } = await start(limits)
    const asked = Promise.withResolvers<void>()
    first.next.push(() => asked.resolve())
    const client = new AbortController()
    const call = fetch(`${plane.baseUrl}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${plane.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'only',
        messages: [{ role: 'user', content: 'hi '.repeat(100) }],
        max_tokens: 100,
      }),
      signal: client.signal,
    }).catch(() => null)
    await asked.promise
    client.abort()
    await call
    await expect.poll(() => plane.records()[0]?.status).toBe(499)
    const [record] = plane.records()
    expect(record?.cost?.usd).toBeCloseTo(Math.ceil((record?.request_bytes ?? 0) / 4) / 1e6, 9)
    const used = Math.round((record?.cost?.usd ?? 0) * 1e9)
    await expect.poll(() => usage(plane, limits)).toMatchObject({ used, held: 0, holders: 0 })
  })

  it('is free again of attempts that failed, and of refusals', async () => {
    const { plane, first } = await start(limits)
    first.next.push(failing)
    expect((await ask(plane)).status).toBe(200)
    first.next.push((response) => response.writeHead(400).end('{"error":{"message":"no"}}'))
    expect((await ask(plane)).status).toBe(400)
    expect(usage(plane, limits)).toMatchObject({ used: 0, held: 0, holders: 0 })
  })

  it('counts beside the budget of a policy, each what it is for', async () => {
    const { plane, first } = await start({ budgetUsdMonth: 1 }, 0, [{ budgetUsdDay: 1 }])
    first.next.push(failing)
    expect((await ask(plane)).status).toBe(200)
    expect((await ask(plane)).status).toBe(200)
    expect(usage(plane, { budgetUsdMonth: 1 })).toMatchObject({ used: 120_000, held: 0 })
  })

  it('is held on while a stream without a limit writes, and ends it where it cannot be', async () => {
    const { plane, first } = await start({ budgetUsdMonth: 0.00125 })
    first.next.push((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      const chunk = (delta: object) =>
        `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', model: 'm', choices: [{ index: 0, delta }] })}\n\n`
      for (let count = 0; count < 400; count++) response.write(chunk({ content: 'word ' }))
      response.end('data: [DONE]\n\n')
    })
    const answer = await ask(plane, 'only', { max_tokens: undefined, stream: true })
    expect(answer.status).toBe(200)
    expect(answer.body.toString()).toContain('budget_exceeded')
    const { used, held } = usage(plane, { budgetUsdMonth: 0.00125 }) as { used: number; held: number }
    expect(held).toBe(0)
    expect(used).toBeGreaterThan(0)
  })

  it('skips a target whose model has no price', async () => {
    const { plane, first } = await start(limits)
    plane.tell({ type: 'prices', prices: { revision: 2, prices: [] } })
    await plane.hear('has')
    expect((await ask(plane)).status).toBe(200)
    expect(first.calls).toBe(0)
    expectLaneError('openai', await ask(plane, 'only'), 'policy_denied')
  })
})

it('nothing is looked at where no account has limits', async () => {
  const { plane, first } = await start({})
  expect((await ask(plane)).status).toBe(200)
  expect(first.calls).toBe(1)
  expect(plane.newest()?.routing_signals.some(({ text }) => text.includes('account'))).toBe(false)
})
