import Anthropic from '@anthropic-ai/sdk'
import { GoogleGenAI } from '@google/genai'
import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Stage, setStage, stageModels } from '../support/stage.ts'

let stage: Stage
beforeAll(async () => {
  stage = await setStage()
  const { baseUrl } = stage.mocks.openai
  await stage.gateway.admin.providers.add({
    name: 'vendor',
    kind: 'openai-compatible',
    baseUrl,
    credential: 'sk-x',
    skipCheck: true,
  })
  await stage.gateway.addRoute('vendor-model', ['vendor'])
})
afterAll(() => stage.close())

const system = 'You are a careful assistant.'
const schema = { type: 'object' as const, properties: { at: { type: 'string' } } }

async function countMessages(model: string, text = 'hello') {
  const client = new Anthropic({ apiKey: stage.key, baseURL: `${stage.gateway.baseUrl}/v1/anthropic`, maxRetries: 0 })
  const { data, response } = await client.messages
    .countTokens({
      model,
      system,
      tools: [{ name: 'look', input_schema: schema }],
      messages: [{ role: 'user', content: text }],
    })
    .withResponse()
  return { tokens: data.input_tokens, estimated: response.headers.get('x-sp-estimated') }
}

async function countContents(model: string) {
  const client = new GoogleGenAI({
    apiKey: stage.key,
    httpOptions: { baseUrl: `${stage.gateway.baseUrl}/v1/gemini`, retryOptions: { attempts: 1 } },
  })
  const { totalTokens } = await client.models.countTokens({ model, contents: 'hello' })
  return totalTokens
}

async function countInput(model: string) {
  const client = new OpenAI({ apiKey: stage.key, baseURL: `${stage.gateway.baseUrl}/v1`, maxRetries: 0 })
  const { input_tokens } = await client.responses.inputTokens.count({ model, input: 'hello', instructions: system })
  return input_tokens
}

const sent = (lane: 'openai' | 'anthropic' | 'gemini') => ({
  path: stage.mocks[lane].last.path,
  body: JSON.parse(stage.mocks[lane].last.body.toString()),
})

describe('a client of messages', () => {
  it('gets the count of Gemini, over all that is sent', async () => {
    const { tokens, estimated } = await countMessages(stageModels.gemini)
    expect([tokens > 0, estimated]).toEqual([true, null])
    const { path, body } = sent('gemini')
    expect(path).toMatch(/:countTokens$/)
    const request = body.generateContentRequest
    expect(request).toMatchObject({ model: `models/${stageModels.gemini}`, systemInstruction: expect.anything() })
    expect(request.tools).toHaveLength(1)
  })

  it('gets the count of OpenAI', async () => {
    expect((await countMessages(stageModels.openai)).tokens).toBeGreaterThan(0)
    const { path, body } = sent('openai')
    expect(path).toBe('/v1/responses/input_tokens')
    expect(Object.keys(body)).not.toContain('store')
    expect(body.tools).toHaveLength(1)
    stage.assertClean()
  })

  it('gets an estimate where the provider counts nothing, and is told so', async () => {
    const before = stage.mocks.openai.calls.length
    const short = await countMessages('vendor-model')
    const long = await countMessages('vendor-model', 'word '.repeat(100_000))
    expect([short.estimated, long.estimated]).toEqual(['tokens', 'tokens'])
    expect(short.tokens).toBeGreaterThan(20)
    expect(long.tokens).toBeGreaterThan(125_000)
    expect(stage.mocks.openai.calls.length).toBe(before)
    const [newest] = await stage.gateway.admin.requests.list({ limit: 1 })
    const record = await stage.gateway.record(newest?.id ?? '')
    expect(record).toMatchObject({ status: 200, error: null })
    expect(record.routing_signals.map(({ text }) => text).join('\n')).toContain('the count is an estimate')
  })
})

it('a client of generate gets the count of Anthropic', async () => {
  expect(await countContents(stageModels.anthropic)).toBeGreaterThan(0)
  const { path, body } = sent('anthropic')
  expect(path).toBe('/v1/messages/count_tokens')
  expect(Object.keys(body).toSorted()).toEqual(['messages', 'model'])
  stage.assertClean()
})

it('a client of responses gets the count of Anthropic', async () => {
  expect(await countInput(stageModels.anthropic)).toBeGreaterThan(0)
  expect(sent('anthropic').body).toMatchObject({ system: expect.anything() })
  expect(await countInput('vendor-model')).toBeGreaterThan(0)
})

it("says the provider's error in the client's shape", async () => {
  const client = new Anthropic({ apiKey: stage.key, baseURL: `${stage.gateway.baseUrl}/v1/anthropic`, maxRetries: 0 })
  const broken = client.messages.countTokens({ model: stageModels.gemini, messages: 'no' as never })
  await expect(broken).rejects.toMatchObject({ status: 400, type: 'invalid_request_error' })
})
