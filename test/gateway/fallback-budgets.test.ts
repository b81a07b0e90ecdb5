import http from 'node:http'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { fillPrice } from '../../src/core/cost/model-price.ts'
import { type DataPlane, startDataPlane } from '../support/data-plane.ts'
import { expectLaneError } from '../support/lane-errors.ts'
import { closeServer, listenOnPort } from '../support/listen.ts'
import { send } from '../support/raw-http.ts'
import { makePolicy, makeRoute, makeTarget } from '../support/snapshot.ts'

let provider: http.Server
let plane: DataPlane
let answered = 'openai-model'
let calls = 0

beforeAll(async () => {
  provider = http.createServer(async (request, response) => {
    calls++
    const sent = Buffer.concat(await request.toArray()).toString()
    if (request.url?.endsWith('/messages')) {
      const own = {
        id: 'm',
        type: 'message',
        role: 'assistant',
        model: 'claude',
        content: [{ type: 'text', text: sent }],
      }
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ ...own, stop_reason: 'end_turn', usage: { input_tokens: 20, output_tokens: 10 } }))
      return
    }
    const usage = { prompt_tokens: 20, completion_tokens: 100, total_tokens: 120 }
    const choices = [{ index: 0, message: { role: 'assistant', content: 'x' }, finish_reason: 'stop' }]
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ id: 'c', object: 'chat.completion', model: answered, choices, usage }))
  })
  const port = await listenOnPort(provider)
  const route = (model: string) => makeRoute(model, [makeTarget(`openai:${model}`)])
  plane = await startDataPlane({
    providers: [
      { kind: 'openai', baseUrl: `http://127.0.0.1:${port}/v1` },
      { kind: 'anthropic', baseUrl: `http://127.0.0.1:${port}` },
    ],
    routes: [
      route('dear'),
      route('nameless'),
      makeRoute('claude', [makeTarget('anthropic:claude')]),
      makeRoute('opus', [makeTarget('anthropic:opus')]),
    ],
    policies: [makePolicy('team', { budgetUsdDay: 0.0015 })],
    seeded: true,
  })
  const price = (model: string, input: number, output: number) =>
    fillPrice({ model, source: 'set', version: 'v1', input, output })
  plane.tell({
    type: 'prices',
    prices: {
      revision: 1,
      prices: [price('openai-model', 1, 10), price('dear', 10, 100), price('claude', 1, 10), price('opus', 10, 100)],
    },
  })
  await plane.hear('has')
})
beforeEach(() => {
  calls = 0
  answered = 'openai-model'
})
afterAll(async () => {
  await plane.stop()
  closeServer(provider)
})

function ask(more: object) {
  const headers: [string, string][] = [
    ['authorization', `Bearer ${plane.key}`],
    ['content-type', 'application/json'],
  ]
  const messages = [{ role: 'user', content: 'hi' }]
  const body = JSON.stringify({ model: 'openai-model', messages, max_tokens: 100, ...more })
  return send(`${plane.baseUrl}/v1/chat/completions`, { headers, body })
}

describe('a budget, of a call that names models to fall back to', () => {
  it('has room for the dearest of them, or nothing is sent', async () => {
    answered = 'dear'
    const refused = await ask({ models: ['openai-model', 'dear'] })
    expectLaneError('openai', refused, 'budget_exceeded')
    expect(calls).toBe(0)
  })

  it('cannot count one without a price', async () => {
    answered = 'nameless'
    const refused = await ask({ models: ['nameless'] })
    expectLaneError('openai', refused, 'policy_denied')
    expect([refused.body.toString().includes('nameless'), calls]).toEqual([true, 0])
  })

  it('takes no model of a tool for one that answers', async () => {
    const passed = await ask({ tools: [{ type: 'image_generation', model: 'nameless' }] })
    expect([passed.status, calls]).toEqual([200, 1])
  })

  it('has room for what is sent: translated, the call names no other model', async () => {
    const passed = await ask({ model: 'claude', models: ['opus'], max_tokens: 20 })
    expect(passed.status).toBe(200)
    expect(passed.body.toString()).not.toContain('opus')
    const record = await plane.record(passed.requestId)
    expect(record).toMatchObject({ upstream_model: 'claude', cost: { usd: 0.00012 } })
  })
})
