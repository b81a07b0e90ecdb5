import { ApiError, type GenerateContentResponse, GoogleGenAI } from '@google/genai'
import { ApiError as ApiError1, GoogleGenAI as GoogleGenAI1 } from 'genai-1'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { spokenText } from '../support/mock-format.ts'
import { type MockProvider, sha256 } from '../support/mock-provider.ts'
import { type RecordingFetch, recordingFetch } from '../support/recording-fetch.ts'
import { type Stage, setStage, stageModels } from '../support/stage.ts'

let stage: Stage
let mock: MockProvider
let wire: RecordingFetch
const model = 'gemini-3.8-flash'

beforeAll(async () => {
  stage = await setStage()
  mock = stage.mocks.gemini
  await stage.gateway.addRoute('gemini-embedding-2', ['gemini'])
})
afterAll(async () => {
  vi.unstubAllGlobals()
  await stage.close()
})
beforeEach(() => {
  // This SDK takes no fetch of its own.
  wire = recordingFetch()
  vi.stubGlobal('fetch', wire.fetch)
})

// The calls used here are the same in both majors, whose classes TypeScript tells apart by their private members.
const Older = GoogleGenAI1 as unknown as typeof GoogleGenAI
const OlderError = ApiError1 as unknown as typeof ApiError
const versions: [string, typeof GoogleGenAI, typeof ApiError, string, string | undefined][] = [
  ['@google/genai 3', GoogleGenAI, ApiError, 'v1', undefined],
  ['@google/genai 1', Older, OlderError, 'v1beta', undefined],
  ['@google/genai 3 told v1alpha', GoogleGenAI, ApiError, 'v1alpha', 'v1alpha'],
]

describe.each(versions)('%s', (_name, Client, Failure, version, apiVersion) => {
  let client: GoogleGenAI
  beforeEach(() => {
    const baseUrl = `${stage.gateway.baseUrl}/v1/gemini`
    client = new Client({ apiKey: stage.key, httpOptions: { baseUrl, ...(apiVersion ? { apiVersion } : {}) } })
  })

  /** The bytes that left the SDK reached the provider, the provider's reached the SDK, and the record says so. */
  async function expectPassed(): Promise<void> {
    const seen = mock.last
    const exchange = wire.last()
    expect(seen.sha256).toBe(exchange.requestSha256)
    expect(seen.path.startsWith(`/${version}/models/`)).toBe(true)
    expect(sha256(await exchange.body)).toBe(seen.answerSha256)
    await stage.expectRecord(exchange.headers.get('x-sp-request-id'), seen, 'gemini')
    stage.assertClean()
  }

  it('generateContent', async () => {
    const answer = await client.models.generateContent({ model, contents: 'hello' })
    expect(answer.text).toBe(spokenText)
    expect(answer.usageMetadata?.totalTokenCount).toBe(mock.usage.input + mock.usage.output)
    await expectPassed()
  })

  it('generateContent with a tool', async () => {
    const tools = [{ functionDeclarations: [{ name: 'look' }] }]
    const answer = await client.models.generateContent({ model, contents: 'hello', config: { tools } })
    expect(answer.functionCalls).toEqual([{ name: 'look', args: { at: 'the sky' } }])
    await expectPassed()
  })

  it('generateContentStream', async () => {
    const chunks: GenerateContentResponse[] = []
    for await (const chunk of await client.models.generateContentStream({ model, contents: 'hello' }))
      chunks.push(chunk)
    expect(chunks.map((chunk) => chunk.text).join('')).toBe(spokenText)
    expect(chunks.at(-1)?.candidates?.[0]?.finishReason).toBe('STOP')
    expect(mock.last.query.get('alt')).toBe('sse')
    await expectPassed()
  })

  it('countTokens', async () => {
    const count = await client.models.countTokens({ model, contents: 'hello' })
    expect(count.totalTokens).toBe(mock.usage.input)
    expect(mock.last.sha256).toBe(wire.last().requestSha256)
    const record = await stage.gateway.record(wire.last().headers.get('x-sp-request-id') ?? '')
    expect(record).toMatchObject({ status: 200, lane: 'gemini', model })
  })

  it('embedContent, which goes out as batchEmbedContents', async () => {
    const answer = await client.models.embedContent({ model: 'gemini-embedding-2', contents: 'hello' })
    expect(answer.embeddings?.[0]?.values).toEqual([0.25, -0.5, 1])
    expect(mock.last.path).toMatch(/EmbedContents$|embedContent$/)
    await expectPassed()
  })

  it('models: what the key may use, and nothing of the provider', async () => {
    const calls = mock.requests.length
    const names: (string | undefined)[] = []
    for await (const entry of await client.models.list()) names.push(entry.name)
    // Those of other formats are translated.
    const all = [...Object.values(stageModels), 'gemini-embedding-2']
    expect(names.sort()).toEqual(all.map((name) => `models/${name}`).sort())
    expect((await client.models.get({ model })).name).toBe(`models/${model}`)
    await expect(client.models.get({ model: 'gemini-9' })).rejects.toMatchObject({ status: 404 })
    expect(mock.requests.length).toBe(calls)
  })

  it('a provider error: status and body are the provider’s own', async () => {
    const body = '{\n  "error": {"code": 400, "message": "too long", "status": "INVALID_ARGUMENT"}\n}\n'
    mock.next({ status: 400, body })
    const failure = await client.models.generateContent({ model, contents: 'x' }).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(Failure)
    expect(failure).toMatchObject({ status: 400, message: expect.stringContaining('too long') })
    expect((await wire.last().body).toString()).toBe(body)
    expect(wire.last().headers.get('x-sp-error')).toBe('provider_error')
  })
})
