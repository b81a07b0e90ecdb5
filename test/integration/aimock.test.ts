import Anthropic from '@anthropic-ai/sdk'
import { LLMock } from '@copilotkit/aimock'
import { GoogleGenAI } from '@google/genai'
import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startGateway, type TestGateway } from '../support/gateway.ts'

// A second upstream, written by others: what our own mocks get wrong in the same way as the gateway shows here.
let gateway: TestGateway
let upstream: LLMock
let key: string

beforeAll(async () => {
  upstream = new LLMock({ port: 0 })
  upstream.onMessage('hello', { content: 'Hello from somebody else. Grüße 🌍' })
  await upstream.start()
  gateway = await startGateway()
  const providers: [string, string, string][] = [
    ['openai', `${upstream.url}/v1`, 'gpt-4o-mini'],
    ['anthropic', upstream.url, 'claude-opus-5-5'],
    ['gemini', upstream.url, 'gemini-3.8-flash'],
  ]
  for (const [kind, baseUrl, model] of providers) {
    // It knows no list of models in every format, so there is nothing to check.
    await gateway.admin.providers.add({ name: kind, kind, baseUrl, credential: 'sk-aimock', skipCheck: true })
    await gateway.addRoute(model, [kind])
  }
  key = (await gateway.createKey('test')).key
})
afterAll(async () => {
  await gateway.stop()
  await upstream.stop()
})

/** What an SDK makes of the answer, straight and through the gateway. */
interface Way {
  openai: string
  anthropic: string
  gemini: string
  key: string
}

describe('an independent mock', () => {
  const ways = (): [Way, Way] => [
    { openai: `${upstream.url}/v1`, anthropic: upstream.url, gemini: upstream.url, key: 'sk-aimock' },
    {
      openai: `${gateway.baseUrl}/v1`,
      anthropic: `${gateway.baseUrl}/v1/anthropic`,
      gemini: `${gateway.baseUrl}/v1/gemini`,
      key,
    },
  ]
  const messages = [{ role: 'user' as const, content: 'hello' }]

  async function expectSame(ask: (way: Way) => Promise<unknown>): Promise<void> {
    const [straight, through] = ways()
    const expected = await ask(straight)
    expect(JSON.stringify(expected)).toContain('somebody else')
    expect(await ask(through)).toEqual(expected)
    const [record] = await gateway.admin.requests.list({ limit: 1 })
    expect(record).toMatchObject({ status: 200, error: null })
  }

  it('chat completions, streamed and whole', async () => {
    await expectSame(async (way) => {
      const client = new OpenAI({ apiKey: way.key, baseURL: way.openai, maxRetries: 0 })
      const whole = await client.chat.completions.create({ model: 'gpt-4o-mini', messages })
      const stream = await client.chat.completions.create({ model: 'gpt-4o-mini', messages, stream: true })
      let text = ''
      for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? ''
      return [whole.choices[0]?.message.content, text]
    })
  })

  it('responses, streamed', async () => {
    await expectSame(async (way) => {
      const client = new OpenAI({ apiKey: way.key, baseURL: way.openai, maxRetries: 0 })
      const stream = await client.responses.create({ model: 'gpt-4o-mini', input: 'hello', stream: true })
      let text = ''
      for await (const event of stream) if (event.type === 'response.output_text.delta') text += event.delta
      return text
    })
  })

  it('messages, streamed and whole', async () => {
    await expectSame(async (way) => {
      const client = new Anthropic({ apiKey: way.key, baseURL: way.anthropic, maxRetries: 0 })
      const call = { model: 'claude-opus-5-5', max_tokens: 64, messages }
      const whole = await client.messages.create(call)
      const final = await client.messages.stream(call).finalMessage()
      return [whole.content, final.content]
    })
  })

  it('generateContent, streamed and whole', async () => {
    await expectSame(async (way) => {
      const client = new GoogleGenAI({ apiKey: way.key, httpOptions: { baseUrl: way.gemini, apiVersion: 'v1beta' } })
      const call = { model: 'gemini-3.8-flash', contents: 'hello' }
      const whole = await client.models.generateContent(call)
      let text = ''
      for await (const chunk of await client.models.generateContentStream(call)) text += chunk.text ?? ''
      return [whole.text, text]
    })
  })
})
