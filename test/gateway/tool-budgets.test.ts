import http from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { fillPrice } from '../../src/core/cost/model-price.ts'
import type { Limit } from '../../src/core/policies/policy-limits.ts'
import { type DataPlane, startDataPlane } from '../support/data-plane.ts'
import { closeServer, listen } from '../support/listen.ts'
import { makePolicy, makeRoute, makeTarget } from '../support/snapshot.ts'

let provider: http.Server
let plane: DataPlane
let answer: object = {}

const price = (model: string, rates: object) => fillPrice({ model, source: 'set', version: 'v1', ...rates })
const usual = { input: 1, output: 10, per_search: 0.01 }
const prices = [
  price('gpt', { ...usual, per_file_search: 0.01 }),
  price('gpt-4o-search-preview', usual),
  price('claude', { ...usual, cache_write: 1.25, cache_write_1h: 2 }),
  price('gemini', usual),
  price('drawer', { input: 5, output: 10, image_output: 30 }),
]
const kinds: Readonly<Record<string, string>> = { claude: 'anthropic', gemini: 'gemini' }

beforeAll(async () => {
  provider = http.createServer((request, response) => {
    request.resume().on('end', () =>
      setTimeout(() => {
        response.setHeader('content-type', 'application/json')
        response.end(JSON.stringify(answer))
      }, 100),
    )
  })
  const baseUrl = await listen(provider)
  plane = await startDataPlane({
    providers: [
      { kind: 'openai', baseUrl: `${baseUrl}/v1` },
      { kind: 'anthropic', baseUrl },
      { kind: 'gemini', baseUrl },
    ],
    routes: prices.map(({ model }) => makeRoute(model, [makeTarget(`${kinds[model] ?? 'openai'}:${model}`)])),
    policies: [makePolicy('team', { budgetUsdDay: 0.1 })],
  })
  plane.tell({ type: 'prices', prices: { revision: 1, prices } })
  await plane.hear('has')
})
afterAll(async () => {
  await plane.stop()
  closeServer(provider)
})

async function send(path: string, body: object) {
  const response = await fetch(`${plane.baseUrl}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${plane.key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  await response.arrayBuffer()
  return { status: response.status, record: await plane.record(response.headers.get('x-sp-request-id')) }
}

const tokens = { input_tokens: 10, output_tokens: 10, total_tokens: 20 }
const responses = (more: object) => ({ model: 'gpt', input: 'x', max_output_tokens: 10, ...more })
const messages = (more: object) => ({
  model: 'claude',
  max_tokens: 10,
  messages: [{ role: 'user', content: 'x' }],
  ...more,
})
const generate = { contents: [{ parts: [{ text: 'x' }] }], generationConfig: { maxOutputTokens: 10 } }
const claude = (usage: object) => ({
  ...{ type: 'message', model: 'claude', role: 'assistant', content: [], stop_reason: 'end_turn' },
  usage: { input_tokens: 10, output_tokens: 10, ...usage },
})
const chat = {
  ...{ object: 'chat.completion', model: 'gpt-4o-search-preview' },
  choices: [{ index: 0, message: { role: 'assistant', content: 'x' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20 },
}
const image = { image_gen: { input_tokens: 0, output_tokens: 6000, output_tokens_details: { image_tokens: 6000 } } }
const long = 'x'.repeat(40_000)
const marked = (ttl: object) => [{ type: 'text', text: long, cache_control: { type: 'ephemeral', ...ttl } }]

describe('a budget in USD, of many requests at once whose tools are paid besides', () => {
  it.each<[string, string, object, object, number, number]>([
    [
      'images that a response makes',
      '/v1/responses',
      responses({ tools: [{ type: 'image_generation', model: 'drawer' }] }),
      {
        object: 'response',
        model: 'gpt',
        usage: tokens,
        tools: [{ type: 'image_generation', model: 'drawer' }],
        tool_usage: image,
      },
      ...([0.4, 2] as const),
    ],
    [
      'searches of a response',
      '/v1/responses',
      responses({ tools: [{ type: 'web_search' }] }),
      { object: 'response', model: 'gpt', usage: tokens, tool_usage: { web_search: { num_requests: 1 } } },
      ...([0.035, 3] as const),
    ],
    [
      'searches in files',
      '/v1/responses',
      responses({ tools: [{ type: 'file_search' }] }),
      { object: 'response', model: 'gpt', usage: tokens, output: [{ type: 'file_search_call', id: 'fs_1' }] },
      ...([0.035, 3] as const),
    ],
    [
      'searches of a model',
      '/v1/chat/completions',
      { model: chat.model, messages: [], max_tokens: 10 },
      chat,
      0.035,
      3,
    ],
    [
      'searches as often as the request says',
      '/v1/anthropic/v1/messages',
      messages({ tools: [{ type: 'web_search_20250305', name: 'web_search', max_uses: 3 }] }),
      claude({ server_tool_use: { web_search_requests: 3 } }),
      ...([0.07, 2] as const),
    ],
    [
      'grounded prompts',
      '/v1/gemini/v1beta/models/gemini:generateContent',
      { ...generate, tools: [{ google_search: {} }] },
      {
        candidates: [{ content: { parts: [{ text: 'x' }] }, groundingMetadata: { webSearchQueries: ['x'] } }],
        usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 10, totalTokenCount: 20 },
      },
      ...([0.035, 3] as const),
    ],
    [
      'writes to the cache',
      '/v1/anthropic/v1/messages',
      messages({ system: marked({}) }),
      claude({ cache_creation_input_tokens: 10_000 }),
      ...([0.05, 3] as const),
    ],
    [
      'writes to the cache for an hour',
      '/v1/anthropic/v1/messages',
      messages({ system: marked({ ttl: '1h' }) }),
      claude({ cache_creation_input_tokens: 10_000, cache_creation: { ephemeral_1h_input_tokens: 10_000 } }),
      ...([0.05, 2] as const),
    ],
  ])('has room for so many of %s', async (name, path, body, answered, budgetUsdDay, fits) => {
    plane.configure({ policies: [makePolicy(name.replaceAll(' ', '-'), { budgetUsdDay })] })
    await plane.hear('has')
    answer = answered
    const all = await Promise.all(Array.from({ length: 6 }, () => send(path, body)))
    expect(all.map(({ status }) => status).sort()).toEqual(
      Array.from({ length: 6 }, (_, at) => (at < fits ? 200 : 429)),
    )
    const passed = all.filter(({ status }) => status === 200)
    expect(passed.map(({ record }) => record.estimate_error)).toEqual(passed.map(() => null))
    const limit: Limit = {
      counter: `pol_${name.replaceAll(' ', '-')} workspace usd day`,
      ...{ policy: name, scope: 'workspace', kind: 'usd', period: 'day', limit: 0, warns: false, perUser: false },
    }
    const use = plane.limits.budgetUse(limit, { timeZone: 'UTC', now: Date.now() })
    expect(use.held).toBe(0)
    expect(use.used).toBeGreaterThan(0)
    expect(use.used).toBeLessThanOrEqual(budgetUsdDay * 1e9)
  })
})
