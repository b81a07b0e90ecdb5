import OpenAI from 'openai'
import OpenAI6 from 'openai-6'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { TokenUsage } from '../../src/core/record.ts'
import type { Endpoint } from '../../src/lanes/contract.ts'
import { openai } from '../../src/lanes/openai/lane.ts'
import { EndpointTable } from '../support/endpoint-table.ts'
import { expectNoLeak } from '../support/expect-no-leak.ts'
import { type MockProvider, sha256 } from '../support/mock-provider.ts'
import { generationWalks, type Walk, type WalkKit } from '../support/openai/walk.ts'
import { callWalks } from '../support/openai/walk-calls.ts'
import { fileWalks } from '../support/openai/walk-files.ts'
import { mediaWalks } from '../support/openai/walk-media.ts'
import { trainingWalks } from '../support/openai/walk-training.ts'
import { type Recorded, type RecordingFetch, recordingFetch } from '../support/recording-fetch.ts'
import { type Stage, setStage } from '../support/stage.ts'

const walks: readonly Walk[] = [...generationWalks, ...fileWalks, ...mediaWalks, ...trainingWalks, ...callWalks]
const kit: WalkKit = {
  chat: 'gpt-4o-mini',
  embedding: 'text-embedding-3-small',
  moderation: 'omni-moderation-latest',
  completion: 'gpt-3.5-turbo-instruct',
  async adopt(type, prefix) {
    const [credential = ''] = mock.credentials
    const { id } = mock.objects.of(credential).keep(type, { id: mock.objects.nextId(prefix) })
    await stage.gateway.admin.objects.adopt({ name: id, type, provider: 'openai' })
    return id
  },
}

let stage: Stage
let mock: MockProvider

beforeAll(async () => {
  stage = await setStage({ config: 'gateway:\n  webrtc: allow\n' })
  mock = stage.mocks.openai
  for (const model of ['gpt-*', 'text-*', 'omni-*', 'whisper-*', 'sora-*'])
    await stage.gateway.addRoute(model, ['openai'])
})
afterAll(() => stage.close())

// The calls used here are the same in both majors, whose classes TypeScript tells apart by their private members.
const majors = [
  { major: 7, Client: OpenAI },
  { major: 6, Client: OpenAI6 as unknown as typeof OpenAI },
]

const table = new EndpointTable(majors.map(({ major }) => `openai ${major}`))
const nameOf = ({ method, path }: Endpoint) => `${method} ${path}`

function note(major: number, { method, url, status }: Recorded): Endpoint {
  const path = new URL(url).pathname.slice(openai.prefix.length)
  const endpoint = openai.match(method, path)?.endpoint
  if (endpoint === undefined) throw new Error(`no endpoint for ${method} ${path}`)
  table.note(`openai ${major}`, nameOf(endpoint), status)
  return endpoint
}

/** What the SDK sent has come to the provider byte for byte, in the same order, and the other way round; lists are the gateway's to cut. */
async function expectPassed(major: number, wire: RecordingFetch, from: number): Promise<void> {
  const upstream = mock.requests.slice(from)
  // One SDK asks a data: address what its fetch can do.
  for (const exchange of wire.exchanges.filter(({ url }) => url.startsWith('http'))) {
    // A gateway that is too busy to look up whose an object is says so, and the SDK comes again.
    if (exchange.headers.get('x-sp-error') === 'object_index_unavailable') continue
    const endpoint = note(major, exchange)
    const { served, object, issuesClientToken } = endpoint
    if (served !== 'provider' || exchange.headers.has('x-sp-error') || object?.effect === 'list') continue
    const { pathname: path, search } = new URL(exchange.url)
    const at = upstream.findIndex(
      (seen) =>
        seen.method === exchange.method && seen.target === path + search && seen.sha256 === exchange.requestSha256,
    )
    expect(at, `${exchange.method} ${path} came through`).toBeGreaterThanOrEqual(0)
    const [seen] = upstream.splice(at, 1)
    // A secret for a client is the gateway's own.
    if (issuesClientToken === undefined)
      expect(sha256(await exchange.body), `answer of ${exchange.method} ${path}`).toBe(seen?.answerSha256)
    if (endpoint.model !== 'none') await expectRecord(exchange, endpoint, seen?.usage ?? null)
  }
}

/** What is counted is what the provider reported, once: an answer that is only looked at again counts nothing. */
async function expectRecord(
  { headers, status }: Recorded,
  { operation }: Endpoint,
  tokens: TokenUsage | null,
): Promise<void> {
  const record = await stage.gateway.record(headers.get('x-sp-request-id') ?? '')
  expect(record).toMatchObject({ state: 'settled', operation, status, provider: 'openai', error: null })
  // Of an upload whose length was estimated, no provider reports anything.
  expect(record.tokens?.source === 'estimated' ? null : record.tokens, operation).toEqual(tokens)
}

describe.each(majors)('openai $major', ({ major, Client }) => {
  const open = (wire: RecordingFetch) =>
    new Client({ apiKey: stage.key, baseURL: `${stage.gateway.baseUrl}/v1`, fetch: wire.fetch })

  it.each(walks.filter(({ since = 6 }) => since <= major))('$family', async ({ walk }) => {
    const wire = recordingFetch()
    const from = mock.requests.length
    await walk(open(wire), kit)
    await expectPassed(major, wire, from)
    await expectNoLeak(
      mock,
      wire.exchanges.filter(({ url }) => url.startsWith('http')),
    )
    stage.assertClean()
  })

  it('what nobody serves is not there, and the record says why', async () => {
    const wire = recordingFetch()
    const client = open(wire)
    const from = mock.requests.length
    const refused = openai.endpoints.filter(({ served }) => served === 'nobody')
    const methods = ['get', 'post', 'put', 'patch', 'delete'] as const
    const calls = refused.flatMap((endpoint) => methods.map((method) => ({ endpoint, method })))
    for (const { endpoint, method } of calls) {
      const path = endpoint.path.replace(/\*|\{object\}/, 'x')
      await expect(client.request({ method, path })).rejects.toBeInstanceOf(Client.NotFoundError)
      note(major, wire.last())
      const record = await stage.gateway.record(wire.last().headers.get('x-sp-request-id') ?? '')
      expect(record).toMatchObject({ status: 404, error: { code: 'unknown_path' }, operation: endpoint.operation })
      expect(record.routing_signals.map(({ text }) => text).join()).toContain(endpoint.why)
    }
    expect(mock.requests.length).toBe(from)
  })
})

/** Sockets have tests of their own; what the SDK before has no method for is said so. */
describe('the table', () => {
  const rows = openai.endpoints.filter(({ method }) => method !== 'SOCKET')
  const newer = /^(?:decisions|voices|voice_consents|content_provenance|live\.|realtime\.calls\.create)/
  /** The two SDKs cancel a run at two addresses; one has no translations. */
  const onlyOne = new Map([
    ['POST /evals/{object}/runs/{run}/cancel', 7],
    ['POST /evals/{object}/runs/{run}', 6],
    ['POST /realtime/translations/client_secrets', 7],
  ])

  it('has every endpoint, walked by each SDK that knows it', () => {
    const missed: string[] = []
    for (const endpoint of rows) {
      const call = nameOf(endpoint)
      for (const { major } of majors) {
        const statuses = table.statuses(`openai ${major}`, call)
        const unknown = (newer.test(endpoint.operation) && major < 7) || (onlyOne.get(call) ?? major) !== major
        const good = endpoint.served === 'nobody' ? statuses.includes(404) : statuses.some((status) => status < 300)
        if (!good && !unknown) missed.push(`${call} by openai ${major}`)
      }
    }
    table.print(rows.map(nameOf))
    expect(missed).toEqual([])
  })
})
