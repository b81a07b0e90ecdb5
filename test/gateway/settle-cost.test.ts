import http from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { fillPrice, type ModelPrice } from '../../src/core/cost/model-price.ts'
import type { RequestRecord } from '../../src/core/record.ts'
import { type DataPlane, startDataPlane } from '../support/data-plane.ts'
import { closeServer, listen } from '../support/listen.ts'
import { makeRoute, makeTarget } from '../support/snapshot.ts'

let provider: http.Server
let plane: DataPlane
/** What the provider answers next; an object as JSON, a list as the events of a stream. */
let next: object | object[] = {}
let nextHeaders: Record<string, string> = {}

const price = (vendor: string | null, model: string, rates: Partial<ModelPrice>) =>
  fillPrice({ model, vendor, source: vendor === null ? 'set' : 'shipped', version: '2026-01-01', ...rates })
const prices = [
  price('openai', 'openai-model', { input: 2.5, cache_read: 1.25, output: 10, priority: { input: 5, output: 20 } }),
  price('anthropic', 'anthropic-model', {
    input: 3,
    cache_read: 0.3,
    cache_write: 3.75,
    cache_write_1h: 6,
    output: 15,
    per_search: 0.01,
  }),
  price('gemini', 'gemini-model', { input: 0.3, audio_input: 1, output: 2.5, flex: { input: 0.15 } }),
  price('azure-openai', 'gpt-known', { input: 2, output: 8 }),
  price('groq', 'groq-model', { input: 0.1, output: 0.2 }),
  price('groq', 'groq-large', { input: 1, output: 2 }),
  price('openai', 'local-model', { input: 99, output: 99 }),
]

beforeAll(async () => {
  provider = http.createServer((request, response) => {
    request.resume().on('end', () => {
      const events = Array.isArray(next) ? (next as object[]) : null
      for (const [name, value] of Object.entries(nextHeaders)) response.setHeader(name, value)
      response.setHeader('content-type', events ? 'text/event-stream' : 'application/json')
      response.end(events ? events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('') : JSON.stringify(next))
    })
  })
  const origin = await listen(provider)
  plane = await startDataPlane({
    providers: [
      { kind: 'openai', baseUrl: `${origin}/v1` },
      { kind: 'anthropic', baseUrl: origin },
      { kind: 'gemini', baseUrl: origin },
      { kind: 'azure-openai', name: 'azure', baseUrl: `${origin}/openai/v1` },
      { kind: 'openai-compatible', name: 'groq', baseUrl: `${origin}/v1`, settings: { preset: 'groq' } },
      { kind: 'openai-compatible', name: 'local', baseUrl: `${origin}/v1`, settings: { preset: 'vllm' } },
    ],
    routes: [makeRoute('groq-large', [makeTarget('groq:groq-large')])],
  })
  plane.tell({ type: 'prices', prices: { revision: 1, prices } })
})

afterAll(async () => {
  await plane.stop()
  closeServer(provider)
})

async function ask(path: string, body: object, answer: object): Promise<RequestRecord> {
  next = answer
  const response = await fetch(`${plane.baseUrl}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${plane.key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  await response.text()
  return await plane.record(response.headers.get('x-sp-request-id'))
}

const messages = [{ role: 'user', content: 'hi' }]
const chat = (model: string, usage: object, more: object = {}, asked: object = {}) =>
  ask('/v1/chat/completions', { model, messages, ...asked }, { id: 'c', model, choices: [], usage, ...more })
const usage = { prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1100 }

describe('a settled request has its cost', () => {
  it('by bucket, on the record and on its attempt, with the version of the price', async () => {
    const record = await chat('openai-model', { ...usage, prompt_tokens_details: { cached_tokens: 400 } })
    // 600 × 2.5 + 400 × 1.25 + 100 × 10, in millionths of a dollar.
    expect(record.cost).toEqual({ usd: 0.003, price_version: '2026-01-01' })
    expect(record.attempts.map(({ cost }) => cost)).toEqual([record.cost])
    expect(record.policy_signals.map(({ rule }) => rule)).not.toContain('unpriced')
  })

  it('in the tier that the answer states', async () => {
    const record = await chat('openai-model', usage, { service_tier: 'priority' })
    expect(record.usage_detail).toMatchObject({ tier: 'priority' })
    expect(record.cost?.usd).toBe(0.007)
  })

  it('of a stream, with cache writes of an hour and searches', async () => {
    const started = {
      input_tokens: 100,
      cache_creation_input_tokens: 200,
      cache_creation: { ephemeral_5m_input_tokens: 50, ephemeral_1h_input_tokens: 150 },
      output_tokens: 1,
    }
    const events = [
      { type: 'message_start', message: { id: 'm', model: 'anthropic-model', usage: started } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'hi' } },
      { type: 'message_delta', delta: {}, usage: { output_tokens: 20, server_tool_use: { web_search_requests: 2 } } },
      { type: 'message_stop' },
    ]
    const record = await ask(
      '/v1/anthropic/v1/messages',
      { model: 'anthropic-model', max_tokens: 9, messages, stream: true },
      events,
    )
    expect(record.usage_detail).toMatchObject({ cache_write_1h: 150, searches: 2 })
    // 100 × 3 + 50 × 3.75 + 150 × 6 + 20 × 15 millionths, and two searches.
    expect(record.cost?.usd).toBe(0.0216875)
  })

  it('in the tier that Gemini states in a header, which the client does not get', async () => {
    nextHeaders = { 'x-gemini-service-tier': 'FLEX' }
    const record = await ask(
      '/v1/gemini/v1beta/models/gemini-model:generateContent',
      { contents: [] },
      {
        candidates: [{ finishReason: 'STOP' }],
        usageMetadata: { promptTokenCount: 1000, candidatesTokenCount: 0, totalTokenCount: 1000 },
      },
    )
    nextHeaders = {}
    expect(record.usage_detail).toMatchObject({ tier: 'flex' })
    expect(record.cost?.usd).toBe(0.00015)
  })

  it('at Azure by the model that answered, whose deployment has any name, unless that has a price of its own', async () => {
    const deployed = await chat('azure-model', usage, { model: 'gpt-known' })
    // 1000 × 2 + 100 × 8 millionths.
    expect([deployed.cost?.usd, deployed.upstream_model]).toEqual([0.0028, 'azure-model'])
    // By which its cost can be computed again.
    expect(deployed.attempts).toMatchObject([{ priced_as: 'gpt-known' }])
    expect(deployed.policy_signals.map(({ rule }) => rule)).not.toContain('unpriced')
    const own = price(null, 'azure-model', { input: 1, output: 1 })
    plane.tell({ type: 'prices', prices: { revision: 2, prices: [...prices, own] } })
    expect((await chat('azure-model', usage, { model: 'gpt-known' })).cost?.usd).toBe(0.0011)
    plane.tell({ type: 'prices', prices: { revision: 3, prices } })
  })

  it('of the model to which the provider fell back, as the call lets it', async () => {
    const models = { models: ['groq-large', 'groq-model'] }
    const answered = await chat('groq-model', usage, { model: 'groq-large' }, models)
    // 1000 × 1 + 100 × 2 millionths.
    expect([answered.cost?.usd, answered.upstream_model, answered.model]).toEqual([0.0012, 'groq-large', 'groq-model'])
    expect(answered.routing_signals).toContainEqual(
      expect.objectContaining({ text: 'The provider fell back to groq-large, as the call lets it.' }),
    )
    const dated = await chat('groq-model', usage, { model: 'groq-large-2026-01-01' }, models)
    expect([dated.cost?.usd, dated.upstream_model]).toEqual([0.0012, 'groq-large'])
    const own = await chat('groq-model', usage, { model: 'groq-model' }, models)
    expect([own.cost?.usd, own.upstream_model]).toEqual([0.00012, 'groq-model'])
    // Only what the call names.
    expect((await chat('groq-model', usage, { model: 'groq-large' })).cost?.usd).toBe(0.00012)
  })

  it('of audio', async () => {
    const record = await ask(
      '/v1/gemini/v1beta/models/gemini-model:generateContent',
      { contents: [] },
      {
        candidates: [{ finishReason: 'STOP' }],
        usageMetadata: {
          promptTokenCount: 300,
          candidatesTokenCount: 10,
          totalTokenCount: 310,
          promptTokensDetails: [
            { modality: 'TEXT', tokenCount: 100 },
            { modality: 'AUDIO', tokenCount: 200 },
          ],
        },
      },
    )
    expect(record.cost?.usd).toBe(0.000255)
  })

  it('by the vendor of the preset', async () => {
    expect((await chat('groq-model', usage)).cost?.usd).toBe(0.00012)
  })

  it('not by the price of another vendor: without a price it says so, and is not free (contract.md rule 7)', async () => {
    const record = await chat('local-model', usage)
    expect(record.cost).toBeNull()
    expect(record.policy_signals).toContainEqual(
      expect.objectContaining({ rule: 'unpriced', verdict: 'flag', text: expect.stringContaining('local-model') }),
    )
  })
})
