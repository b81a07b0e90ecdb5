import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type DataPlane, startDataPlane } from '../support/data-plane.ts'
import { azureKey, MockAzure } from '../support/mock-azure.ts'
import { MockProvider } from '../support/mock-provider.ts'
import { location, MockVertex } from '../support/mock-vertex.ts'
import { makeRoute, makeTarget } from '../support/snapshot.ts'

const route = (model: string, provider: string, upstream: string) =>
  makeRoute(model, [makeTarget(provider, { upstreamModel: upstream })], { retries: 0 })

const vertexFormat = new MockVertex()
let azure: MockProvider
let vertex: MockProvider
let plane: DataPlane

beforeAll(async () => {
  azure = await new MockProvider(new MockAzure('my deployment'), azureKey).listen()
  vertex = await new MockProvider(vertexFormat, 'none').listen()
  const credentials = [vertexFormat.document(vertex.origin)]
  const open = 'gs://shared/, projects/p/locations/eu/collections/c/dataStores/open'
  plane = await startDataPlane({
    providers: [
      { kind: 'azure-openai', name: 'azure', baseUrl: azure.origin, credentials: [azureKey] },
      { kind: 'vertex', baseUrl: vertex.origin, credentials, settings: { location } },
      {
        kind: 'vertex',
        name: 'vertex-shared',
        baseUrl: vertex.origin,
        credentials,
        settings: { location, cloud_resources: open },
      },
    ],
    routes: [
      route('gpt', 'azure', 'my deployment'),
      route('gemini', 'vertex', 'gemini-3.8-flash'),
      route('claude', 'vertex', 'claude-sonnet-5'),
      route('gemini-shared', 'vertex-shared', 'gemini-3.8-flash'),
    ],
  })
})
afterAll(async () => {
  await plane.stop()
  for (const mock of [azure, vertex]) await mock.close()
})

describe("what the gateway's own account could read", () => {
  const stores = 'projects/p/locations/eu/collections/c/dataStores'
  const video = (fileUri: string) => ({ parts: [{ fileData: { fileUri, mimeType: 'video/mp4' } }] })
  const search = (datastore: string) => [{ retrieval: { vertexAiSearch: { datastore } } }]
  const contents = [{ parts: [{ text: 'gs://private/is-only-a-word' }] }]

  async function ask(path: string, body: object | string) {
    const answer = await fetch(`${plane.baseUrl}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${plane.key}`, 'content-type': 'application/json' },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })
    const text = await answer.text()
    return { status: answer.status, error: answer.headers.get('x-sp-error'), text }
  }
  const google = (model: string, body: object | string) =>
    ask(`/v1/gemini/v1beta/models/${model}:generateContent`, body)

  it.each([
    ['gemini', { contents: [video('gs://private/film.mp4')] }],
    ['gemini', { contents: [{ parts: [{ file_data: { file_uri: ' GS://private/film.mp4' } }] }] }],
    [
      'gemini',
      '{"contents":[{"parts":[{"fileData":{"fileUri":"\\u0067s://private/film.mp4","fileUri":"https://a.example/b"}}]}]}',
    ],
    ['gemini', { contents, tools: search(`${stores}/open`) }],
    [
      'gemini',
      { contents, tools: [{ retrieval: { vertexRagStore: { ragResources: [{ ragCorpus: 'projects/p' }] } } }] },
    ],
    ['gemini', { contents, tools: [{ retrieval: { externalApi: { endpoint: 'https://me.example' } } }] }],
    ['gemini-shared', { contents: [video('gs://shared/ok.mp4'), video('gs://shared-not/film.mp4')] }],
    ['gemini-shared', { contents, tools: search(`${stores}/open-not`) }],
  ])('is not read for its clients (%s, %#)', async (model, body) => {
    const calls = vertex.calls.length
    expect(await google(model, body)).toMatchObject({ status: 403, error: 'policy_denied' })
    expect(vertex.calls.length).toBe(calls)
  })

  it('may be an input of a tool of the client', async () => {
    const call = { id: 'call_1', type: 'function', function: { name: 'read', arguments: '{"uri":"gs://own/a.csv"}' } }
    const messages = [
      { role: 'user', content: 'hello' },
      { role: 'assistant', tool_calls: [call] },
      { role: 'tool', tool_call_id: 'call_1', content: 'gs://own/a.csv is empty' },
    ]
    const tools = [{ type: 'function', function: { name: 'read', parameters: { type: 'object' } } }]
    const chat = { model: 'claude', messages, tools }
    expect(await ask('/v1/chat/completions', chat)).toMatchObject({ status: 200 })
  })

  it('nor for a client of another format', async () => {
    const content = [{ type: 'image_url', image_url: { url: 'gs://private/picture.png' } }]
    const calls = vertex.calls.length
    const chat = { model: 'gemini', messages: [{ role: 'user', content }] }
    expect((await ask('/v1/chat/completions', chat)).status).toBeGreaterThanOrEqual(400)
    expect(vertex.calls.length).toBe(calls)
  })

  it('is read where the operator lets it be', async () => {
    expect(await google('gemini', { contents })).toMatchObject({ status: 200 })
    expect(await google('gemini-shared', { contents: [video('gs://shared/film.mp4')] })).toMatchObject({ status: 200 })
    expect(await google('gemini-shared', { contents, tools: search(`${stores}/open`) })).toMatchObject({ status: 200 })
  })

  it('goes for the managed identity of an Azure resource too', async () => {
    const source = (type: string) => ({
      type: 'azure_search',
      parameters: { endpoint: 'https://s.example', index_name: 'all', authentication: { type } },
    })
    const chat = (type: string) => ({
      model: 'gpt',
      messages: [{ role: 'user', content: 'hello' }],
      data_sources: [source(type)],
    })
    expect(await ask('/v1/chat/completions', chat('system_assigned_managed_identity'))).toMatchObject({
      status: 403,
      error: 'policy_denied',
    })
    expect(await ask('/v1/chat/completions', chat('api_key'))).toMatchObject({ status: 200 })
  })
})
