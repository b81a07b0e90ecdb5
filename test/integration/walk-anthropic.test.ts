import Anthropic, { toFile } from '@anthropic-ai/sdk'
import Anthropic0 from 'anthropic-sdk-0'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { RequestRecord } from '../../src/core/record.ts'
import { anthropic } from '../../src/lanes/anthropic/lane.ts'
import type { Endpoint } from '../../src/lanes/contract.ts'
import { EndpointTable } from '../support/endpoint-table.ts'
import { expectNoLeak } from '../support/expect-no-leak.ts'
import { spokenText } from '../support/mock-format.ts'
import { type MockProvider, sha256 } from '../support/mock-provider.ts'
import { type RecordingFetch, recordingFetch } from '../support/recording-fetch.ts'
import { type Stage, setStage } from '../support/stage.ts'

let stage: Stage
let mock: MockProvider
let wire: RecordingFetch
const model = 'claude-opus-5-5'
const content = 'Grüße, 世界\n'

beforeAll(async () => {
  stage = await setStage()
  mock = stage.mocks.anthropic
})
afterAll(() => stage.close())
afterEach(() => expectNoLeak(mock, wire.exchanges))
beforeEach(() => {
  wire = recordingFetch()
})

const message = { model, max_tokens: 64, messages: [{ role: 'user' as const, content: 'hello' }] }
const file = () => toFile(Buffer.from(content), 'greeting.txt')
const batchOf = (params: Anthropic.MessageCreateParamsNonStreaming) => ({ requests: [{ custom_id: 'one', params }] })

const newBatch = (client: Anthropic) => client.messages.batches.create(batchOf(message))
const newFile = async (client: Anthropic) => client.beta.files.upload({ file: await file() })
const newSkill = async (client: Anthropic) => client.beta.skills.create({ files: [await file()] })

/** How the SDK asks for each row; the call that is looked at is the last one that it sends. */
const walks: Record<string, (client: Anthropic) => Promise<unknown>> = {
  'POST /v1/messages': async (client) => {
    const { id } = await newFile(client)
    const source = { type: 'file' as const, file_id: id }
    const body = { ...message, messages: [{ role: 'user' as const, content: [{ type: 'document' as const, source }] }] }
    expect((await client.beta.messages.create(body)).content).toMatchObject([{ text: spokenText }])
  },
  'POST /v1/messages/count_tokens': async (client) => {
    const { max_tokens: _, ...counted } = message
    expect((await client.beta.messages.countTokens(counted)).input_tokens).toBe(mock.usage.input)
  },
  'POST /v1/complete': async (client) => {
    const body = { model, prompt: '\n\nHuman: hello\n\nAssistant:', max_tokens_to_sample: 64 }
    const whole = await client.post<{ completion: string }>('/v1/complete', { body })
    expect(whole.completion).toBe(spokenText)
    const streamed = await client.post('/v1/complete', { body: { ...body, stream: true }, stream: true })
    let text = ''
    for await (const piece of streamed as AsyncIterable<{ completion: string }>) text += piece.completion
    expect(text).toBe(spokenText)
  },

  'POST /v1/messages/batches': async (client) => {
    const batch = await client.messages.batches.create(batchOf(message))
    expect(batch).toMatchObject({ processing_status: 'in_progress', results_url: null })
  },
  'GET /v1/messages/batches': async (client) => {
    const made = [await newBatch(client), await newBatch(client), await newBatch(client)].map(({ id }) => id)
    const seen: string[] = []
    for await (const { id } of client.messages.batches.list({ limit: 1 })) seen.push(id)
    expect(seen.slice(0, 3)).toEqual(made.toReversed())
    const before = await client.messages.batches.list({ before_id: made[0]!, limit: 2 })
    expect(before.data.map(({ id }) => id)).toEqual([made[2], made[1]])
  },
  'GET /v1/messages/batches/{object}': async (client) => {
    const batch = await client.messages.batches.retrieve((await newBatch(client)).id)
    const results = `${stage.gateway.baseUrl}/v1/anthropic/v1/messages/batches/${batch.id}/results`
    expect(batch).toMatchObject({ processing_status: 'ended', results_url: results })
  },
  'DELETE /v1/messages/batches/{object}': async (client) => {
    const { id } = await newBatch(client)
    expect(await client.messages.batches.delete(id)).toMatchObject({ id, type: 'message_batch_deleted' })
  },
  'POST /v1/messages/batches/{object}/cancel': async (client) => {
    const { id } = await newBatch(client)
    expect((await client.messages.batches.cancel(id)).processing_status).toBe('canceling')
  },
  // The SDK looks the batch up itself and follows `results_url`.
  'GET /v1/messages/batches/{object}/results': async (client) => {
    const { id } = await newBatch(client)
    const lines = []
    for await (const line of await client.messages.batches.results(id)) lines.push(line)
    expect(lines).toMatchObject([{ custom_id: 'one', result: { type: 'succeeded', message: { model } } }])
  },

  'POST /v1/files': async (client) => {
    expect(await newFile(client)).toMatchObject({ filename: 'greeting.txt', size_bytes: Buffer.byteLength(content) })
  },
  'GET /v1/files': async (client) => {
    const made = [await newFile(client), await newFile(client)].map(({ id }) => id)
    const seen: string[] = []
    for await (const { id } of client.files.list({ limit: 1 })) seen.push(id)
    expect(seen.slice(0, 2)).toEqual(made.toReversed())
    expect((await client.files.list({ ids: [made[0]!] })).data.map(({ id }) => id)).toEqual([made[0]])
    // The version of before paged by ids.
    const older = await client.beta.files.list({ betas: ['files-api-2025-04-14'], limit: 1 })
    expect(older.data.map(({ id }) => id)).toEqual([made[1]])
  },
  'GET /v1/files/{object}': async (client) => {
    const { id } = await newFile(client)
    expect(await client.files.retrieveMetadata(id)).toMatchObject({ id, filename: 'greeting.txt' })
  },
  'DELETE /v1/files/{object}': async (client) => {
    const { id } = await newFile(client)
    expect(await client.files.delete(id)).toMatchObject({ id })
    await expect(client.files.retrieveMetadata(id)).rejects.toMatchObject({ status: 404 })
    await client.files.delete((await newFile(client)).id)
  },
  'GET /v1/files/{object}/content': async (client) => {
    const answer = await client.files.download((await newFile(client)).id)
    expect(await answer.text()).toBe(content)
  },

  'POST /v1/skills': async (client) => {
    expect(await newSkill(client)).toMatchObject({ type: 'skill' })
  },
  'GET /v1/skills': async (client) => {
    const made = [await newSkill(client), await newSkill(client)].map(({ id }) => id)
    const seen: string[] = []
    for await (const { id } of client.beta.skills.list({ limit: 1 })) seen.push(id)
    expect(seen.slice(0, 2)).toEqual(made.toReversed())
  },
  'GET /v1/skills/{object}': async (client) => {
    const { id } = await newSkill(client)
    expect(await client.beta.skills.retrieve(id)).toMatchObject({ id })
  },
  'DELETE /v1/skills/{object}': async (client) => {
    const { id } = await newSkill(client)
    expect(await client.beta.skills.delete(id)).toMatchObject({ id })
  },
  'POST /v1/skills/{object}/versions': async (client) => {
    const { id } = await newSkill(client)
    const version = await client.beta.skills.versions.create(id, { files: [await file()] })
    expect(version).toMatchObject({ skill_id: id })
  },
  'GET /v1/skills/{object}/versions': async (client) => {
    const { id } = await newSkill(client)
    expect((await client.beta.skills.versions.list(id)).data).toMatchObject([{ skill_id: id }])
  },
  'GET /v1/skills/{object}/versions/{release}': async (client) => {
    const { id } = await newSkill(client)
    const release = (await client.beta.skills.versions.list(id)).data[0]!.id
    expect(await client.beta.skills.versions.retrieve(release, { skill_id: id })).toMatchObject({ id: release })
  },
  'DELETE /v1/skills/{object}/versions/{release}': async (client) => {
    const { id } = await newSkill(client)
    const release = (await client.beta.skills.versions.list(id)).data[0]!.id
    await client.beta.skills.versions.delete(release, { skill_id: id })
    expect((await client.get<{ id: string }>(`/v1/skills/${id}`)).id).toBe(id)
    const other = (await client.beta.skills.versions.create(id, { files: [await file()] })).id
    await client.beta.skills.versions.delete(other, { skill_id: id })
  },
  'GET /v1/skills/{object}/versions/{release}/content': async (client) => {
    const { id } = await newSkill(client)
    const release = (await client.beta.skills.versions.list(id)).data[0]!.id
    const answer = await client.beta.skills.versions.download(release, { skill_id: id })
    expect(await answer.text()).toBe(content)
  },
}

/** A key of another project, which reaches the same provider with the same credential. */
async function elsewhere(): Promise<{ key: string }> {
  const { admin } = stage.gateway
  const name = `other-${crypto.randomUUID().slice(0, 8)}`
  await admin.projects.add({ name })
  await admin.environments.add({ name: 'production', project: name })
  await admin.routes.add({ model, targets: ['anthropic'], project: name })
  return admin.keys.create({ name: 'stranger', project: name, environment: 'production' })
}

const nameOf = ({ method, path }: Endpoint) => `${method} ${path}`
const rows = anthropic.endpoints.filter(({ served }) => served === 'provider')

// The calls used here are the same in both, whose classes TypeScript tells apart by their private members.
const majors: [string, typeof Anthropic, string][] = [
  ['@anthropic-ai/sdk 1', Anthropic, '2026-10-21'],
  ['@anthropic-ai/sdk 0', Anthropic0 as unknown as typeof Anthropic, '2023-06-01'],
]

const table = new EndpointTable(majors.map(([name]) => name))
const refused = [
  '/v1/organizations/me',
  '/v1/user_profiles',
  '/v1/agents/a/versions',
  '/v1/sessions/s/events/stream',
  '/v1/vaults',
  '/v1/dreams',
]
afterAll(() => table.print([...rows.map(nameOf), ...refused.map((path) => `GET ${path}`)]))

it('has a walk for every row', () => {
  expect(Object.keys(walks).sort()).toEqual(rows.map(nameOf).sort())
})

describe.each(majors)('%s', (sdk, Client, version) => {
  const operations = new Map<string, string>()
  let client: Anthropic
  beforeEach(() => {
    const baseURL = `${stage.gateway.baseUrl}/v1/anthropic`
    client = new Client({ apiKey: stage.key, baseURL, fetch: wire.fetch, maxRetries: 3 })
  })

  it.each(rows.map((row) => [nameOf(row), row] as const))('%s', async (name, row) => {
    await walks[name]?.(client)
    const last = wire.last()
    const { pathname, search } = new URL(last.url)
    const path = pathname.slice('/v1/anthropic'.length)
    expect(anthropic.match(last.method, path)?.endpoint).toBe(row)
    // A list is asked for page by page, and its answer made of what is the caller's.
    const made = row.object?.effect === 'list'
    const seen = mock.requests.findLast(({ target }) => (made ? target.startsWith(path) : target === path + search))
    expect(seen?.headers.get('anthropic-version')).toBe(version)
    if (!made) {
      expect(seen?.sha256).toBe(last.requestSha256)
      const told = (await last.body).toString().replaceAll(`${stage.gateway.baseUrl}/v1/anthropic`, mock.origin)
      expect(sha256(Buffer.from(told))).toBe(seen?.answerSha256)
    }
    table.note(sdk, name, last.status)
    operations.set(last.headers.get('x-sp-request-id') ?? '', row.operation)
    stage.assertClean()
  })

  it('gets what a tool has made, and none of another project', async () => {
    const { key } = await elsewhere()
    const stranger = new Client({ apiKey: key, baseURL: `${stage.gateway.baseUrl}/v1/anthropic`, maxRetries: 3 })
    const call = { ...message, tools: [{ type: 'code_execution_20250825' as const, name: 'code_execution' as const }] }
    const answers = [await client.beta.messages.create(call), await client.beta.messages.stream(call).finalMessage()]
    for (const answer of answers) {
      const id = /"file_id":"([^"]+)"/.exec(JSON.stringify(answer.content))?.[1] ?? ''
      expect(await (await client.beta.files.download(id)).text()).toBe('plot')
      await expect(stranger.beta.files.download(id)).rejects.toMatchObject({ status: 404 })
      const container = answer.container?.id ?? ''
      expect(await client.beta.messages.create({ ...message, container })).toMatchObject({ type: 'message' })
      await expect(stranger.beta.messages.create({ ...message, container })).rejects.toMatchObject({ status: 404 })
    }
    stage.assertClean()
  })

  it('leaves a record of each', async () => {
    await stage.gateway.record([...operations.keys()].at(-1) ?? '')
    const records = await stage.gateway.admin.requests.list({ lane: 'anthropic', limit: 500 })
    const byId = new Map(records.map((record: RequestRecord) => [record.id, record]))
    for (const [id, operation] of operations)
      expect(byId.get(id)).toMatchObject({ operation, state: 'settled', status: 200, provider: 'anthropic' })
  })

  it.each(refused)('nobody serves %s', async (path) => {
    const calls = mock.requests.length
    await expect(client.get(path)).rejects.toBeInstanceOf(Client.NotFoundError)
    table.note(sdk, `GET ${path}`, wire.last().status)
    expect(mock.requests.length).toBe(calls)
  })
})
