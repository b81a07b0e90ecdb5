import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { listen } from '../support/listen.ts'

/** What affinity and hedging are worth, in figures that clients of a whole gateway see. */
let gateway: TestGateway
let key: string
const accounts = Array.from({ length: 20 }, (_, place) => `acct-${place}`)
const tailMs = 1500
/** Each account caches the beginning of what it has seen. */
const seen = new Set<string>()
let asked = 0
const server = createServer((request, response) => {
  void answer(request.headers.authorization ?? '', request).then((body) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
})

async function answer(account: string, request: NodeJS.ReadableStream): Promise<object> {
  const sent = await text(request)
  if (sent === '') return { object: 'list', data: [] }
  const { model, messages } = JSON.parse(sent) as { model: string; messages: object[] }
  if (model === 'tail' && account === 'Bearer sk-acct-0' && ++asked % 33 === 0) await wait(tailMs)
  const prefix = `${account} ${JSON.stringify(messages.slice(0, 2))}`
  const cached = seen.has(prefix) ? 1500 : 0
  seen.add(prefix)
  const usage = { prompt_tokens: 1500, completion_tokens: 1, prompt_tokens_details: { cached_tokens: cached } }
  const message = { role: 'assistant', content: 'Hm.' }
  return { id: 'c1', object: 'chat.completion', model, choices: [{ index: 0, message, finish_reason: 'stop' }], usage }
}

beforeAll(async () => {
  const baseUrl = `${await listen(server)}/v1`
  gateway = await startGateway()
  const { admin } = gateway
  for (const name of accounts)
    await admin.providers.add({ name, kind: 'openai', credential: `sk-${name}`, baseUrl, skipCheck: true })
  await gateway.addRoute('stays', accounts, { strategy: 'weighted', sticky: true })
  await gateway.addRoute('wanders', accounts, { strategy: 'weighted' })
  for (const model of ['stays', 'wanders', 'tail']) await admin.prices.set({ model, input: 1, output: 2 })
  key = (await gateway.createKey('client')).key
})

afterAll(async () => {
  await gateway.stop()
  server.closeAllConnections()
  server.close()
})

async function ask(model: string, messages: object[]): Promise<{ id: string; ms: number }> {
  const begun = performance.now()
  const response = await fetch(`${gateway.baseUrl}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages, max_tokens: 10 }),
  })
  await response.text()
  expect(response.status).toBe(200)
  return { id: response.headers.get('x-sp-request-id') ?? '', ms: performance.now() - begun }
}

async function cachedRatio(model: string): Promise<number> {
  for (let number = 0; number < 6; number++) {
    const messages: object[] = [{ role: 'system', content: `Matter ${number} ${'word '.repeat(1200)}` }]
    messages.push({ role: 'user', content: `Question ${number} of ${model}` })
    for (let count = 0; count < 15; count++) {
      await ask(model, messages)
      messages.push({ role: 'assistant', content: 'Hm.' }, { role: 'user', content: 'Go on.' })
    }
  }
  const records = (await gateway.admin.requests.list({ limit: 1000 })).filter((record) => record.model === model)
  const sum = (name: 'input' | 'cache_read') => records.reduce((total, { tokens }) => total + (tokens?.[name] ?? 0), 0)
  return sum('cache_read') / sum('input')
}

it('a sticky route finds nine of ten prompt tokens in the caches of twenty accounts, and one without it at most four', async () => {
  const [stays, wanders] = [await cachedRatio('stays'), await cachedRatio('wanders')]
  expect(stays).toBeGreaterThanOrEqual(0.9)
  expect(wanders).toBeLessThanOrEqual(0.4)
})

it('hedging halves the p99 of a target with a long tail, for at most 5% more spend', { timeout: 120_000 }, async () => {
  const measure = async (more: object) => {
    const { admin } = gateway
    await gateway.addRoute('tail', ['acct-0', 'acct-1'], more)
    for (let count = 0; count < 60; count++) await ask('tail', [{ role: 'user', content: 'hi' }])
    const calls = []
    for (let count = 0; count < 200; count++) calls.push(await ask('tail', [{ role: 'user', content: 'hi' }]))
    await gateway.record(calls.at(-1)?.id ?? '')
    const ids = new Set(calls.map(({ id }) => id))
    const records = (await admin.requests.list({ limit: 1000 })).filter(({ id }) => ids.has(id))
    await admin.routes.remove({ model: 'tail' })
    const times = calls.map(({ ms }) => ms).sort((one, other) => one - other)
    return {
      p99: times[Math.ceil(0.99 * times.length) - 1] ?? 0,
      usd: records.reduce((sum, { cost }) => sum + (cost?.usd ?? 0), 0),
    }
  }
  const plain = await measure({})
  const hedged = await measure({ hedgeAfter: 'p95', hedgeShare: 5 })
  expect(plain.p99).toBeGreaterThanOrEqual(tailMs)
  expect(hedged.p99).toBeLessThanOrEqual(plain.p99 / 2)
  expect(hedged.usd).toBeLessThanOrEqual(plain.usd * 1.05)
})
