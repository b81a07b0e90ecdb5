import http from 'node:http'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type DataPlane, startDataPlane } from '../support/data-plane.ts'
import { listen } from '../support/listen.ts'
import { makePolicy } from '../support/snapshot.ts'

let provider: http.Server
let baseUrl: string
const received: string[] = []

beforeAll(async () => {
  provider = http.createServer(async (request, response) => {
    received.push(Buffer.concat(await request.toArray()).toString())
    response.setHeader('content-type', 'application/json').end('{"choices":[]}')
  })
  baseUrl = await listen(provider)
})
afterAll(() => provider.close())

function start(capOutput: boolean): Promise<DataPlane> {
  return startDataPlane({
    providers: [
      { kind: 'openai', baseUrl: `${baseUrl}/v1` },
      { kind: 'openai-compatible', name: 'local', baseUrl: `${baseUrl}/v1` },
      { kind: 'anthropic', baseUrl },
      { kind: 'gemini', baseUrl },
    ],
    policies: [makePolicy('short', { maxOutputTokens: 50, capOutput })],
  })
}

/** What the provider got; null where the request was refused. */
async function send(plane: DataPlane, path: string, body: string) {
  received.length = 0
  const headers = { authorization: `Bearer ${plane.key}`, 'content-type': 'application/json' }
  const response = await fetch(plane.baseUrl + path, { method: 'POST', headers, body })
  const text = await response.text()
  const id = response.headers.get('x-sp-request-id')
  return { status: response.status, text, sent: received[0] ?? null, record: () => plane.record(id) }
}

const chat = '/v1/chat/completions'

it('takes the place of what the request allows, in each format', async () => {
  const plane = await start(true)
  const cases: [path: string, body: string, sent: string][] = [
    [chat, '{"model":"openai-model"}', '{"max_completion_tokens":50,"model":"openai-model"}'],
    [chat, '{"model":"local-model"}', '{"max_tokens":50,"model":"local-model"}'],
    [chat, '{"model":"local-model","max_tokens":51}', '{"model":"local-model","max_tokens":50}'],
    [chat, '{"model":"local-model", "max_tokens":50}', '{"model":"local-model", "max_tokens":50}'],
    ['/v1/responses', '{"model":"openai-model"}', '{"max_output_tokens":50,"model":"openai-model"}'],
    [
      '/v1/anthropic/v1/messages',
      '{"model":"anthropic-model","max_tokens":99}',
      '{"model":"anthropic-model","max_tokens":50}',
    ],
    ['/v1/gemini/v1beta/models/gemini-model:generateContent', '{}', '{"generationConfig":{"maxOutputTokens":50}}'],
    ['/v1/embeddings', '{"model":"openai-model","input":"x"}', '{"model":"openai-model","input":"x"}'],
  ]
  for (const [path, body, expected] of cases) expect((await send(plane, path, body)).sent).toBe(expected)

  const { record } = await send(plane, chat, '{"model":"openai-model","max_tokens":900}')
  expect(await record()).toMatchObject({
    policy_signals: expect.arrayContaining([
      expect.objectContaining({ rule: 'output', verdict: 'note', data: { policy: 'short', asked: 900, limit: 50 } }),
    ]),
    routing_signals: expect.arrayContaining([
      expect.objectContaining({ rule: 'patch', text: 'The output limit was set to 50 tokens.' }),
    ]),
  })
  await plane.stop()
})

it('is told to the client where the policy does not cap', async () => {
  const plane = await start(false)
  const refused: [path: string, body: string, member: string][] = [
    [chat, '{"model":"openai-model","max_tokens":51}', 'max_tokens'],
    [chat, '{"model":"openai-model"}', 'max_completion_tokens'],
    [chat, '{"model":"openai-model","max_tokens":1,"max_completion_tokens":51}', 'max_'],
    [chat, '{"model":"openai-model","max_tokens":"1"}', 'max_tokens'],
    ['/v1/responses', '{"model":"openai-model","max_tokens":1}', 'max_output_tokens'],
    ['/v1/anthropic/v1/messages', '{"model":"anthropic-model","max_tokens":51}', 'max_tokens'],
    ['/v1/gemini/v1beta/models/gemini-model:generateContent', '{}', 'generationConfig.maxOutputTokens'],
  ]
  for (const [path, body, member] of refused) {
    const { status, text, sent } = await send(plane, path, body)
    expect([path, status, sent]).toEqual([path, 403, null])
    expect(text).toContain(member)
  }
  const chatRefusal = JSON.parse((await send(plane, chat, '{"model":"openai-model","max_tokens":51}')).text)
  expect(chatRefusal.error).toMatchObject({ code: 'policy_denied', param: 'max_tokens' })
  expect((await send(plane, chat, '{"model":"openai-model","max_tokens":50}')).status).toBe(200)
  await plane.stop()
})
