import { readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type BatchJob, GoogleGenAI } from '@google/genai'
import { GoogleGenAI as GoogleGenAI1 } from 'genai-1'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import type { RequestRecord } from '../../src/core/record.ts'
import type { Endpoint } from '../../src/lanes/contract.ts'
import { gemini } from '../../src/lanes/gemini/lane.ts'
import { EndpointTable } from '../support/endpoint-table.ts'
import { expectNoLeak } from '../support/expect-no-leak.ts'
import { spokenText } from '../support/mock-format.ts'
import { type MockProvider, sha256 } from '../support/mock-provider.ts'
import { type RecordingFetch, recordingFetch } from '../support/recording-fetch.ts'
import { type Stage, setStage } from '../support/stage.ts'

let stage: Stage
let mock: MockProvider
let wire: RecordingFetch
const model = 'gemini-3.8-flash'
const embedder = 'gemini-embedding-2'
const content = 'Grüße, 世界\n'
const contents = 'hello'

beforeAll(async () => {
  stage = await setStage()
  mock = stage.mocks.gemini
  await stage.gateway.addRoute(embedder, ['gemini'])
})
afterAll(async () => {
  vi.unstubAllGlobals()
  await stage.close()
})
afterEach(() => expectNoLeak(mock, wire.exchanges))
beforeEach(() => {
  // This SDK takes no fetch of its own.
  wire = recordingFetch()
  vi.stubGlobal('fetch', patientFetch)
})

/** On a machine with more to do than it can, the index of objects is late at times, and says so: ask again. */
async function patientFetch(input: Parameters<typeof fetch>[0], init?: RequestInit): Promise<Response> {
  for (;;) {
    const answer = await wire.fetch(input instanceof Request ? input.clone() : input, init)
    if (answer.headers.get('x-sp-error') !== 'object_index_unavailable') return answer
  }
}

/** One SDK at the gateway; `ask` is for what it cannot say: a plain call below its version. */
interface Walker {
  sdk: GoogleGenAI
  ask(method: string, path: string, body?: object): Promise<Record<string, unknown>>
}

const lane = () => `${stage.gateway.baseUrl}/v1/gemini`
const upload = (sdk: GoogleGenAI) =>
  sdk.files.upload({ file: new Blob([content]), config: { mimeType: 'text/plain', displayName: 'greeting' } })
const lines = [{ key: 'a', request: { contents: [{ parts: [{ text: contents }] }] } }]
  .map((line) => `${JSON.stringify(line)}\n`)
  .join('')
const uploadLines = (sdk: GoogleGenAI) =>
  sdk.files.upload({ file: new Blob([lines]), config: { mimeType: 'application/jsonl' } })
const cache = (sdk: GoogleGenAI) => sdk.caches.create({ model, config: { contents, ttl: '60s' } })
const store = (sdk: GoogleGenAI) => sdk.fileSearchStores.create({ config: { displayName: 'store' } })
const interact = (sdk: GoogleGenAI) => sdk.interactions.create({ model, input: 'hello' })
const batch = (sdk: GoogleGenAI): Promise<BatchJob> =>
  sdk.batches.create({ model, src: [{ contents: [{ role: 'user', parts: [{ text: contents }] }] }] })
const tune = ({ ask }: Walker) => ask('POST', 'tunedModels', { displayName: 'tuned' })
const document = async (sdk: GoogleGenAI) => {
  const { name = '' } = await store(sdk)
  await sdk.fileSearchStores.importFile({ fileSearchStoreName: name, fileName: (await upload(sdk)).name ?? '' })
  return { name, documents: sdk.fileSearchStores.documents }
}

/** Every page, one item a page. */
async function namesOf(list: Promise<AsyncIterable<{ name?: string }>>): Promise<(string | undefined)[]> {
  const names = []
  for await (const { name } of await list) names.push(name)
  return names
}

const one = { pageSize: 1 }

/** How each row is asked; the call that is looked at is the last one that is sent. */
const walks: Record<string, (walker: Walker) => Promise<unknown>> = {
  'POST /{version}/{model}:generateContent': async ({ sdk }) => {
    const { uri = '', mimeType = '' } = await upload(sdk)
    const { name: cachedContent = '' } = await cache(sdk)
    const { name: searched = '' } = await store(sdk)
    const tools = [{ fileSearch: { fileSearchStoreNames: [searched] } }]
    const said = [{ role: 'user', parts: [{ fileData: { fileUri: uri, mimeType } }] }]
    expect(uri.startsWith(lane())).toBe(true)
    await sdk.models.generateContent({ model, contents: said, config: { tools, cachedContent } })
  },
  'POST /{version}/{model}:streamGenerateContent': async ({ sdk }) => {
    let text = ''
    for await (const chunk of await sdk.models.generateContentStream({ model, contents })) text += chunk.text
    expect(text).toBe(spokenText)
  },
  'POST /{version}/{model}:countTokens': async ({ sdk }) => {
    expect((await sdk.models.countTokens({ model, contents })).totalTokens).toBe(mock.usage.input)
  },
  'POST /{version}/{model}:embedContent': ({ ask }) => ask('POST', `models/${embedder}:embedContent`, { content: {} }),
  'POST /{version}/{model}:batchEmbedContents': ({ sdk }) => sdk.models.embedContent({ model: embedder, contents }),
  // The newest SDK refuses these two by itself.
  'POST /{version}/{model}:predict': ({ ask }) => ask('POST', `models/${model}:predict`, { instances: [{}] }),
  'POST /{version}/{model}:predictLongRunning': ({ ask }) =>
    ask('POST', `models/${model}:predictLongRunning`, { instances: [{ prompt: 'a cat' }] }),
  'POST /{version}/{model}:batchGenerateContent': async ({ sdk }) => {
    const { name = '' } = await uploadLines(sdk)
    expect((await sdk.batches.create({ model, src: { fileName: name } })).name).toMatch(/^batches\//)
  },
  'POST /{version}/{model}:asyncBatchEmbedContent': async ({ sdk }) => {
    const { name = '' } = await uploadLines(sdk)
    expect((await sdk.batches.createEmbeddings({ model: embedder, src: { fileName: name } })).name).toMatch(
      /^batches\//,
    )
  },

  'GET /{version}/batches': async ({ sdk }) => {
    const made = [(await batch(sdk)).name, (await batch(sdk)).name]
    expect((await namesOf(sdk.batches.list({ config: one }))).slice(-2)).toEqual(made)
  },
  'GET /{version}/batches/{object}': async ({ sdk }) => {
    const { name: fileName = '' } = await uploadLines(sdk)
    const { name = '' } = await sdk.batches.create({ model, src: { fileName } })
    const { dest } = await sdk.batches.get({ name })
    expect((await sdk.files.get({ name: dest?.fileName ?? '' })).name).toBe(dest?.fileName)
    await sdk.batches.get({ name })
  },
  'DELETE /{version}/batches/{object}': async ({ sdk }) => sdk.batches.delete({ name: (await batch(sdk)).name ?? '' }),
  'POST /{version}/batches/{object}:cancel': async ({ sdk }) =>
    sdk.batches.cancel({ name: (await batch(sdk)).name ?? '' }),

  'GET /{version}/operations/{object}': async ({ ask }) => {
    const name = mock.objects.nextId('operations/plain-')
    mock.objects.of([...mock.credentials][0]!).keep('operation', { id: name, name, done: true })
    await stage.gateway.admin.objects.adopt({ name, type: 'operation', provider: 'gemini' })
    expect(await ask('GET', name)).toMatchObject({ done: true })
  },
  'GET /{version}/models/{name}/operations/{object}': async ({ sdk, ask }) => {
    const { name } = await ask('POST', `models/${model}:predictLongRunning`, { instances: [{ prompt: 'a cat' }] })
    const done = await ask('GET', String(name))
    const { response } = done as { response: { generateVideoResponse: { generatedSamples: { video: object }[] } } }
    const [sample] = response.generateVideoResponse.generatedSamples
    // With a base URL in plain HTTP, too, the SDK gets to the video by its URI.
    expect(await downloaded(sdk, { video: sample!.video })).toBe('video')
    await ask('GET', String(name))
  },
  'GET /{version}/tunedModels/{name}/operations/{object}': async (walker) => {
    expect(await walker.ask('GET', String((await tune(walker)).name))).toHaveProperty('metadata.tunedModel')
  },
  'GET /{version}/fileSearchStores/{name}/operations/{object}': async ({ sdk, ask }) => {
    const { name = '' } = await store(sdk)
    const fileName = (await upload(sdk)).name ?? ''
    const operation = await sdk.fileSearchStores.importFile({ fileSearchStoreName: name, fileName })
    expect(await ask('GET', operation.name ?? '')).toMatchObject({ done: true })
  },
  'GET /{version}/fileSearchStores/{name}/upload/operations/{object}': async ({ sdk, ask }) => {
    const { name: fileSearchStoreName = '' } = await store(sdk)
    const file = new Blob([content], { type: 'text/plain' })
    const operation = await sdk.fileSearchStores.uploadToFileSearchStore({ fileSearchStoreName, file })
    expect(await ask('GET', operation.name ?? '')).toMatchObject({ done: true })
  },

  'POST /upload/{version}/files': ({ ask }) =>
    // What the SDKs do in several calls is looked at by itself, below.
    ask('POST', 'upload', { file: { displayName: 'greeting' } }),
  'GET /{version}/files': async ({ sdk }) => {
    const made = [(await upload(sdk)).name, (await upload(sdk)).name]
    for await (const { uri } of await sdk.files.list()) expect(uri).toMatch(new RegExp(`^${lane()}/`))
    expect((await namesOf(sdk.files.list({ config: one }))).slice(-2)).toEqual(made)
  },
  'GET /{version}/files/{object}:download': async ({ sdk }) => {
    const { name = '' } = await upload(sdk)
    expect(await downloaded(sdk, name)).toBe(content)
  },
  'GET /download/{version}/files/{object}:download': async ({ sdk, ask }) => {
    const { name = '' } = await upload(sdk)
    await ask('GET', `download ${name}:download?alt=media`)
  },
  'GET /{version}/files/{object}': async ({ sdk }) => {
    const { name = '', uri } = await upload(sdk)
    expect(await sdk.files.get({ name })).toMatchObject({ name, uri, displayName: 'greeting' })
  },
  'DELETE /{version}/files/{object}': async ({ sdk }) => {
    const { name = '' } = await upload(sdk)
    await sdk.files.delete({ name })
    await expect(sdk.files.get({ name })).rejects.toMatchObject({ status: 403 })
    await sdk.files.delete({ name: (await upload(sdk)).name ?? '' })
  },

  'POST /{version}/cachedContents': ({ sdk }) => cache(sdk),
  'GET /{version}/cachedContents': async ({ sdk }) => {
    const { name } = await cache(sdk)
    expect((await namesOf(sdk.caches.list({ config: one }))).at(-1)).toBe(name)
  },
  'GET /{version}/cachedContents/{object}': async ({ sdk }) => {
    const { name = '' } = await cache(sdk)
    expect((await sdk.caches.get({ name })).name).toBe(name)
  },
  'PATCH /{version}/cachedContents/{object}': async ({ sdk }) => {
    const { name = '' } = await cache(sdk)
    expect((await sdk.caches.update({ name, config: { ttl: '90s' } })).name).toBe(name)
  },
  'DELETE /{version}/cachedContents/{object}': async ({ sdk }) =>
    sdk.caches.delete({ name: (await cache(sdk)).name ?? '' }),

  'POST /{version}/tunedModels': (walker) => tune(walker),
  'GET /{version}/tunedModels': async (walker) => {
    const { metadata } = (await tune(walker)) as { metadata: { tunedModel: string } }
    const list = walker.sdk.models.list({ config: { ...one, queryBase: false } })
    expect((await namesOf(list)).at(-1)).toBe(metadata.tunedModel)
  },
  'PATCH /{version}/tunedModels/{object}': async (walker) => {
    const { metadata } = (await tune(walker)) as { metadata: { tunedModel: string } }
    await walker.sdk.models.update({ model: metadata.tunedModel, config: { displayName: 'other' } })
  },
  'DELETE /{version}/tunedModels/{object}': async (walker) => {
    const { metadata } = (await tune(walker)) as { metadata: { tunedModel: string } }
    await walker.sdk.models.delete({ model: metadata.tunedModel })
  },

  'POST /{version}/fileSearchStores': ({ sdk }) => store(sdk),
  'GET /{version}/fileSearchStores': async ({ sdk }) => {
    const { name } = await store(sdk)
    expect((await namesOf(sdk.fileSearchStores.list({ config: one }))).at(-1)).toBe(name)
  },
  'GET /{version}/fileSearchStores/{object}': async ({ sdk }) =>
    sdk.fileSearchStores.get({ name: (await store(sdk)).name ?? '' }),
  'PATCH /{version}/fileSearchStores/{object}': async ({ sdk, ask }) => {
    const { name = '' } = await store(sdk)
    expect(await ask('PATCH', `${name}?updateMask=displayName`, { displayName: 'other' })).toMatchObject({
      name,
      displayName: 'other',
    })
  },
  'DELETE /{version}/fileSearchStores/{object}': async ({ sdk }) =>
    sdk.fileSearchStores.delete({ name: (await store(sdk)).name ?? '' }),
  'POST /{version}/fileSearchStores/{object}:importFile': async ({ sdk }) => document(sdk),
  'POST /upload/{version}/fileSearchStores/{object}:uploadToFileSearchStore': async ({ sdk, ask }) =>
    ask('POST', `upload ${(await store(sdk)).name}:uploadToFileSearchStore`, { displayName: 'greeting' }),
  'POST /{version}/fileSearchStores/{object}/documents': async ({ sdk, ask }) =>
    ask('POST', `${(await store(sdk)).name}/documents`, { displayName: 'greeting' }),
  'GET /{version}/fileSearchStores/{object}/documents': async ({ sdk }) => {
    const { name, documents } = await document(sdk)
    expect(await namesOf(documents.list({ parent: name }))).toHaveLength(1)
  },
  'GET /{version}/fileSearchStores/{object}/documents/{document}': async ({ sdk }) => {
    const { name, documents } = await document(sdk)
    const [found = ''] = await namesOf(documents.list({ parent: name }))
    expect((await documents.get({ name: found })).name).toBe(found)
  },
  'PATCH /{version}/fileSearchStores/{object}/documents/{document}': async ({ sdk, ask }) => {
    const { name, documents } = await document(sdk)
    const [found = ''] = await namesOf(documents.list({ parent: name }))
    expect(await ask('PATCH', found, { displayName: 'other' })).toMatchObject({ name: found, displayName: 'other' })
  },
  'DELETE /{version}/fileSearchStores/{object}/documents/{document}': async ({ sdk }) => {
    const { name, documents } = await document(sdk)
    const [found = ''] = await namesOf(documents.list({ parent: name }))
    await documents.delete({ name: found })
  },
  'GET /{version}/fileSearchStores/{object}/media/{blob}': async ({ sdk, ask }) =>
    ask('GET', `${(await store(sdk)).name}/media/m1?alt=media`),

  'POST /{version}/interactions': async ({ sdk }) => {
    const { id } = await interact(sdk)
    const types: string[] = []
    const stream = await sdk.interactions.create({ model, input: 'go on', previous_interaction_id: id, stream: true })
    for await (const { event_type } of stream) types.push(event_type ?? '')
    expect(types).toEqual(expect.arrayContaining(['interaction.created', 'step.delta', 'interaction.completed']))
  },
  'GET /{version}/interactions/{object}': async ({ sdk }) => {
    const { id } = await interact(sdk)
    expect((await sdk.interactions.get(id)).id).toBe(id)
    const types: string[] = []
    const stream = await sdk.interactions.get(id, { stream: true, last_event_id: 'e3' })
    for await (const { event_type } of stream) types.push(event_type ?? '')
    expect(types.at(-1)).toBe('interaction.completed')
    expect(types).not.toContain('interaction.created')
  },
  'DELETE /{version}/interactions/{object}': async ({ sdk }) => sdk.interactions.delete((await interact(sdk)).id),
  'POST /{version}/interactions/{object}/cancel': async ({ sdk }) => sdk.interactions.cancel((await interact(sdk)).id),
}

/** The SDK writes into a file, and does not wait until it is there. */
async function downloaded(sdk: GoogleGenAI, file: string | { video: object }): Promise<string> {
  const downloadPath = join(tmpdir(), `spgw-download-${crypto.randomUUID()}`)
  await sdk.files.download({ file, downloadPath })
  const bytes = await readFile(downloadPath)
  await rm(downloadPath)
  return bytes.toString()
}

const nameOf = ({ method, path }: Endpoint) => `${method} ${path}`
const rows = gemini.endpoints.filter(
  ({ served, method, issuesClientToken }) =>
    served === 'provider' && method !== 'SOCKET' && issuesClientToken === undefined,
)

// The calls used here are the same in both majors, whose classes TypeScript tells apart by their private members.
const majors: [string, typeof GoogleGenAI, string][] = [
  ['@google/genai 3', GoogleGenAI, 'v1'],
  ['@google/genai 1', GoogleGenAI1 as unknown as typeof GoogleGenAI, 'v1beta'],
]

const table = new EndpointTable(majors.map(([name]) => name))
const refused = ['agents', 'environments/e/files/f', 'voices/v', 'webhooks', 'credentials', 'openai/models']
const refusedName = (path: string) => `GET /{version}/${path}`
afterAll(() => table.print([...rows.map(nameOf), ...refused.map(refusedName)]))

it('has a walk for every row', () => {
  expect(Object.keys(walks).sort()).toEqual(rows.map(nameOf).sort())
})

describe.each(majors)('%s', (sdk, Client, version) => {
  const operations = new Map<string, string>()
  let walker: Walker
  beforeEach(() => {
    walker = { sdk: new Client({ apiKey: stage.key, httpOptions: { baseUrl: lane() } }), ask }
  })

  async function ask(method: string, path: string, body?: object): Promise<Record<string, unknown>> {
    const [kind, rest = 'files'] = /^(?:upload|download)\b/.test(path) ? path.split(' ') : ['', path]
    const url = `${lane()}/${kind === '' ? '' : `${kind}/`}${version}/${rest}`
    const headers: Record<string, string> = { 'x-goog-api-key': stage.key }
    if (body !== undefined) headers['content-type'] = 'application/json'
    if (kind === 'upload') {
      headers['x-goog-upload-protocol'] = 'resumable'
      headers['x-goog-upload-command'] = 'start'
      headers['x-goog-upload-header-content-length'] = '3'
    }
    const answer = await fetch(url, { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) })
    const text = await answer.text()
    expect([answer.status, answer.status === 200 ? '' : text]).toEqual([200, ''])
    return answer.headers.get('content-type')?.startsWith('application/json') && text !== '' ? JSON.parse(text) : {}
  }

  it.each(rows.map((row) => [nameOf(row), row] as const))('%s', async (name, row) => {
    await walks[name]?.(walker)
    const last = wire.last()
    const { pathname, search } = new URL(last.url)
    const path = pathname.slice('/v1/gemini'.length)
    expect(gemini.match(last.method, path)?.endpoint).toBe(row)
    const made = row.object?.effect === 'list'
    const seen = mock.requests.findLast(({ target }) => (made ? target.startsWith(path) : target === path + search))
    expect(seen).toBeDefined()
    if (!made && seen !== undefined) {
      const sent = last.requestBody.toString().replaceAll(lane(), mock.origin)
      // A call without a body goes up without one, whatever the SDK put there.
      if (row.requestForms.length > 0) expect(sha256(Buffer.from(sent))).toBe(seen.sha256)
      const told = (await last.body).toString().replaceAll(lane(), mock.origin)
      expect(sha256(Buffer.from(told))).toBe(seen.answerSha256)
    }
    table.note(sdk, name, last.status)
    operations.set(last.headers.get('x-sp-request-id') ?? '', row.operation)
    stage.assertClean()
  })

  it('leaves a record of each', async () => {
    await stage.gateway.record([...operations.keys()].at(-1) ?? '')
    const records = await stage.gateway.admin.requests.list({ lane: 'gemini', limit: 500 })
    const byId = new Map(records.map((record: RequestRecord) => [record.id, record]))
    for (const [id, operation] of operations)
      expect(byId.get(id)).toMatchObject({ operation, state: 'settled', status: 200, provider: 'gemini' })
  })

  it.each(refused)('nobody serves %s', async (path) => {
    const calls = mock.requests.length
    const answer = await fetch(`${lane()}/${version}/${path}`, { headers: { 'x-goog-api-key': stage.key } })
    expect(answer.status).toBe(404)
    expect(await answer.json()).toMatchObject({ error: { code: 404, status: 'NOT_FOUND' } })
    table.note(sdk, refusedName(path), answer.status)
    expect(mock.requests.length).toBe(calls)
  })
})
