import Anthropic from '@anthropic-ai/sdk'
import { GoogleGenAI } from '@google/genai'
import OpenAI from 'openai'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type LaneName, laneNames } from '../../src/core/lane.ts'
import { spokenText } from '../support/mock-format.ts'
import { type MockProvider, sha256, startMockProvider } from '../support/mock-provider.ts'
import { open, type RawAnswer, send } from '../support/raw-http.ts'

// The mocks by themselves: what the other suites prove holds only as far as these are as strict as they say.
const mocks = {} as Record<LaneName, MockProvider>
const credential = 'sk-right'

beforeAll(async () => {
  for (const name of laneNames) mocks[name] = await startMockProvider(name, credential)
})
afterAll(async () => {
  for (const name of laneNames) await mocks[name].close()
})
beforeEach(() => {
  for (const name of laneNames) mocks[name].reset()
})

describe('the official SDKs accept what the mocks say', () => {
  it('OpenAI', async () => {
    const client = new OpenAI({ apiKey: credential, baseURL: mocks.openai.baseUrl, maxRetries: 0 })
    const messages = [{ role: 'user' as const, content: 'hi' }]
    const final = await client.chat.completions.stream({ model: 'm', messages }).finalChatCompletion()
    expect(final.choices[0]?.message.content).toBe(spokenText)
    const response = await client.responses.stream({ model: 'm', input: 'hi' }).finalResponse()
    expect(response.output_text).toBe(spokenText)
    mocks.openai.assertClean()
  })

  it('Anthropic, which must send its credential the other way', async () => {
    const client = new Anthropic({ apiKey: 'x', baseURL: mocks.anthropic.baseUrl, maxRetries: 0 })
    const call = { model: 'm', max_tokens: 8, messages: [{ role: 'user' as const, content: 'hi' }] }
    await expect(client.messages.create(call)).rejects.toMatchObject({ status: 401 })
    expect(() => mocks.anthropic.assertClean()).toThrow(/foreign header authorization/)
    const headers = { Authorization: null, 'x-api-key': credential }
    const right = new Anthropic({ apiKey: 'x', baseURL: mocks.anthropic.baseUrl, defaultHeaders: headers })
    const final = await right.messages.stream(call).finalMessage()
    expect(final.content).toMatchObject([{ type: 'text', text: spokenText }])
    expect(final.usage).toMatchObject({ input_tokens: 120, output_tokens: 70, cache_read_input_tokens: 50 })
  })

  it('Gemini', async () => {
    const client = new GoogleGenAI({ apiKey: credential, httpOptions: { baseUrl: mocks.gemini.baseUrl } })
    let text = ''
    for await (const chunk of await client.models.generateContentStream({ model: 'm', contents: 'hi' }))
      text += chunk.text
    expect(text).toBe(spokenText)
    mocks.gemini.assertClean()
  })
})

describe('a mock', () => {
  const body = '{"model":"m","messages":[],"max_tokens":1,"contents":[]}'
  const paths = { openai: '/v1/chat/completions', anthropic: '/v1/messages', gemini: '/v1/models/m:generateContent' }
  const right: Record<LaneName, [string, string][]> = {
    openai: [['authorization', `Bearer ${credential}`]],
    anthropic: [
      ['x-api-key', credential],
      ['anthropic-version', '2023-06-01'],
    ],
    gemini: [['x-goog-api-key', credential]],
  }
  function call(name: LaneName, headers: [string, string][] = [], path: string = paths[name]): Promise<RawAnswer> {
    return send(mocks[name].origin + path, {
      headers: [['content-type', 'application/json'], ...right[name], ...headers],
      body,
    })
  }

  it.each(laneNames)('of %s records what it saw and served, byte for byte', async (name) => {
    const answer = await call(name)
    expect(answer.status).toBe(200)
    expect(mocks[name].last).toMatchObject({ sha256: sha256(Buffer.from(body)), answerSha256: sha256(answer.body) })
    expect(await mocks[name].last.finished).toBe('answered')
  })

  it.each(laneNames)('of %s refuses no credential, a wrong one, an unknown path', async (name) => {
    const none = await send(mocks[name].origin + paths[name], { headers: [], body })
    expect(none.status).toBe(name === 'gemini' ? 403 : 401)
    mocks[name].credentials.clear()
    expect((await call(name)).status).toBe(name === 'gemini' ? 400 : 401)
    mocks[name].credentials.add(credential)
    expect((await call(name, [], '/v1/nothing')).status).toBe(404)
  })

  it.each(laneNames)('of %s fails the test when a gateway key comes up', async (name) => {
    await call(name, [['x-anything', 'sp_live_abc']])
    expect(() => mocks[name].assertClean()).toThrow(/gateway key/)
    mocks[name].reset()
    await call(name, [], `${paths[name]}?x=sp_live_abc`)
    expect(() => mocks[name].assertClean()).toThrow(/gateway key/)
  })

  it('of anthropic insists on a version', async () => {
    const headers: [string, string][] = [
      ['content-type', 'application/json'],
      ['x-api-key', credential],
    ]
    const answer = await send(`${mocks.anthropic.origin}/v1/messages`, { headers, body })
    expect([answer.status, answer.body.toString()]).toEqual([400, expect.stringContaining('anthropic-version')])
  })

  it('cuts, resets and lies as it is told', async () => {
    mocks.openai.next({ cutAfterBytes: 5 })
    const short = await call('openai')
    expect([short.ended, short.body.length]).toEqual(['cut', 5])
    expect(await mocks.openai.last.finished).toBe('cut')
    mocks.openai.next({ lieContentLength: 3 })
    expect((await call('openai')).ended).toBe('cut')
    mocks.openai.next({ reset: 'before-headers' })
    await expect(call('openai')).rejects.toMatchObject({ code: 'ECONNRESET' })
    mocks.openai.next({ status: 503, headers: { 'retry-after': '7' } })
    const busy = await call('openai')
    expect([busy.status, busy.headers.get('retry-after')]).toEqual([503, '7'])
    mocks.openai.assertClean()
  })

  it('says how far it had come when the other side hung up', async () => {
    const turn = mocks.openai.next({ hold: { before: 1 }, events: ['data: 1\n\n', 'data: 2\n\n'] })
    const headers: [string, string][] = [['content-type', 'application/json'], ...right.openai]
    const exchange = open(mocks.openai.origin + paths.openai, { headers, body })
    await exchange.received('data: 1')
    exchange.abort()
    expect(await turn.abort).toMatchObject({ phase: 'mid-stream', bytes: 9, events: 1 })
    expect(await (await turn.call).finished).toBe('aborted')
  })
})
