import http from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { fillPrice } from '../../src/core/cost/model-price.ts'
import type { RequestRecord } from '../../src/core/record.ts'
import { lanes } from '../../src/lanes/index.ts'
import { type DataPlane, startDataPlane } from '../support/data-plane.ts'
import { closeServer, listen } from '../support/listen.ts'

let provider: http.Server
let plane: DataPlane
/** What the provider answers; a string as it is. */
let next: object | string = {}

const price = (model: string, rates: object) => fillPrice({ model, source: 'set', version: '2026-01-01', ...rates })
const prices = [
  price('images', { per_image: { '1024x1024/high': 0.167, '1024x1024': 0.04, '*': 0.02 } }),
  price('sized-images', { per_image: { '1024x1024': 0.04, '512x512': 0.01 } }),
  price('speech', { per_character: 0.000015 }),
  price('transcripts', { per_second: 0.0001 }),
  price('voice', { input: 0.6, output: 10, audio_output: 12 }),
  price('embedding', { input: 0.1, output: 0, per_character: 0.000000025 }),
  price('vectors', { input: 0.15, output: 0 }),
]

beforeAll(async () => {
  provider = http.createServer((request, response) => {
    request.resume().on('end', () => {
      const text = typeof next === 'string'
      response.setHeader('content-type', text ? 'text/plain' : 'application/json')
      response.end(text ? String(next) : JSON.stringify(next))
    })
  })
  const origin = await listen(provider)
  plane = await startDataPlane({
    providers: [
      { kind: 'openai', baseUrl: `${origin}/v1` },
      { kind: 'anthropic', baseUrl: origin },
      { kind: 'gemini', baseUrl: origin },
      ...['embedding', 'vectors'].map((name) => ({ kind: 'gemini', name, baseUrl: origin })),
      ...['images', 'sized-images', 'speech', 'transcripts', 'voice'].map((name) => ({
        kind: 'openai-compatible',
        name,
        baseUrl: `${origin}/v1`,
      })),
    ],
  })
  // The model of each of these providers is named after it.
  const named = prices.map((each) => ({ ...each, model: `${each.model}-model` }))
  plane.tell({ type: 'prices', prices: { revision: 1, prices: named } })
})

afterAll(async () => {
  await plane.stop()
  closeServer(provider)
})

async function ask(path: string, body: string | FormData | null, method = 'POST'): Promise<RequestRecord> {
  const type = typeof body === 'string' ? { 'content-type': 'application/json' } : undefined
  const response = await fetch(`${plane.baseUrl}${path}`, {
    method,
    headers: { authorization: `Bearer ${plane.key}`, ...type },
    body,
  })
  await response.arrayBuffer()
  return await plane.record(response.headers.get('x-sp-request-id'))
}

function form(fields: Record<string, string | Buffer>): FormData {
  const data = new FormData()
  for (const [name, value] of Object.entries(fields))
    typeof value === 'string' ? data.set(name, value) : data.set(name, new Blob([new Uint8Array(value)]), 'audio')
  return data
}

/** PCM of 16 kHz, 16 bit, one channel: 32,000 bytes a second. */
function wav(seconds: number, writtenSize = seconds * 32_000): Buffer {
  const head = Buffer.alloc(44)
  head.write('RIFF', 0)
  head.write('WAVEfmt ', 8)
  head.writeUInt32LE(16, 16)
  head.writeUInt32LE(32_000, 28)
  head.write('data', 36)
  head.writeUInt32LE(writtenSize, 40)
  return Buffer.concat([head, Buffer.alloc(seconds * 32_000)])
}

describe('what is not counted in tokens', () => {
  const image = (model: string, more: object = {}) =>
    ask('/v1/images/generations', JSON.stringify({ model, prompt: 'a cat', ...more }))

  it.each([
    ['one by its size and quality', 'images-model', { size: '1024x1024', quality: 'high' }, 0.167],
    [
      'several by their size, in a quality without a price of its own',
      'images-model',
      { n: 3, size: '1024x1024', quality: 'low' },
      0.12,
    ],
    ['any other', 'images-model', { size: '256x256' }, 0.02],
    ['of no size, at the dearest', 'sized-images-model', {}, 0.04],
  ])('prices images: %s', async (_which, model, more, usd) => {
    next = { created: 1, data: [] }
    expect((await image(model, more)).cost?.usd).toBe(usd)
  })

  it('prices images by their number where the provider reports tokens, and the price is one of images', async () => {
    next = { created: 1, data: [], usage: { input_tokens: 10, output_tokens: 4000, total_tokens: 4010 } }
    const record = await image('images-model', { n: 2 })
    expect(record).toMatchObject({ cost: { usd: 0.04 }, tokens: { input: 10, output: 4000, source: 'reported' } })
    expect(record.policy_signals.filter(({ rule }) => rule === 'unpriced')).toEqual([])
  })

  it('prices a transcription by the second where the provider reports tokens', async () => {
    next = { text: 'x', usage: { type: 'tokens', input_tokens: 14, output_tokens: 45, total_tokens: 59 } }
    const record = await ask('/v1/audio/transcriptions', form({ model: 'transcripts-model', file: wav(3) }))
    expect(record).toMatchObject({ cost: { usd: 0.0003 }, tokens: { input: 14, output: 45 } })
  })

  it('prices an image of a form', async () => {
    next = { created: 1, data: [] }
    const fields = { model: 'images-model', n: '2', size: '1024x1024', quality: 'high', prompt: 'a cat', image: wav(1) }
    const record = await ask('/v1/images/edits', form(fields))
    expect(record.usage_detail).toMatchObject({ images: 2, image_size: '1024x1024/high' })
    expect(record.cost?.usd).toBe(0.334)
  })

  it('prices speech by the character, each code point one', async () => {
    next = 'audio'
    const record = await ask('/v1/audio/speech', JSON.stringify({ model: 'speech-model', input: 'hi 👍', voice: 'a' }))
    expect(record.usage_detail).toMatchObject({ characters: 4 })
    expect(record.cost?.usd).toBe(0.00006)
  })

  it('prices texts that Vertex embeds by the character, and says where there is no such rate', async () => {
    next = { predictions: [{ embeddings: { values: [1] } }, { embeddings: { values: [1] } }] }
    const body = JSON.stringify({ instances: [{ content: 'hi 👍' }, { content: 'x'.repeat(996) }] })
    const record = await ask('/v1/gemini/v1beta/models/embedding-model:predict', body)
    expect(record).toMatchObject({ usage_detail: { characters: 1000, images: null }, cost: { usd: 0.000025 } })
    // Gemini's own embeddings are priced by the token.
    const byToken = await ask('/v1/gemini/v1beta/models/vectors-model:predict', body)
    const input = Math.ceil(Buffer.byteLength(body) / 4)
    expect(byToken).toMatchObject({ tokens: { input, output: 0, source: 'estimated' } })
    expect(byToken.policy_signals.filter(({ rule }) => rule === 'unpriced')).toEqual([])
    expect(byToken.cost?.usd).toBeCloseTo((input * 0.15) / 1e6, 9)
    const image = await ask('/v1/gemini/v1beta/models/embedding-model:predict', '{"instances":[{"prompt":"x"}]}')
    expect(image.policy_signals).toContainEqual(
      expect.objectContaining({
        text: 'The price of embedding-model has no rate for what this request used, so it has no cost.',
      }),
    )
  })

  it('estimates the tokens of speech that is paid by them, as its answer is sound alone', async () => {
    next = 'audio'
    const body = JSON.stringify({ model: 'voice-model', input: 'h'.repeat(1000), voice: 'a' })
    const record = await ask('/v1/audio/speech', body)
    const input = Math.ceil(body.length / 4)
    expect(record.tokens).toMatchObject({ input, output: 1500, source: 'estimated' })
    expect(record.cost?.usd).toBeCloseTo((input * 0.6 + 1500 * 12) / 1e6, 9)
    expect(record.policy_signals.filter(({ rule }) => rule === 'unpriced')).toEqual([])
  })

  it.each([
    ['as reported in usage', { text: 'x', usage: { type: 'duration', seconds: 7 } }, wav(2), 0.0007, null],
    ['as reported beside the text', { text: 'x', duration: 8.5 }, wav(2), 0.00085, null],
    ['by the header of the upload (litellm PR 40010)', 'just text', wav(3), 0.0003, 'estimated'],
    ['by the header of a stream', 'just text', wav(3, 0), 0.0003, 'estimated'],
  ])('prices a transcription by the second: %s', async (_how, answer, audio, usd, source) => {
    next = answer
    const record = await ask('/v1/audio/transcriptions', form({ model: 'transcripts-model', file: audio }))
    expect(record.cost?.usd).toBeCloseTo(usd, 6)
    expect(record.tokens?.source ?? null).toBe(source)
  })

  it('prices a transcription of unknown length by an upper bound', async () => {
    next = 'just text'
    const file = Buffer.alloc(40_000, 1)
    const record = await ask('/v1/audio/transcriptions', form({ model: 'transcripts-model', file }))
    expect(record.usage_detail?.seconds).toBeGreaterThanOrEqual(10)
    expect(record.tokens?.source).toBe('estimated')
    expect(record.cost?.usd).toBeGreaterThanOrEqual(0.001)
  })
})

/** Whatever a row's path has in braces. */
const parts: Record<string, string> = { '{version}': 'v1beta' }

describe('every row of the lanes that is answered', () => {
  const rows = lanes.flatMap((lane) =>
    lane.endpoints
      .filter(
        ({ served, method, socket, media }) =>
          served === 'provider' && method !== 'ANY' && socket === null && media !== 'webrtc',
      )
      .map((endpoint) => ({ lane, endpoint, name: `${lane.name} ${endpoint.method} ${endpoint.path}` })),
  )

  it.each(rows)('has a cost, says that it has none, or is free: $name', async ({ lane, endpoint }) => {
    plane.ownAll()
    next = { id: 'x', object: 'x', model: 'm', data: [], candidates: [{ finishReason: 'STOP' }], choices: [] }
    const model = `${lane.name}-model`
    const path = endpoint.path.replace('{model}', `models/${model}`).replace(/\{\w+\}/g, (part) => parts[part] ?? 'abc')
    const asksForm = !endpoint.requestForms.includes('json') && endpoint.requestForms.includes('multipart')
    const json = JSON.stringify({ model, messages: [], input: 'hi', prompt: 'hi', contents: [], session: { model } })
    const body = endpoint.requestForms.length === 0 ? null : asksForm ? form({ model, file: wav(1) }) : json
    const record = await ask(`${lane.prefix}${path}`, body, endpoint.method)
    const rules = record.policy_signals.map(({ rule }) => rule)
    expect(record.cost).toBeNull()
    // What was not answered (a body that only a real call has) costs nothing either.
    if (record.status === 200) expect(rules.includes('unpriced')).toBe(endpoint.billed)
    else expect(rules).not.toContain('unpriced')
  })

  it('is free where it manages what is stored, and nowhere where a model is asked', () => {
    const free = rows.filter(
      ({ endpoint }) => !endpoint.billed && endpoint.method === 'POST' && endpoint.model !== 'none',
    )
    expect(free.map(({ lane, endpoint }) => `${lane.name} ${endpoint.operation}`)).toMatchInlineSnapshot(`
      [
        "anthropic count_tokens",
        "anthropic batches.create",
        "gemini count_tokens",
        "gemini batches.create",
        "gemini batches.create",
        "gemini interactions",
        "gemini live.auth_tokens",
        "openai moderations",
        "openai responses",
        "openai responses.input_tokens",
        "openai evals.create",
        "openai evals.runs.create",
        "openai assistants.create",
        "openai assistants.update",
        "openai threads.run",
        "openai threads.runs.create",
        "openai realtime.client_secrets",
        "openai realtime.client_secrets",
        "openai realtime.client_secrets",
        "openai realtime.client_secrets",
      ]
    `)
  })
})
