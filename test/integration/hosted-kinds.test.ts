import http from 'node:http'
import Anthropic from '@anthropic-ai/sdk'
import { GoogleGenAI } from '@google/genai'
import Anthropic0 from 'anthropic-sdk-0'
import { GoogleGenAI as GoogleGenAI1 } from 'genai-1'
import OpenAI from 'openai'
import OpenAI6 from 'openai-6'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { formatNames } from '../../src/core/format.ts'
import { type DataPlane, startDataPlane } from '../support/data-plane.ts'
import { formatClients } from '../support/format-clients.ts'
import { listen } from '../support/listen.ts'
import { mockAnthropic } from '../support/mock-anthropic.ts'
import { azureKey, MockAzure, principal } from '../support/mock-azure.ts'
import { accessKey, bedrockKey, frame, mockBedrock, region } from '../support/mock-bedrock.ts'
import { spokenText } from '../support/mock-format.ts'
import { MockProvider } from '../support/mock-provider.ts'
import { location, MockVertex } from '../support/mock-vertex.ts'
import { type RecordingFetch, recordingFetch } from '../support/recording-fetch.ts'
import { makeRoute, makeTarget } from '../support/snapshot.ts'

const route = (model: string, provider: string, upstream: string) =>
  makeRoute(model, [makeTarget(provider, { upstreamModel: upstream })], { retries: 0 })

/** The kinds that stand in front of others' models, driven by the SDKs of those. */
const azureFormat = new MockAzure('my deployment')
const vertexFormat = new MockVertex()
let azure: MockProvider
let bedrock: MockProvider
let vertex: MockProvider
let plane: DataPlane
let proxy: http.Server
/** What went through the proxy. */
const proxied: string[] = []
let wire: RecordingFetch

beforeAll(async () => {
  azure = await new MockProvider(azureFormat, azureKey).listen()
  bedrock = await new MockProvider(mockBedrock, bedrockKey).listen()
  vertex = await new MockProvider(vertexFormat, 'none').listen()
  proxy = http.createServer((request, response) => {
    proxied.push(`${request.method} ${new URL(request.url ?? '').pathname}`)
    const up = http.request(request.url ?? '', { method: request.method, headers: request.headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    })
    request.pipe(up)
  })
  const way = { proxy: await listen(proxy) }
  const entra = JSON.stringify({ ...principal, authority: azure.origin })
  const dated = { api_version: '2024-10-21' }
  plane = await startDataPlane({
    providers: [
      { kind: 'azure-openai', name: 'azure', baseUrl: azure.origin, credentials: [azureKey] },
      { kind: 'azure-openai', name: 'azure-dated', baseUrl: azure.origin, credentials: [azureKey], settings: dated },
      { kind: 'azure-openai', name: 'azure-entra', baseUrl: `${azure.origin}/openai/v1`, credentials: [entra] },
      { kind: 'azure-openai', name: 'azure-proxied', baseUrl: azure.origin, credentials: [entra], settings: way },
      {
        kind: 'bedrock',
        baseUrl: bedrock.origin,
        credentials: [JSON.stringify(accessKey)],
        settings: { region },
      },
      {
        kind: 'bedrock',
        name: 'bedrock-key',
        baseUrl: bedrock.origin,
        credentials: [bedrockKey],
        settings: { region },
      },
      {
        kind: 'vertex',
        baseUrl: vertex.origin,
        credentials: [vertexFormat.document(vertex.origin)],
        settings: { location },
      },
    ],
    routes: [
      route('gpt', 'azure', 'my deployment'),
      route('gpt-dated', 'azure-dated', 'my deployment'),
      route('gpt-entra', 'azure-entra', 'my deployment'),
      route('gpt-proxied', 'azure-proxied', 'my deployment'),
      route('claude', 'bedrock', 'anthropic.claude-opus-5-5-v1:0'),
      route('claude-key', 'bedrock-key', 'anthropic.claude-opus-5-5-v1:0'),
      route('claude-vertex', 'vertex', 'claude-opus-5-5@20260101'),
      route('gemini', 'vertex', 'gemini-3.8-flash'),
    ],
  })
})
afterAll(async () => {
  await plane.stop()
  proxy.closeAllConnections()
  proxy.close()
  for (const mock of [azure, bedrock, vertex]) await mock.close()
})
beforeEach(() => {
  wire = recordingFetch()
})
afterEach(() => {
  vi.unstubAllGlobals()
  for (const mock of [azure, bedrock, vertex]) {
    mock.assertClean()
    mock.reset()
  }
})

const hello = [{ role: 'user' as const, content: 'hello' }]
const recordOf = () => plane.record(wire.last().headers.get('x-sp-request-id'))
const changesOf = async () =>
  (await recordOf()).routing_signals.filter(({ rule }) => rule === 'patch').map(({ text }) => text)

describe('azure-openai', () => {
  const openai = () =>
    new OpenAI({ apiKey: plane.key, baseURL: `${plane.baseUrl}/v1`, fetch: wire.fetch, maxRetries: 0 })

  it.each([
    ['gpt', '/openai/v1/chat/completions'],
    ['gpt-dated', '/openai/deployments/my%20deployment/chat/completions?api-version=2024-10-21'],
    ['gpt-entra', '/openai/v1/chat/completions'],
  ])('%s: whole and streamed, at %s', async (model, target) => {
    const whole = await openai().chat.completions.create({ model, messages: hello })
    expect(whole.choices[0]?.message.content).toBe(spokenText)
    expect(azure.last.target).toBe(target)
    expect(await wire.last().body).toEqual(azure.last.answerBody)
    expect(azure.last.headers.has('authorization')).toBe(model === 'gpt-entra')

    let text = ''
    for await (const chunk of await openai().chat.completions.create({ model, messages: hello, stream: true }))
      text += chunk.choices[0]?.delta.content ?? ''
    expect(text).toBe(spokenText)
    expect(azure.last.target).toBe(target)
    expect(await recordOf()).toMatchObject({ status: 200, lane: 'openai', upstream_model: 'my deployment' })
  })

  it("goes the provider's own way, and for its token too", async () => {
    azureFormat.tokens.clear()
    const stream = await openai().chat.completions.create({ model: 'gpt-proxied', messages: hello, stream: true })
    let text = ''
    for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? ''
    expect(text).toBe(spokenText)
    expect(proxied).toContain('POST /tenant-mock/oauth2/v2.0/token')
    expect(proxied.at(-1)).toBe('POST /openai/v1/chat/completions')
  })

  it('buys one token for many calls, and a new one when it is refused', async () => {
    const sales = () => azure.calls.filter(({ path }) => path.endsWith('/token')).length
    const before = sales()
    const call = () => openai().chat.completions.create({ model: 'gpt-entra', messages: hello })
    await Promise.all([call(), call(), call()])
    expect(sales() - before).toBeLessThanOrEqual(1)
    azureFormat.tokens.clear()
    expect((await call()).choices).toHaveLength(1)
    expect(sales() - before).toBeGreaterThanOrEqual(1)
    expect((await recordOf()).attempts).toHaveLength(1)
  })

  it.each([
    ['is in trouble', { status: 503 }, 'provider_unreachable'],
    ['gives something else', { body: '<html>' }, 'provider_unreachable'],
    // Last: the credential rests from then on.
    ['refuses the credential', { status: 401, body: '{"error":"invalid_client"}' }, 'provider_credential_rejected'],
  ])('a token endpoint that %s is told from the provider', async (_name, script, code) => {
    azureFormat.tokens.clear()
    azure.next({ path: '/token', ...script })
    const failure = await openai()
      .chat.completions.create({ model: 'gpt-entra', messages: hello })
      .catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(OpenAI.InternalServerError)
    expect(await recordOf()).toMatchObject({ error: { code } })
    expect(JSON.stringify(await recordOf())).not.toContain(principal.client_secret)
  })
})

describe('bedrock', () => {
  const anthropic = () =>
    new Anthropic({ apiKey: plane.key, baseURL: `${plane.baseUrl}/v1/anthropic`, fetch: wire.fetch, maxRetries: 0 })
  const call = { model: 'claude', max_tokens: 64, messages: hello }

  it.each(['claude', 'claude-key'])('%s: whole', async (model) => {
    const message = await anthropic().messages.create({ ...call, model })
    expect(message.content).toEqual([{ type: 'text', text: spokenText }])
    expect(bedrock.last.target).toBe('/model/anthropic.claude-opus-5-5-v1%3A0/invoke')
    expect(JSON.parse(bedrock.last.body.toString())).toEqual({
      max_tokens: 64,
      messages: hello,
      anthropic_version: 'bedrock-2023-05-31',
    })
    expect(await wire.last().body).toEqual(bedrock.last.answerBody)
    expect((await recordOf()).provider_request_id).toBe(`amzn-${bedrock.last.number}`)
    expect(await changesOf()).toEqual([
      "The model's name was changed to anthropic.claude-opus-5-5-v1:0 for " +
        (model === 'claude' ? 'bedrock.' : 'bedrock-key.'),
      'model and stream were moved from the body into the path, and anthropic_version was put in (Bedrock).',
    ])
  })

  it('streamed: the very events that Anthropic would have sent', async () => {
    const names: string[] = []
    for await (const event of await anthropic().messages.create({ ...call, stream: true })) names.push(event.type)
    expect(names[0]).toBe('message_start')
    expect(names.at(-1)).toBe('message_stop')
    const inner = { ...call, model: 'anthropic.claude-opus-5-5-v1:0', stream: true }
    const native = mockAnthropic.answer(
      { ...bedrock.last, path: '/v1/messages', body: Buffer.from(JSON.stringify(inner)) },
      bedrock.usage,
    )
    expect((await wire.last().body).toString()).toBe(Buffer.concat(native.parts).toString())
    expect(wire.last().headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    expect(await recordOf()).toMatchObject({ status: 200, streamed: true, tokens: { output: bedrock.usage.output } })
  })

  it('streamed byte by byte comes out the same', async () => {
    bedrock.next({ oneByteChunks: true })
    const final = await anthropic().messages.stream(call).finalMessage()
    expect(final.content).toEqual([{ type: 'text', text: spokenText }])
  })

  it('counts tokens', async () => {
    const count = await anthropic().messages.countTokens({ model: 'claude', messages: hello })
    expect(count.input_tokens).toBe(bedrock.usage.input)
  })

  it('beta features stand in the body', async () => {
    await anthropic().beta.messages.create({ ...call, betas: ['one-2026-01-01', 'two-2026-01-01'] })
    expect(JSON.parse(bedrock.last.body.toString()).anthropic_beta).toEqual(['one-2026-01-01', 'two-2026-01-01'])
  })

  it('an exception in the stream is the error event of the lane', async () => {
    bedrock.next({ errorEventAfter: 4 })
    const failure = await anthropic()
      .messages.stream(call)
      .finalMessage()
      .catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(Anthropic.APIError)
    const body = (await wire.last().body).toString()
    expect(body).toContain(
      'event: error\ndata: {"type":"error","error":{"type":"rate_limit_error","message":"scripted"}}\n\n',
    )
  })

  it('a broken frame ends the stream in an error event, a torn one too', async () => {
    const good = frame({ ':message-type': 'event' }, { bytes: Buffer.from('{"type":"ping"}').toString('base64') })
    const start = Buffer.from('{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}')
    const content = frame({ ':message-type': 'event' }, { bytes: start.toString('base64') })
    const broken = Buffer.from(good)
    broken[20] = 0xff
    for (const events of [
      [content, broken],
      [content, good.subarray(0, 30)],
      [content, Buffer.from('not an event stream at all')],
    ]) {
      bedrock.next({ events })
      const failure = await anthropic()
        .messages.stream(call)
        .finalMessage()
        .catch((error: unknown) => error)
      expect(failure).toBeInstanceOf(Anthropic.APIError)
      expect((await recordOf()).error?.code).toBe('provider_bad_response')
    }
  })

  it.each([
    [400, 'BadRequestError', 'invalid_request_error'],
    [404, 'NotFoundError', 'not_found_error'],
    [429, 'RateLimitError', 'rate_limit_error'],
    [503, 'ServiceUnavailableError', 'overloaded_error'],
  ])('%i is the error of the lane', async (status, name, type) => {
    bedrock.next({ status })
    const failure = await anthropic()
      .messages.create(call)
      .catch((error: unknown) => error)
    expect((failure as Error).constructor.name).toBe(name)
    expect(JSON.parse((await wire.last().body).toString())).toEqual({
      type: 'error',
      error: { type, message: 'scripted' },
    })
  })

  it('has no batches', async () => {
    const failure = await anthropic()
      .messages.batches.list({}, { headers: { 'x-sp-provider': 'bedrock' } })
      .catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(Anthropic.APIError)
    expect(bedrock.calls.every(({ path }) => path.startsWith('/model/'))).toBe(true)
  })
})

describe('vertex', () => {
  const anthropic = () =>
    new Anthropic({ apiKey: plane.key, baseURL: `${plane.baseUrl}/v1/anthropic`, fetch: wire.fetch, maxRetries: 0 })
  const call = { model: 'claude-vertex', max_tokens: 64, messages: hello }
  const genai = () => {
    vi.stubGlobal('fetch', wire.fetch)
    return new GoogleGenAI({ apiKey: plane.key, httpOptions: { baseUrl: `${plane.baseUrl}/v1/gemini` } })
  }
  const at = `/projects/mock-project-4711/locations/${location}/publishers`

  it("Google's models on the Gemini lane, whole and streamed", async () => {
    const whole = await genai().models.generateContent({ model: 'gemini', contents: 'hello' })
    expect(whole.text).toBe(spokenText)
    expect(vertex.last.path).toBe(`/v1${at}/google/models/gemini-3.8-flash:generateContent`)
    expect(await wire.last().body).toEqual(vertex.last.answerBody)
    expect(vertex.last.sha256).toBe(wire.last().requestSha256)

    let text = ''
    for await (const part of await genai().models.generateContentStream({ model: 'gemini', contents: 'hello' }))
      text += part.text ?? ''
    expect(text).toBe(spokenText)
    expect(vertex.last.target).toBe(`/v1${at}/google/models/gemini-3.8-flash:streamGenerateContent?alt=sse`)
    expect(await wire.last().body).toEqual(vertex.last.answerBody)
    expect((await genai().models.countTokens({ model: 'gemini', contents: 'hello' })).totalTokens).toBe(
      vertex.usage.input,
    )
  })

  it("Anthropic's models on the Anthropic lane, whole and streamed", async () => {
    const whole = await anthropic().messages.create(call)
    expect(whole.content).toEqual([{ type: 'text', text: spokenText }])
    expect(vertex.last.target).toBe(`/v1${at}/anthropic/models/claude-opus-5-5@20260101:rawPredict`)
    expect(await wire.last().body).toEqual(vertex.last.answerBody)

    const final = await anthropic().messages.stream(call).finalMessage()
    expect(final.content).toEqual([{ type: 'text', text: spokenText }])
    expect(vertex.last.target).toBe(`/v1${at}/anthropic/models/claude-opus-5-5@20260101:streamRawPredict`)
    expect(await wire.last().body).toEqual(vertex.last.answerBody)
    expect((await anthropic().messages.countTokens({ model: 'claude-vertex', messages: hello })).input_tokens).toBe(
      vertex.usage.input,
    )
    expect(await recordOf()).toMatchObject({ status: 200, operation: 'count_tokens' })
  })

  it("an error of Google's on the Anthropic lane has that lane's shape", async () => {
    vertex.next({ status: 429 })
    const failure = await anthropic()
      .messages.create(call)
      .catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(Anthropic.RateLimitError)
    expect(JSON.parse((await wire.last().body).toString()).error).toEqual({
      type: 'rate_limit_error',
      message: 'scripted',
    })
  })
})

describe('the SDKs before', () => {
  it.each(['gpt', 'gpt-dated'])('call Azure OpenAI (%s)', async (model) => {
    const client = new OpenAI6({ apiKey: plane.key, baseURL: `${plane.baseUrl}/v1`, fetch: wire.fetch, maxRetries: 0 })
    const whole = await client.chat.completions.create({ model, messages: hello })
    expect(whole.choices[0]?.message.content).toBe(spokenText)
    let text = ''
    for await (const chunk of await client.chat.completions.create({ model, messages: hello, stream: true }))
      text += chunk.choices[0]?.delta.content ?? ''
    expect(text).toBe(spokenText)
  })

  it.each(['claude', 'claude-key', 'claude-vertex'])('call Anthropic’s models elsewhere (%s)', async (model) => {
    const baseURL = `${plane.baseUrl}/v1/anthropic`
    const client = new Anthropic0({ apiKey: plane.key, baseURL, fetch: wire.fetch, maxRetries: 0 })
    const call = { model, max_tokens: 64, messages: hello }
    expect((await client.messages.create(call)).content).toEqual([{ type: 'text', text: spokenText }])
    expect(await client.messages.stream(call).finalText()).toBe(spokenText)
    expect((await client.messages.countTokens({ model, messages: hello })).input_tokens).toBeGreaterThan(0)
  })

  it('call Google’s models on Vertex, at the version that they mean', async () => {
    vi.stubGlobal('fetch', wire.fetch)
    const client = new GoogleGenAI1({ apiKey: plane.key, httpOptions: { baseUrl: `${plane.baseUrl}/v1/gemini` } })
    expect((await client.models.generateContent({ model: 'gemini', contents: 'hello' })).text).toBe(spokenText)
    expect(vertex.last.path).toMatch(/^\/v1beta1\/projects\/.*:generateContent$/)
    let text = ''
    for await (const part of await client.models.generateContentStream({ model: 'gemini', contents: 'hello' }))
      text += part.text ?? ''
    expect(text).toBe(spokenText)
  })
})

describe.each(formatNames)('hosted models, asked by a client of %s', (format) => {
  const clients = () => formatClients({ baseUrl: plane.baseUrl, key: plane.key })

  it.each(['gpt', 'gpt-dated', 'claude', 'claude-key', 'claude-vertex', 'gemini'])(
    '%s, whole and streamed',
    async (model) => {
      for (const way of ['ask', 'stream'] as const) {
        const { text, usage } = await clients()[format][way](model)
        expect([way, text]).toEqual([way, spokenText])
        expect(usage?.output).toBeGreaterThan(0)
      }
    },
  )
})
