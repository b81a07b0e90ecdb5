import http, { type ServerResponse } from 'node:http'
import { describe, expect, it, onTestFinished } from 'vitest'
import { fillPrice } from '../../src/core/cost/model-price.ts'
import type { AccountLimits, Limit } from '../../src/core/policies/policy-limits.ts'
import type { RequestRecord } from '../../src/core/record.ts'
import type { RouteHedge } from '../../src/core/routes/route-options.ts'
import { accountLimits } from '../../src/policy/limits/account-limits.ts'
import type { SnapshotPolicy } from '../../src/store/configuration/snapshot.ts'
import { type DataPlane, startDataPlane } from '../support/data-plane.ts'
import { closeServer, listen } from '../support/listen.ts'
import { makePolicy, makeRoute, makeTarget } from '../support/snapshot.ts'
import { until } from '../support/until.ts'
import { answerChat, failChat } from './chat-answers.ts'

type Act = (response: ServerResponse, number: number) => void

const never: Act = () => {}
const slowly =
  (ms: number, act: Act = answerChat): Act =>
  (response, number) =>
    void setTimeout(() => act(response, number), ms)

/** Not before the other target has been asked as well. */
const whenAsked =
  ({ promise }: { promise: Promise<void> }, act: Act): Act =>
  (response, number) =>
    void promise.then(() => act(response, number))

/** Tokens a minute that its account may be used for, and those that are. */
const tpm = 10_000
function usedTokens({ plane }: Pick<Stage, 'plane'>, name: string) {
  const [limit] = accountLimits({ id: `prv_${name}`, name, limits: { rpm: null, tpm, budgetUsdMonth: null } }) ?? []
  if (limit === undefined) throw new Error('there is no limit')
  return plane.limits.used(limit)
}

interface Stage {
  plane: DataPlane
  /** By provider: how often it was asked, and how many of those hung up on it. */
  asked: Record<string, number>
  cut: Record<string, number>
}

async function start(
  acts: Record<string, Act>,
  hedge: RouteHedge,
  {
    policies = [],
    only,
    limits,
  }: { policies?: SnapshotPolicy[]; only?: string; limits?: Record<string, Partial<AccountLimits>> } = {},
): Promise<Stage> {
  const stage: Omit<Stage, 'plane'> = { asked: {}, cut: {} }
  const providers = await Promise.all(
    Object.entries(acts).map(async ([name, act]) => {
      const server = http.createServer((request, response) => {
        request.resume().on('end', () => {
          stage.asked[name] = (stage.asked[name] ?? 0) + 1
          response.once('close', () => {
            if (!response.writableFinished) stage.cut[name] = (stage.cut[name] ?? 0) + 1
          })
          act(response, stage.asked[name])
        })
      })
      onTestFinished(() => closeServer(server))
      const baseUrl = `${await listen(server)}/v1`
      return { kind: 'openai', name, baseUrl, ...(limits?.[name] && { limits: limits[name] }) }
    }),
  )
  const targets = Object.keys(acts).map((name, priority) => makeTarget(`${name}:${name}-model`, { priority }))
  const routes = [makeRoute('fast', only === undefined ? targets : targets.slice(0, 1), { hedge, retries: 0 })]
  const plane = await startDataPlane({ providers, routes, policies })
  onTestFinished(() => plane.stop())
  const had = plane.hear('has')
  const price = (name: string, input: number) =>
    fillPrice({ model: `${name}-model`, source: 'set', version: 'v1', input, output: input })
  const prices = Object.keys(acts).map((name, place) => price(name, 1 + 99 * place))
  plane.tell({ type: 'prices', prices: { revision: 1, prices } })
  await had
  return { plane, ...stage }
}

async function ask({ plane }: Pick<Stage, 'plane'>, more: object = {}, path = '/chat/completions') {
  const begun = performance.now()
  const answer = await fetch(`${plane.baseUrl}/v1${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${plane.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'fast', max_tokens: 100, messages: [{ role: 'user', content: 'hi' }], ...more }),
  })
  const text = await answer.text()
  const ms = performance.now() - begun
  return { status: answer.status, text, ms, record: await plane.record(answer.headers.get('x-sp-request-id')) }
}

/** Whatever happens, what is asked first counts: so many must have been asked before one may be asked twice. */
const always: RouteHedge = { after: 30, share: 100 }
const signal = ({ routing_signals }: RequestRecord) => routing_signals.find(({ rule }) => rule === 'hedge')
const tried = ({ attempts }: RequestRecord) => attempts.map(({ provider, outcome }) => `${provider} ${outcome}`)

describe('a request whose first target is silent', () => {
  it('is answered by the second; the loser is cancelled, and charged once at its own provider (claude-code-hub PR 1250, PR 1254)', async () => {
    const stage = await start({ slow: never, quick: answerChat }, always)
    const { status, record } = await ask(stage)
    expect(status).toBe(200)
    expect(tried(record)).toEqual(['slow cancelled', 'quick answered'])
    const [lost, won] = record.attempts
    // By the price of the model that it was asked of: 1 USD a million against 100.
    const input = Math.ceil(record.request_bytes / 4)
    expect(lost?.cost?.usd).toBeCloseTo((input * 1) / 1e6, 9)
    expect(won?.cost?.usd).toBeCloseTo((20 * 100) / 1e6, 9)
    expect(record.cost?.usd).toBeCloseTo((lost?.cost?.usd ?? 0) + (won?.cost?.usd ?? 0), 9)
    expect(record).toMatchObject({
      provider: 'quick',
      upstream_model: 'quick-model',
      tokens: { input: 10, output: 10 },
    })
    expect(signal(record)).toMatchObject({
      verdict: 'note',
      text: 'Sent to two targets after 30 ms of silence: quick/quick-model answered first.',
      data: { loser: 'slow/slow-model', loser_usd: lost?.cost?.usd },
    })
    expect(stage.asked).toEqual({ slow: 1, quick: 1 })
    await expect.poll(() => stage.cut).toEqual({ slow: 1 })
  })

  it('counts the tokens of each at its own account', async () => {
    const stage = await start({ slow: never, quick: answerChat }, always, { limits: { slow: { tpm }, quick: { tpm } } })
    const { record } = await ask(stage, { messages: [{ role: 'user', content: 'hi '.repeat(100) }] })
    expect(tried(record)).toEqual(['slow cancelled', 'quick answered'])
    await expect.poll(() => usedTokens(stage, 'quick')).toBe(20)
    // What was sent, as the loser is charged too: nothing of the answer.
    expect(usedTokens(stage, 'slow')).toBe(Math.ceil(record.request_bytes / 4))
  })

  it('is answered to its end, whatever the account of the loser has left', async () => {
    const long: Act = (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      const chunk = { choices: [{ index: 0, delta: { content: 'word ' } }] }
      for (let count = 0; count < 1500; count++) response.write(`data: ${JSON.stringify(chunk)}\n\n`)
      response.end('data: [DONE]\n\n')
    }
    // Longer than what is held at first: more is asked for, and the loser's budget has room for none of it.
    const limits = { slow: { budgetUsdMonth: 0.001 }, quick: { budgetUsdMonth: 1000 } }
    const stage = await start({ slow: never, quick: long }, always, { limits })
    const { text, record } = await ask(stage, { stream: true, max_tokens: undefined })
    expect(tried(record)).toEqual(['slow cancelled', 'quick answered'])
    expect(record.error).toBeNull()
    expect(text).toContain('[DONE]')
  })

  it('has the attempt last whose answer passed, also where the first target wins (claude-code-hub 1291)', async () => {
    const second = Promise.withResolvers<void>()
    const stage = await start({ slow: whenAsked(second, answerChat), other: () => second.resolve() }, always)
    const { record } = await ask(stage)
    expect(tried(record)).toEqual(['other cancelled', 'slow answered'])
    expect(record).toMatchObject({ provider: 'slow', upstream_model: 'slow-model' })
    expect(record.attempts.at(-1)?.cost?.usd).toBeCloseTo((20 * 1) / 1e6, 9)
    expect(record.attempts[0]?.cost?.usd).toBeCloseTo((Math.ceil(record.request_bytes / 4) * 100) / 1e6, 9)
    await expect.poll(() => stage.cut).toEqual({ other: 1 })
  })

  it('is asked twice of a single target as well', async () => {
    const stage = await start({ one: (response, number) => (number === 1 ? undefined : answerChat(response)) }, always)
    const { record } = await ask(stage)
    expect(tried(record)).toEqual(['one cancelled', 'one answered'])
  })

  it('waits for the other where one fails, and goes on as usual where both do', async () => {
    const second = Promise.withResolvers<void>()
    const other: Act = (response, number) => {
      second.resolve()
      slowly(300)(response, number)
    }
    const one = await start({ slow: whenAsked(second, failChat), other }, always)
    expect(tried((await ask(one)).record)).toEqual(['slow passed', 'other answered'])
    const both = await start({ slow: slowly(400, failChat), other: failChat }, always)
    const { status, record } = await ask(both)
    expect(status).toBe(500)
    expect(record.attempts.length).toBeGreaterThanOrEqual(2)
  })

  it('holds nothing any more when its client leaves', async () => {
    const policies = [makePolicy('team', { concurrency: 5, budgetUsdDay: 1 })]
    const stage = await start({ slow: never, other: never }, always, { policies })
    const control = new AbortController()
    const call = fetch(`${stage.plane.baseUrl}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${stage.plane.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'fast', max_tokens: 100, messages: [] }),
      signal: control.signal,
    }).catch(() => null)
    await until(() => (stage.asked.other ?? 0) > 0)
    control.abort()
    await call
    await until(() => stage.plane.records().length > 0)
    expect(tried(stage.plane.records()[0] as RequestRecord)).toEqual(['slow aborted', 'other aborted'])
    await until(() => Object.keys(stage.cut).length >= 2)
    const budget: Limit = {
      counter: 'pol_team workspace usd day',
      ...{ policy: 'team', scope: 'workspace', kind: 'usd', period: 'day', limit: 0, warns: false, perUser: false },
    }
    const use = () => stage.plane.limits.budgetUse(budget, { timeZone: 'UTC', now: Date.now() })
    // What it held is given back just after its record is written.
    await expect.poll(() => use().held).toBe(0)
    const [record] = stage.plane.records()
    // Both may be charged for the input that they got.
    expect(use().used).toBe(Math.round((record?.cost?.usd ?? 0) * 1e9))
    expect(use().used).toBeGreaterThan(0)
  })
})

describe('a request is sent to one target only', () => {
  const alone = async (stage: Stage, more: object = {}, path?: string) => {
    const { record } = await ask(stage, more, path)
    expect(record.attempts).toHaveLength(1)
    return record
  }

  it('where its first content has come', async () => {
    const streamed: Act = (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write('data: {"choices":[{"index":0,"delta":{"content":"a"}}]}\n\n')
      setTimeout(() => response.end('data: [DONE]\n\n'), 1500)
    }
    const stage = await start({ one: streamed, other: answerChat }, { after: 1000, share: 100 })
    expect(signal(await alone(stage, { stream: true }))).toBeUndefined()
  })

  it('where its answer is stored, or the provider runs tools for it', async () => {
    const stage = await start({ one: slowly(100), other: answerChat }, always)
    await alone(stage, { store: true })
    await alone(stage, { tools: [{ type: 'web_search' }] })
    await alone(stage, { input: 'hi' }, '/responses')
  })

  it('where the share of the route is used up', async () => {
    // Every tenth may be asked twice, and is then answered by the other, however long the first would take.
    const one: Act = (response, number) => slowly(number % 10 === 0 ? 8000 : number === 1 ? 1000 : 60)(response, number)
    const stage = await start({ one, other: answerChat }, { after: 20, share: 10 })
    const records: RequestRecord[] = []
    for (let count = 0; count < 20; count++) records.push((await ask(stage)).record)
    expect(records.filter(({ attempts }) => attempts.length > 1)).toHaveLength(2)
    expect(signal(records[0] as RequestRecord)).toMatchObject({
      verdict: 'skipped',
      text: "No second target was asked after 20 ms: 10% of the route's requests were sent twice already.",
    })
  })

  it('where the budgets have no room for both', async () => {
    const policies = [makePolicy('team', { budgetTokensDay: 150 })]
    const stage = await start({ one: slowly(400), other: answerChat }, always, { policies })
    expect(signal(await alone(stage))?.text).toContain('the budgets have no room for it')
  })

  it('where the first target has failed, and another is asked in its place', async () => {
    const acts = { one: failChat, two: slowly(3500), three: answerChat }
    const stage = await start(acts, { after: 2500, share: 100 })
    const { record } = await ask(stage)
    expect(tried(record)).toEqual(['one fallback', 'two answered'])
    expect(stage.asked).toEqual({ one: 1, two: 1 })
  })

  it('where the account of the other has no room, of which the record says nothing else', async () => {
    const stage = await start({ one: slowly(200), other: answerChat }, always, { limits: { other: { rpm: 0 } } })
    expect(signal(await alone(stage))).toBeUndefined()
    expect(stage.asked).toEqual({ one: 1 })
  })

  it('after refusals of the provider: how fast they came says nothing of answers', async () => {
    const refused: Act = (response) => void response.writeHead(400).end('{"error":{"message":"no"}}')
    const one: Act = (response, number) => (number > 30 ? slowly(400) : refused)(response, number)
    const stage = await start({ one, other: answerChat }, { after: 'p95', share: 100 })
    for (let count = 0; count < 30; count++) expect((await ask(stage)).status).toBe(400)
    await alone(stage)
  })

  it('before the time that 95 of 100 calls take is known', async () => {
    const stage = await start({ one: slowly(60), other: answerChat }, { after: 'p95', share: 100 })
    expect(signal(await alone(stage))).toBeUndefined()
  })
})

describe('a target with a long tail', () => {
  const tailMs = 1500
  const tail: Act = (response, number) => (number % 33 === 0 ? slowly(tailMs) : answerChat)(response, number)

  async function call({ plane }: Stage): Promise<{ id: string | null; ms: number }> {
    const begun = performance.now()
    const answer = await fetch(`${plane.baseUrl}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${plane.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'fast', max_tokens: 100, messages: [{ role: 'user', content: 'hi' }] }),
    })
    await answer.text()
    return { id: answer.headers.get('x-sp-request-id'), ms: performance.now() - begun }
  }

  async function measure(hedge: RouteHedge): Promise<{ p99: number; usd: number }> {
    const stage = await start({ one: tail }, hedge)
    const calls = []
    for (let count = 0; count < 260; count++) calls.push(await call(stage))
    await stage.plane.record(calls.at(-1)?.id ?? null)
    // All of them: the share is of what the route has had since it began.
    const ids = new Set(calls.map(({ id }) => id))
    const records = stage.plane.records().filter(({ id }) => ids.has(id))
    const timed = calls.slice(60)
    const times = timed.map(({ ms }) => ms).sort((one, other) => one - other)
    return {
      p99: times[Math.ceil(0.99 * times.length) - 1] ?? 0,
      usd: records.reduce((sum, { cost }) => sum + (cost?.usd ?? 0), 0),
    }
  }

  it('has its p99 halved, for at most 5% more spend', async () => {
    // Nothing is silent for so long: as if there were no hedging.
    const plainly = measure({ after: 600_000, share: 5 })
    const [plain, hedged] = await Promise.all([plainly, measure({ after: 'p95', share: 5 })])
    expect(plain.p99).toBeGreaterThanOrEqual(tailMs)
    expect(hedged.p99).toBeLessThanOrEqual(plain.p99 / 2)
    expect(hedged.usd).toBeLessThanOrEqual(plain.usd * 1.05)
  })
})
