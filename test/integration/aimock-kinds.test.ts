import Anthropic from '@anthropic-ai/sdk'
import { LLMock } from '@copilotkit/aimock'
import OpenAI from 'openai'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type DataPlane, startDataPlane } from '../support/data-plane.ts'

// What our own mocks of the clouds get wrong in the same way as the gateway shows here.
let upstream: LLMock
let plane: DataPlane

beforeAll(async () => {
  upstream = new LLMock({ port: 0 })
  upstream.onMessage('hello', { content: 'Hello from somebody else. Grüße 🌍' })
  await upstream.start()
  plane = await startDataPlane({
    providers: [
      { kind: 'azure-openai', baseUrl: upstream.url, settings: { api_version: '2024-10-21' } },
      { kind: 'bedrock', baseUrl: upstream.url, settings: { region: 'us-east-1' } },
    ],
  })
})
afterAll(async () => {
  await plane.stop()
  await upstream.stop()
})

const messages = [{ role: 'user' as const, content: 'hello' }]
const said = 'Hello from somebody else. Grüße 🌍'

it('Azure, streamed and whole', async () => {
  const client = new OpenAI({ apiKey: plane.key, baseURL: `${plane.baseUrl}/v1`, maxRetries: 0 })
  const whole = await client.chat.completions.create({ model: 'azure-openai-model', messages })
  let text = ''
  for await (const chunk of await client.chat.completions.create({
    model: 'azure-openai-model',
    messages,
    stream: true,
  }))
    text += chunk.choices[0]?.delta.content ?? ''
  expect([whole.choices[0]?.message.content, text]).toEqual([said, said])
})

// Its streams have the events bare in their frames, where Bedrock has them as base64 (PayloadPart).
it('Bedrock, whole', async () => {
  const client = new Anthropic({ apiKey: plane.key, baseURL: `${plane.baseUrl}/v1/anthropic`, maxRetries: 0 })
  const whole = await client.messages.create({ model: 'bedrock-model', max_tokens: 64, messages })
  expect(whole.content).toEqual([{ type: 'text', text: said }])
})
