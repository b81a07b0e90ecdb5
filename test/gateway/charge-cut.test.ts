import http from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { fillPrice } from '../../src/core/cost/model-price.ts'
import type { RequestRecord } from '../../src/core/record.ts'
import { type DataPlane, startDataPlane } from '../support/data-plane.ts'
import { listen } from '../support/listen.ts'
import { makeRoute, makeTarget } from '../support/snapshot.ts'

let plane: DataPlane
const servers: http.Server[] = []
/** What each of the two providers does with a request: the slow one, and the one behind it. */
let slow: http.RequestListener = () => {}
let fast: http.RequestListener = () => {}
/** Resolves when a request has come to the slow provider. */
let asked = Promise.withResolvers<void>()

async function startProvider(answer: http.RequestListener): Promise<string> {
  const server = http.createServer((request, response) => request.resume().on('end', () => answer(request, response)))
  servers.push(server)
  return `${await listen(server)}/v1`
}

const price = (model: string, input: number, output: number) =>
  fillPrice({ model, input, output, source: 'set', version: '2026-01-01' })

beforeAll(async () => {
  const slowUrl = await startProvider((request, response) => {
    asked.resolve()
    slow(request, response)
  })
  const fastUrl = await startProvider((request, response) => fast(request, response))
  plane = await startDataPlane({
    providers: [
      { kind: 'openai', name: 'slow', baseUrl: slowUrl },
      { kind: 'openai', name: 'fast', baseUrl: fastUrl },
    ],
    routes: [
      makeRoute('both', [makeTarget('slow:slow-model'), makeTarget('fast:fast-model', { priority: 2 })], {
        retries: 0,
      }),
    ],
    timeouts: { firstByte: 200, total: 1500 },
  })
  const prices = [price('slow-model', 100, 1000), price('fast-model', 1, 10)]
  plane.tell({ type: 'prices', prices: { revision: 1, prices } })
})

afterAll(async () => {
  await plane.stop()
  for (const server of servers) {
    server.closeAllConnections()
    server.close()
  }
})

const usage = { prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1100 }
const answer: http.RequestListener = (_request, response) =>
  response
    .setHeader('content-type', 'application/json')
    .end(JSON.stringify({ id: 'c', model: 'm', choices: [], usage }))

const bodyOf = (model: string, streamed: boolean) =>
  JSON.stringify({ model, stream: streamed, messages: [{ role: 'user', content: 'x'.repeat(400) }] })

/** In USD: what the body is estimated at, at $100 a million. */
const inputCost = (body: string) => Math.round(Math.ceil(Buffer.byteLength(body) / 4) * 100_000) / 1e9

function ask(body: string, signal?: AbortSignal): Promise<Response> {
  const headers = { authorization: `Bearer ${plane.key}`, 'content-type': 'application/json' }
  return fetch(`${plane.baseUrl}/v1/chat/completions`, { method: 'POST', headers, body, signal: signal ?? null })
}

/** Hangs up when `leave` resolves, and returns the record. */
async function hangUp(body: string, leave: (response: Promise<Response>) => Promise<unknown>): Promise<RequestRecord> {
  asked = Promise.withResolvers()
  const before = plane.records().length
  const client = new AbortController()
  const response = ask(body, client.signal)
  response.catch(() => {})
  await leave(response)
  client.abort()
  while (plane.records().length === before) await wait(5)
  return plane.newest() ?? expect.fail('no record')
}

describe('a call that was cut', () => {
  it('costs its estimate on the attempt, and the sum of its attempts (policy.md 2.7)', async () => {
    slow = () => {}
    fast = answer
    const body = bodyOf('both', true)
    const response = await ask(body)
    await response.text()
    const record = await plane.record(response.headers.get('x-sp-request-id'))
    expect(record.attempts.map(({ outcome }) => outcome)).toEqual(['provider_timeout', 'answered'])
    const costs = record.attempts.map(({ cost }) => cost?.usd)
    expect(costs).toEqual([inputCost(body), 0.002])
    expect(record.cost?.usd).toBe(Math.round((inputCost(body) + 0.002) * 1e9) / 1e9)
    // The tokens are those of the answer.
    expect(record.tokens).toMatchObject({ input: 1000, output: 100, source: 'reported' })
  })

  it('costs nothing where the provider was not reached, or answered with an error', async () => {
    slow = (_request, response) => response.writeHead(500).end('{}')
    fast = answer
    const response = await ask(bodyOf('both', true))
    await response.text()
    const record = await plane.record(response.headers.get('x-sp-request-id'))
    expect(record.attempts.map(({ cost }) => cost?.usd ?? null)).toEqual([null, 0.002])
    expect(record.cost?.usd).toBe(0.002)
  })

  it('costs its estimate where no target answered in time', async () => {
    slow = () => {}
    const body = bodyOf('slow-model', true)
    const response = await ask(body)
    await response.text()
    const record = await plane.record(response.headers.get('x-sp-request-id'))
    expect(record.error?.code).toBe('provider_timeout')
    expect(record.cost?.usd).toBeCloseTo(inputCost(body) * record.attempts.length, 9)
    expect(record.tokens).toMatchObject({ output: 0, source: 'estimated' })
  })

  it('costs its input where the client left while a whole answer was awaited (policy.md 2.8)', async () => {
    slow = () => {}
    const body = bodyOf('slow-model', false)
    const record = await hangUp(body, () => asked.promise)
    expect(record).toMatchObject({ status: 499, error: { code: 'client_closed' }, tokens: { source: 'estimated' } })
    expect(record.cost?.usd).toBe(inputCost(body))
    expect(record.attempts[0]?.cost).toEqual(record.cost)
  })

  it.each([
    ['after the last content, before usage', 5],
    ['after the first content', 1],
  ])('is charged what came before the client hung up: %s (llmgateway PR 3331)', async (_when, events) => {
    const chunk = { id: 'c', model: 'm', choices: [{ index: 0, delta: { content: 'word' } }] }
    slow = (_request, response) => {
      response.setHeader('content-type', 'text/event-stream')
      for (let index = 0; index < events; index++) response.write(`data: ${JSON.stringify(chunk)}\n\n`)
    }
    const body = bodyOf('slow-model', true)
    const record = await hangUp(body, async (response) => {
      const reader = (await response).body?.getReader()
      let text = ''
      while (text.split('data:').length <= events)
        text += Buffer.from((await reader?.read())?.value ?? new Uint8Array()).toString()
    })
    expect(record.tokens).toMatchObject({ output: events, source: 'estimated' })
    expect(record.cost?.usd).toBeCloseTo(inputCost(body) + events * 0.001, 9)
  })

  it('is charged what passed of a whole answer that was too large to hold (llmgateway PR 3331)', async () => {
    const large = 'x'.repeat(1_500_000)
    slow = (_request, response) =>
      response
        .setHeader('content-type', 'application/json')
        .write(`{"id":"c","choices":[{"message":{"content":"${large}`)
    const record = await hangUp(bodyOf('slow-model', false), async (response) => {
      await (await response).body?.getReader().read()
    })
    expect(record.tokens?.output).toBeGreaterThan(0)
    expect(record.cost?.usd).toBeGreaterThan(0)
  })
})
