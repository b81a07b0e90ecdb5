import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { LaneName } from '../../src/core/lane.ts'
import { sha256 } from '../support/mock-provider.ts'
import { send } from '../support/raw-http.ts'
import { type Stage, setStage } from '../support/stage.ts'

let stage: Stage

beforeAll(async () => {
  stage = await setStage()
})
afterAll(() => stage.close())

interface Endpoint {
  lane: LaneName
  operation: string
  path: string
  /** Where the provider gets it. */
  upstream: string
  body: unknown
  streamed?: boolean
}

const chat = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'hello' }] }
const message = { model: 'claude-opus-5-5', max_tokens: 8, messages: [{ role: 'user', content: 'hello' }] }
const contents = [{ parts: [{ text: 'hello' }] }]
const asked = { stream: true, stream_options: { include_usage: true } }
const flash = 'models/gemini-3.8-flash'

const endpoints: Endpoint[] = [
  { lane: 'openai', operation: 'chat', path: '/v1/chat/completions', upstream: '/v1/chat/completions', body: chat },
  {
    lane: 'openai',
    operation: 'chat',
    path: '/v1/chat/completions',
    upstream: '/v1/chat/completions',
    body: { ...chat, ...asked },
    streamed: true,
  },
  {
    lane: 'openai',
    operation: 'completions',
    path: '/v1/completions',
    upstream: '/v1/completions',
    body: { model: 'gpt-4o-mini', prompt: 'hello' },
  },
  {
    lane: 'openai',
    operation: 'completions',
    path: '/v1/completions',
    upstream: '/v1/completions',
    body: { model: 'gpt-4o-mini', prompt: 'hello', ...asked },
    streamed: true,
  },
  {
    lane: 'openai',
    operation: 'responses',
    path: '/v1/responses',
    upstream: '/v1/responses',
    body: { model: 'gpt-4o-mini', input: 'hello' },
  },
  {
    lane: 'openai',
    operation: 'responses',
    path: '/v1/responses',
    upstream: '/v1/responses',
    body: { model: 'gpt-4o-mini', input: 'hello', stream: true },
    streamed: true,
  },
  {
    lane: 'openai',
    operation: 'embeddings',
    path: '/v1/embeddings',
    upstream: '/v1/embeddings',
    body: { model: 'gpt-4o-mini', input: 'hello' },
  },
  {
    lane: 'openai',
    operation: 'moderations',
    path: '/v1/moderations',
    upstream: '/v1/moderations',
    body: { model: 'gpt-4o-mini', input: 'hello' },
  },
  {
    lane: 'openai',
    operation: 'moderations',
    path: '/v1/moderations',
    upstream: '/v1/moderations',
    body: { input: 'no model: the only provider of the format serves it' },
  },
  {
    lane: 'anthropic',
    operation: 'messages',
    path: '/v1/anthropic/v1/messages',
    upstream: '/v1/messages',
    body: message,
  },
  {
    lane: 'anthropic',
    operation: 'messages',
    path: '/v1/anthropic/v1/messages?beta=true',
    upstream: '/v1/messages?beta=true',
    body: { ...message, stream: true },
    streamed: true,
  },
  {
    lane: 'anthropic',
    operation: 'count_tokens',
    path: '/v1/anthropic/v1/messages/count_tokens',
    upstream: '/v1/messages/count_tokens',
    body: message,
  },
  ...['v1', 'v1beta', 'v1alpha'].flatMap((version): Endpoint[] => [
    {
      lane: 'gemini',
      operation: 'generate',
      path: `/v1/gemini/${version}/${flash}:generateContent`,
      upstream: `/${version}/${flash}:generateContent`,
      body: { contents },
    },
    {
      lane: 'gemini',
      operation: 'generate',
      path: `/v1/gemini/${version}/${flash}:streamGenerateContent?alt=sse`,
      upstream: `/${version}/${flash}:streamGenerateContent?alt=sse`,
      body: { contents },
      streamed: true,
    },
    {
      lane: 'gemini',
      operation: 'generate',
      path: `/v1/gemini/${version}/${flash}:streamGenerateContent`,
      upstream: `/${version}/${flash}:streamGenerateContent`,
      body: { contents },
      streamed: true,
    },
    {
      lane: 'gemini',
      operation: 'count_tokens',
      path: `/v1/gemini/${version}/${flash}:countTokens`,
      upstream: `/${version}/${flash}:countTokens`,
      body: { contents },
    },
    {
      lane: 'gemini',
      operation: 'embed',
      path: `/v1/gemini/${version}/${flash}:embedContent`,
      upstream: `/${version}/${flash}:embedContent`,
      body: { content: contents[0] },
    },
    {
      lane: 'gemini',
      operation: 'embed',
      path: `/v1/gemini/${version}/${flash}:batchEmbedContents`,
      upstream: `/${version}/${flash}:batchEmbedContents`,
      body: { requests: [{ model: flash, content: contents[0] }] },
    },
  ]),
]

const bearer = (): [string, string][] => [
  ['authorization', `Bearer ${stage.key}`],
  ['content-type', 'application/json'],
]

describe('plain HTTP with the Bearer header', () => {
  it.each(endpoints)('$path streamed=$streamed', async ({ lane, operation, path, upstream, body, streamed }) => {
    const mock = stage.mocks[lane]
    // Indented, so that a body which was parsed and written again would differ.
    const text = JSON.stringify(body, null, 3)
    const answer = await send(stage.gateway.baseUrl + path, { headers: bearer(), body: text })
    expect(answer.body.toString()).toBe(mock.last.answerBody.toString())
    expect(answer).toMatchObject({ status: 200, ended: 'clean' })
    expect(mock.last.target).toBe(upstream)
    expect(mock.last.sha256).toBe(sha256(Buffer.from(text)))
    if (streamed && !path.includes('streamGenerateContent')) {
      expect(answer.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    }
    const record = await stage.expectRecord(answer.requestId, mock.last, lane)
    expect(record).toMatchObject({ operation, streamed: streamed ?? false })
    expect(record.response_bytes).toBe(answer.body.length)
    expect(record.request_bytes).toBe(text.length)
    stage.assertClean()
  })

  it.each(endpoints.filter((endpoint) => endpoint.streamed))(
    'a stream that comes one byte at a time: $path',
    async ({ lane, path, body }) => {
      const mock = stage.mocks[lane]
      mock.next({ oneByteChunks: true })
      const answer = await send(stage.gateway.baseUrl + path, { headers: bearer(), body: JSON.stringify(body) })
      expect(sha256(answer.body)).toBe(mock.last.answerSha256)
      await stage.expectRecord(answer.requestId, mock.last, lane)
    },
  )

  it('paths that SDKs and people get nearly right', async () => {
    const text = JSON.stringify(message)
    for (const path of ['/v1/anthropic/v1/v1/messages', '/v1/anthropic/messages']) {
      const answer = await send(stage.gateway.baseUrl + path, { headers: bearer(), body: text })
      expect([path, answer.status]).toEqual([path, 200])
      expect(stage.mocks.anthropic.last.path).toBe('/v1/messages')
    }
    const encoded = `/v1/gemini/v1beta/models/gemini-3.8-flash%3AgenerateContent`
    const answer = await send(stage.gateway.baseUrl + encoded, {
      headers: bearer(),
      body: JSON.stringify({ contents }),
    })
    expect(answer.status).toBe(200)
  })

  it('an absent anthropic-version is sent as 2023-06-01', async () => {
    const answer = await send(`${stage.gateway.baseUrl}/v1/anthropic/v1/messages`, {
      headers: bearer(),
      body: JSON.stringify(message),
    })
    expect(answer.status).toBe(200)
    expect(stage.mocks.anthropic.last.headers.get('anthropic-version')).toBe('2023-06-01')
  })

  it('a renamed model is spliced and nothing else', async () => {
    await stage.gateway.addRoute('house-gpt', ['openai:gpt-4o-mini'])
    await stage.gateway.addRoute('house-claude', ['anthropic:claude-opus-5-5'])
    await stage.gateway.addRoute('house-gemini', ['gemini:gemini-3.8-flash'])
    const text = '{ "n" : 1.0,\t"messages":[],  "mod\\u0065l" : "house-gpt" , "x":{"model":"house-gpt"}}\n'
    await send(`${stage.gateway.baseUrl}/v1/chat/completions`, { headers: bearer(), body: text })
    expect(stage.mocks.openai.last.body.toString()).toBe(text.replace('"house-gpt" ,', '"gpt-4o-mini" ,'))
    const second = '{"max_tokens":8,"messages":[],"model":"house-claude"}'
    await send(`${stage.gateway.baseUrl}/v1/anthropic/v1/messages`, { headers: bearer(), body: second })
    expect(stage.mocks.anthropic.last.body.toString()).toBe(second.replace('house-claude', 'claude-opus-5-5'))
    const third = '{"contents":[{"parts":[{"text":"models/house-gemini"}]}]}'
    const path = '/v1/gemini/v1beta/models/house-gemini:generateContent'
    const answer = await send(stage.gateway.baseUrl + path, { headers: bearer(), body: third })
    expect(stage.mocks.gemini.last.body.toString()).toBe(third)
    expect(stage.mocks.gemini.last.path).toBe('/v1beta/models/gemini-3.8-flash:generateContent')
    const fourth = '{ "requests":[{"model":"models/house-gemini","content":{}} , {"model" : "models/house-gemini"}]}'
    const batch = '/v1/gemini/v1/models/house-gemini:batchEmbedContents'
    const embedded = await send(stage.gateway.baseUrl + batch, { headers: bearer(), body: fourth })
    expect(embedded.status).toBe(200)
    expect(stage.mocks.gemini.last.body.toString()).toBe(fourth.replaceAll('house-gemini', 'gemini-3.8-flash'))
    const record = await stage.gateway.record(answer.requestId)
    expect(record).toMatchObject({ model: 'house-gemini', upstream_model: 'gemini-3.8-flash', route: 'house-gemini' })
  })

  it('model lists of all lanes in plain HTTP', async () => {
    const get = async (path: string) => {
      const answer = await send(stage.gateway.baseUrl + path, { method: 'GET', headers: bearer() })
      expect(answer.status).toBe(200)
      expect(answer.requestId).toMatch(/^req_/)
      return JSON.parse(answer.body.toString())
    }
    expect(await get('/v1/models')).toMatchObject({ object: 'list' })
    expect(await get('/v1/models/gpt-4o-mini')).toMatchObject({ id: 'gpt-4o-mini', object: 'model' })
    expect(await get('/v1/anthropic/v1/models')).toMatchObject({ has_more: false })
    expect(await get('/v1/anthropic/v1/models/claude-opus-5-5')).toMatchObject({ id: 'claude-opus-5-5' })
    expect(await get('/v1/gemini/v1beta/models')).toHaveProperty('models')
    expect(await get('/v1/gemini/v1/models/gemini-3.8-flash')).toMatchObject({ name: 'models/gemini-3.8-flash' })
  })

  it('sixty at once: everyone gets the answer to their own call, and one record', async () => {
    const streamed = endpoints.filter((endpoint) => endpoint.streamed)
    const calls = Array.from({ length: 60 }, (_, index) => streamed[index % streamed.length]).filter(
      (each) => each !== undefined,
    )
    const answers = await Promise.all(
      calls.map(async ({ lane, path, body }, index) => {
        const text = JSON.stringify({ ...(body as object), marker: `call-${index}` })
        const answer = await send(stage.gateway.baseUrl + path, { headers: bearer(), body: text })
        const seen = stage.mocks[lane].calls.find((call) => call.body.includes(`"call-${index}"`))
        expect(seen?.sha256).toBe(sha256(Buffer.from(text)))
        expect(answer.body.toString()).toBe(seen?.answerBody.toString())
        return answer
      }),
    )
    expect(new Set(answers.map((answer) => answer.requestId)).size).toBe(60)
    for (const answer of answers) expect((await stage.gateway.record(answer.requestId)).status).toBe(200)
  })

  it('tokens of the records sum up to what the providers reported', async () => {
    const { stats, list } = stage.gateway.admin.requests
    const rows = await stats({ by: 'provider' })
    const requests = await list({ provider: 'gemini', limit: 500 })
    const embedded = requests.filter(({ operation }) => operation === 'embed')
    const estimated = embedded.reduce((sum, { tokens }) => sum + (tokens?.input ?? 0), 0)
    expect(estimated).toBeGreaterThan(0)
    for (const [lane, mock] of Object.entries(stage.mocks)) {
      // What Gemini's embeddings used is estimated, since it reports nothing.
      const sum = { input: lane === 'gemini' ? estimated : 0, output: 0, reasoning: 0 }
      for (const call of mock.calls) {
        sum.input += call.usage?.input ?? 0
        sum.output += call.usage?.output ?? 0
        sum.reasoning += call.usage?.reasoning ?? 0
      }
      expect(rows.find((row) => row.group === lane)).toMatchObject({ ...sum, requests: mock.calls.length })
    }
    expect(rows.reduce((sum, row) => sum + row.requests, 0)).toBeGreaterThan(100)
  })
})
