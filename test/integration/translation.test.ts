import { GoogleGenAI } from '@google/genai'
import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type FormatName, formatNames, laneOfFormat } from '../../src/core/format.ts'
import { type FormatClient, formatClients } from '../support/format-clients.ts'
import { spokenText } from '../support/mock-format.ts'
import { type Stage, setStage, stageModels } from '../support/stage.ts'

let stage: Stage
let clients: Record<FormatName, FormatClient>

/** Routes by the format in which their provider is asked. */
const upstreams: Record<FormatName, string> = {
  chat: `openai:${stageModels.openai},format=chat`,
  responses: `openai:${stageModels.openai},format=responses`,
  messages: `anthropic:${stageModels.anthropic}`,
  generate: `gemini:${stageModels.gemini}`,
}

beforeAll(async () => {
  stage = await setStage()
  for (const format of formatNames) await stage.gateway.addRoute(`via-${format}`, [upstreams[format]])
  clients = formatClients({ baseUrl: stage.gateway.baseUrl, key: stage.key })
})
afterAll(() => stage.close())

const ended: Record<FormatName, { text: string; call: string }> = {
  chat: { text: 'stop', call: 'tool_calls' },
  responses: { text: 'completed', call: 'completed' },
  messages: { text: 'end_turn', call: 'tool_use' },
  generate: { text: 'STOP', call: 'STOP' },
}

const paths: Record<FormatName, RegExp> = {
  chat: /^\/v1\/chat\/completions$/,
  responses: /^\/v1\/responses$/,
  messages: /^\/v1\/messages$/,
  generate: /^\/v1beta\/models\/.+:(?:generateContent|streamGenerateContent)$/,
}

async function newest() {
  const [last] = await stage.gateway.admin.requests.list({ limit: 1 })
  return stage.gateway.record(last?.id ?? '')
}

const pairs = formatNames.flatMap((client) =>
  formatNames.filter((upstream) => upstream !== client).map((upstream) => ({ client, upstream })),
)

describe.each(pairs)('a client of $client at a provider of $upstream', ({ client, upstream }) => {
  const mock = () => stage.mocks[laneOfFormat(upstream)]
  const used = () => ({ input: mock().usage.input, output: mock().usage.output })
  const model = `via-${upstream}`

  for (const way of ['ask', 'stream'] as const) {
    it(`${way}: text and usage`, async () => {
      const understood = await clients[client][way](model)
      expect(understood).toEqual({ text: spokenText, calls: [], finish: ended[client].text, usage: used() })
      expect(mock().last.path).toMatch(paths[upstream])
      stage.assertClean()
      const record = await newest()
      expect(record).toMatchObject({ status: 200, error: null, tokens: mock().last.usage })
      expect(record.routing_signals.map(({ text }) => text).join('\n')).toContain(
        `translated from ${client} to ${upstream}`,
      )
      // Any other character makes V8 write all of the record in another way, which takes three times as long.
      expect(JSON.stringify(record)).toMatch(/^[\x20-\x7e]*$/)
    })

    it(`${way}: a tool is called`, async () => {
      const understood = await clients[client][way](model, true)
      expect(understood.calls).toEqual([{ name: 'look', input: { at: 'the sky' } }])
      expect(understood.finish).toBe(ended[client].call)
      stage.assertClean()
    })
  }
})

it('ends at a body with more values than one turn can read', async () => {
  const body = { model: 'via-messages', messages: [{ role: 'user', content: 'hi' }], x: Array(300_000).fill(1) }
  const answer = await fetch(`${stage.gateway.baseUrl}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${stage.key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  expect([answer.status, answer.headers.get('x-sp-error')]).toEqual([413, 'request_too_large'])
})

describe('calls for vectors', () => {
  const openai = () => new OpenAI({ apiKey: stage.key, baseURL: `${stage.gateway.baseUrl}/v1`, maxRetries: 0 })
  const gemini = () =>
    new GoogleGenAI({
      apiKey: stage.key,
      httpOptions: { baseUrl: `${stage.gateway.baseUrl}/v1/gemini`, retryOptions: { attempts: 1 } },
    })

  it('an OpenAI client gets those of Gemini, with the base64 that its SDK asks for, priced', async () => {
    await stage.gateway.admin.prices.set({ model: 'gemini-embedding-2', input: 100, output: 0 })
    await stage.gateway.addRoute('vectors', ['gemini:gemini-embedding-2'])
    const answer = await openai().embeddings.create({ model: 'vectors', input: ['a', 'b'], dimensions: 3 })
    const lengths = answer.data.map(({ embedding }) => Math.hypot(...embedding))
    expect(answer.data.map(({ index }) => index)).toEqual([0, 1])
    expect(lengths.every((length) => Math.abs(length - 1) < 0.001)).toBe(true)
    // Gemini says nothing of what it used: the two texts count, and not what stands around them.
    expect(answer.usage.prompt_tokens).toBe(2)
    const { path, body } = stage.mocks.gemini.last
    expect(path).toMatch(/models\/gemini-embedding-2:batchEmbedContents$/)
    expect(JSON.parse(body.toString()).requests[1]).toMatchObject({ outputDimensionality: 3 })
    const record = await newest()
    expect(record).toMatchObject({ operation: 'embeddings', losses: [], tokens: { input: 2, source: 'estimated' } })
    expect(record.cost?.usd).toBeGreaterThan(0)
    expect(record.routing_signals.map(({ text }) => text)).toContain('Translated from embeddings to embed for gemini.')
    await expect(openai().embeddings.create({ model: 'vectors', input: [1, 2] })).rejects.toMatchObject({
      status: 400,
      param: 'input',
    })
  })

  it('a Gemini client gets those of OpenAI, one and several, and its task type is listed', async () => {
    await stage.gateway.addRoute('small', ['openai:text-embedding-3-small'])
    const config = { taskType: 'RETRIEVAL_QUERY', outputDimensionality: 3 }
    const answer = await gemini().models.embedContent({ model: 'small', contents: ['a', 'b'], config })
    expect(answer.embeddings?.map(({ values }) => values)).toEqual([
      [0.25, -0.5, 1],
      [0.25, -0.5, 2],
    ])
    expect(JSON.parse(stage.mocks.openai.last.body.toString())).toEqual({
      model: 'text-embedding-3-small',
      input: ['a', 'b'],
      dimensions: 3,
    })
    expect(await newest()).toMatchObject({
      operation: 'embed',
      losses: ['requests[0].taskType', 'requests[1].taskType'],
      tokens: stage.mocks.openai.last.usage,
    })
    const url = `${stage.gateway.baseUrl}/v1/gemini/v1beta/models/small:embedContent`
    const single = await fetch(url, {
      method: 'POST',
      headers: { 'x-goog-api-key': stage.key, 'content-type': 'application/json' },
      body: JSON.stringify({ content: { parts: [{ text: 'a' }] }, title: 'T' }),
    })
    expect(single.headers.get('x-sp-lossy')).toBe('title')
    expect(await single.json()).toMatchObject({ embedding: { values: [0.25, -0.5, 1] } })
    stage.assertClean()
  })

  it('an error comes in the shape of the client', async () => {
    await stage.gateway.addRoute('vectors-2', ['gemini:gemini-embedding-2'])
    stage.mocks.gemini.next({ status: 400 })
    await expect(openai().embeddings.create({ model: 'vectors-2', input: 'a' })).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('scripted'),
    })
  })
})

it('an image by address is refused with what to do, and never fetched from a private address', async () => {
  const target = 'gemini:gemini-2.5-pro'
  await stage.gateway.addRoute('seeing', [target])
  await stage.gateway.admin.routes.add({ model: 'fetching', targets: [target], fetchMedia: true })
  const before = stage.mocks.gemini.calls.length
  const client = new OpenAI({ apiKey: stage.key, baseURL: `${stage.gateway.baseUrl}/v1`, maxRetries: 0 })
  const content = [{ type: 'image_url' as const, image_url: { url: `${stage.mocks.openai.baseUrl}/a.png` } }]
  const ask = (model: string) => client.chat.completions.create({ model, messages: [{ role: 'user', content }] })
  const param = 'messages[0].content[0]'
  await expect(ask('seeing')).rejects.toMatchObject({
    status: 400,
    param,
    message: expect.stringContaining('--fetch-media'),
  })
  const message = expect.stringContaining('the address is not a public one')
  await expect(ask('fetching')).rejects.toMatchObject({ status: 400, param, message })
  expect(stage.mocks.gemini.calls.length).toBe(before)
  expect(await stage.gateway.admin.routes.show({ model: 'fetching' })).toMatchObject({ fetch_media: true })
})
