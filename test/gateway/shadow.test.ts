import http, { type ServerResponse } from 'node:http'
import { describe, expect, it, onTestFinished } from 'vitest'
import { fillPrice } from '../../src/core/cost/model-price.ts'
import type { ContentRule } from '../../src/core/policies/content-rules.ts'
import type { Limit } from '../../src/core/policies/policy-limits.ts'
import type { RequestRecord } from '../../src/core/record.ts'
import { mintBodyKey } from '../../src/sealing/body-seal.ts'
import type { SnapshotPolicy } from '../../src/store/configuration/snapshot.ts'
import { type DataPlane, startDataPlane } from '../support/data-plane.ts'
import { closeServer, listen } from '../support/listen.ts'
import { makePolicy, makeRoute, makeTarget } from '../support/snapshot.ts'
import { until } from '../support/until.ts'
import { answerChat, chatUsage, failChat } from './chat-answers.ts'

type Act = (response: ServerResponse, body: string) => void

const streamed: Act = (response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const chunks = [
    { choices: [{ index: 0, delta: { content: 'a' }, finish_reason: 'stop' }] },
    { choices: [], usage: chatUsage },
  ]
  response.end(`${chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('')}data: [DONE]\n\n`)
}

async function start(
  main: Act,
  shadow: Act,
  policies: SnapshotPolicy[] = [],
  upstreamModel = 'small',
  kind = 'openai',
) {
  const seen: string[] = []
  const startProvider = async (name: string, act: Act) => {
    const server = http.createServer(async (request, response) => {
      let text = ''
      for await (const chunk of request) text += chunk
      if (name === 'shadow') seen.push(text)
      act(response, text)
    })
    onTestFinished(() => closeServer(server))
    return { kind: name === 'shadow' ? kind : 'openai', name, baseUrl: `${await listen(server)}/v1` }
  }
  const providers = [await startProvider('main', main), await startProvider('shadow', shadow)]
  const route = makeRoute('m', [makeTarget('main:large')], {
    shadow: { providerId: 'prv_shadow', upstreamModel },
    retries: 0,
  })
  const other = makeRoute('n', [makeTarget('main:other')])
  const plane = await startDataPlane({ providers, routes: [route, other], policies })
  onTestFinished(() => plane.stop())
  const had = plane.hear('has')
  const prices = [
    fillPrice({ model: 'large', source: 'set', version: 'v1', input: 10, output: 10 }),
    fillPrice({ model: 'small', source: 'set', version: 'v1', input: 1, output: 1 }),
  ]
  plane.tell({ type: 'prices', prices: { revision: 1, prices } })
  await had
  return { plane, seen }
}

async function ask(plane: DataPlane, more: object = {}, path = '/chat/completions') {
  const answer = await fetch(`${plane.baseUrl}/v1${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${plane.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'm', max_tokens: 100, messages: [{ role: 'user', content: 'hi' }], ...more }),
  })
  const text = await answer.text()
  return { status: answer.status, text, id: answer.headers.get('x-sp-request-id') }
}

async function shadowOf(plane: DataPlane, id: string | null): Promise<RequestRecord> {
  for (;;) {
    const found = plane.records().find(({ shadow_of }) => shadow_of === id)
    if (found !== undefined) return found
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

const rule: ContentRule = {
  ...{ name: 'keys', detector: 'secrets', pattern: null, action: 'redact', on: ['answer'] },
  ...{ reversible: false, longest: 200 },
}

const usd: Limit = {
  counter: 'pol_team workspace usd day',
  ...{ policy: 'team', scope: 'workspace', kind: 'usd', period: 'day', limit: 0, warns: false, perUser: false },
}

describe('a route with a shadow', () => {
  it.each([
    ['whole', answerChat, {}],
    ['streamed', streamed, { stream: true }],
  ])('sends it what was answered, and records the %s answer', async (_form, act, more) => {
    const { plane, seen } = await start(act, act)
    const { status, id } = await ask(plane, more)
    expect(status).toBe(200)
    const copy = await shadowOf(plane, id)
    const original = await plane.record(id)
    expect(original).toMatchObject({ provider: 'main', shadow_of: null, attempts: [{ provider: 'main' }] })
    expect(copy).toMatchObject({
      ...{ provider: 'shadow', upstream_model: 'small', status: 200, error: null, route: 'm', model: 'm' },
      ...{ tokens: { input: 10, output: 10 }, cost: { usd: 20 / 1e6 }, attempts: [{ outcome: 'answered' }] },
      key: original.key,
    })
    expect(copy.id).not.toBe(id)
    expect(seen).toHaveLength(1)
    expect(JSON.parse(seen[0] ?? '')).toMatchObject({ model: 'small' })
  })

  it('costs what the model costs that says it has answered, where the name of a deployment tells none', async () => {
    const named: Act = (response) =>
      response
        .setHeader('content-type', 'application/json')
        .end(JSON.stringify({ id: 'c', model: 'small', choices: [], usage: chatUsage }))
    const { plane } = await start(answerChat, named, [], 'ours', 'azure-openai')
    const copy = await shadowOf(plane, (await ask(plane)).id)
    expect(copy).toMatchObject({ upstream_model: 'ours', cost: { usd: 20 / 1e6 }, attempts: [{ priced_as: 'small' }] })
  })

  it('hides in its record what rules hide of what its provider says', async () => {
    const secret = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0'
    const echo: Act = (response) =>
      response
        .writeHead(200, { 'content-type': 'text/event-stream' })
        .end(`data: {"error":{"message":"${secret}"}}\n\n`)
    const { plane } = await start(streamed, echo, [makePolicy('hides', { contentRules: [rule] })])
    const copy = await shadowOf(plane, (await ask(plane, { stream: true })).id)
    expect(JSON.stringify(copy)).toContain('[TOKEN_1]')
    expect(JSON.stringify(copy)).not.toContain(secret)
  })

  it('keeps no client waiting, and ends with the gateway', async () => {
    const { plane, seen } = await start(answerChat, () => {})
    const { id } = await ask(plane)
    await until(() => seen.length > 0)
    // One at a time, where there is little traffic: this one has no copy.
    const next = await ask(plane)
    expect(next.status).toBe(200)
    await plane.drain(0)
    const copies = plane.records().filter(({ shadow_of }) => shadow_of !== null)
    expect(copies).toHaveLength(1)
    expect(copies[0]).toMatchObject({ shadow_of: id, error: { code: 'overloaded' } })
  })

  it('changes no health, whatever comes of it', async () => {
    const { plane } = await start(answerChat, failChat)
    for (let count = 0; count < 25; count++) {
      const { id } = await ask(plane)
      expect(await shadowOf(plane, id)).toMatchObject({ status: 500, error: { code: 'provider_error' } })
    }
    expect(plane.health(1, 1, 'small')).toEqual({ state: 'ready' })
  })

  it('counts in budgets, and in no limit', async () => {
    const { plane } = await start(answerChat, answerChat, [makePolicy('team', { rpm: 3, budgetUsdDay: 1 })])
    for (let count = 0; count < 3; count++) {
      const { status, id } = await ask(plane)
      expect(status).toBe(200)
      await shadowOf(plane, id)
    }
    const { used, held } = plane.limits.budgetUse(usd, { timeZone: 'UTC', now: Date.now() })
    expect([used, held]).toEqual([3 * (200_000 + 20_000), 0])
    expect((await ask(plane)).status).toBe(429)
  })

  it.each([
    ['have no room for', {}],
    ['have room for a shorter answer to', { capOutput: true }],
  ])('is not sent what the budgets %s', async (_what, more) => {
    // Room for the request's hold, of which most is spent when it ends.
    const spent: Act = (response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ choices: [], usage: { prompt_tokens: 20, completion_tokens: 80 } }))
    }
    const { plane, seen } = await start(spent, answerChat, [makePolicy('team', { budgetTokensDay: 140, ...more })])
    expect((await ask(plane)).status).toBe(200)
    await plane.drain(0)
    expect(seen).toEqual([])
  })

  it('gets nothing where its model has no price, and a policy denies such models', async () => {
    const { plane, seen } = await start(answerChat, answerChat, [makePolicy('team', { unpriced: 'deny' })], 'unknown')
    expect((await ask(plane)).status).toBe(200)
    await plane.drain(0)
    expect(seen).toEqual([])
  })

  it.each([
    ['that rules look at', [rule], 1],
    ['that no rule looks at', [], 2],
  ])('leaves an answer %s out of what is captured', async (_what, contentRules, answers) => {
    const { plane } = await start(answerChat, answerChat, [makePolicy('team', { capture: 'full', contentRules })])
    plane.configure({ bodyKey: { id: 'k', key: mintBodyKey() } })
    const { id } = await ask(plane)
    const copy = await shadowOf(plane, id)
    const bodies = plane.entries().flatMap((entry) => (entry.kind === 'body' ? [entry] : []))
    expect(bodies.filter(({ part }) => part === 'request')).toHaveLength(2)
    expect(bodies.filter(({ part }) => part === 'answer')).toHaveLength(answers)
    const said = copy.policy_signals.map(({ text }) => text)
    expect(said.includes("The answer was not kept: content rules do not read a shadow's answer.")).toBe(answers === 1)
  })

  it('gets nothing that is stored, that has tools of the provider, that names more models, or that failed', async () => {
    const { plane, seen } = await start(
      (response, body) => (body.includes('break') ? failChat : answerChat)(response),
      answerChat,
    )
    await ask(plane, { store: true })
    await ask(plane, { tools: [{ type: 'web_search' }] })
    await ask(plane, { models: ['n'] })
    await ask(plane, { messages: [{ role: 'user', content: 'break' }] })
    await ask(plane, { input: 'hi' }, '/responses')
    const { id } = await ask(plane)
    await shadowOf(plane, id)
    expect(seen).toHaveLength(1)
  })
})
