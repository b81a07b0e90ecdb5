import { randomBytes } from 'node:crypto'
import { GoogleGenAI } from '@google/genai'
import { GoogleGenAI as GoogleGenAI1 } from 'genai-1'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import type { MockProvider, Seen } from '../support/mock-provider.ts'
import { type RecordingFetch, recordingFetch } from '../support/recording-fetch.ts'
import { type Stage, setStage } from '../support/stage.ts'

let stage: Stage
let mock: MockProvider
let wire: RecordingFetch
let lane: string

beforeAll(async () => {
  stage = await setStage()
  mock = stage.mocks.gemini
  lane = `${stage.gateway.baseUrl}/v1/gemini`
})
afterAll(async () => {
  vi.unstubAllGlobals()
  await stage.close()
})
beforeEach(() => {
  wire = recordingFetch()
  vi.stubGlobal('fetch', wire.fetch)
})

const granularity = 262_144
const bytes = randomBytes(granularity * 2 + 7)

/** The first call of an upload, as both SDKs make it, with the file described in Python's spelling. */
function start(key = stage.key, size = bytes.length): Promise<Response> {
  return fetch(`${lane}/upload/v1beta/files`, {
    method: 'POST',
    headers: {
      'x-goog-api-key': key,
      'content-type': 'application/json',
      'x-goog-upload-protocol': 'resumable',
      'x-goog-upload-command': 'start',
      'x-goog-upload-header-content-length': String(size),
      'x-goog-upload-header-content-type': 'application/octet-stream',
    },
    body: JSON.stringify({ file: { display_name: 'noise', mime_type: 'application/octet-stream', size_bytes: size } }),
  })
}

async function begin(key = stage.key): Promise<string> {
  return (await start(key)).headers.get('x-goog-upload-url') ?? ''
}

/** A chunk the way Python sends it: no credential at all. */
function go(url: string, command: string, offset: number | null, body: Uint8Array, headers = {}): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    headers: {
      'x-goog-upload-command': command,
      ...(offset === null ? {} : { 'x-goog-upload-offset': String(offset) }),
      ...headers,
    },
    body: Buffer.from(body),
  })
}

const status = (answer: Response) => [answer.status, answer.headers.get('x-goog-upload-status')]
const last = (): Seen => mock.requests.at(-1)!
const refusalOf = async (answer: Response) => [answer.status, answer.headers.get('x-sp-error'), await answer.text()]

describe.each([
  ['@google/genai 3', GoogleGenAI],
  ['@google/genai 1', GoogleGenAI1 as unknown as typeof GoogleGenAI],
])('%s', (_name, Client) => {
  it('sends a file in several chunks, all of them here', async () => {
    const large = randomBytes(9 * 1024 * 1024)
    const sdk = new Client({ apiKey: stage.key, httpOptions: { baseUrl: lane } })
    const file = await sdk.files.upload({ file: new Blob([large]), config: { mimeType: 'text/plain' } })
    const [first, ...chunks] = wire.exchanges
    expect(chunks.map(({ requestBody }) => requestBody.length)).toEqual([8 * 1024 * 1024, 1024 * 1024])
    expect(wire.exchanges.every(({ url }) => url.startsWith(`${lane}/upload/`))).toBe(true)
    expect(first?.headers.get('x-goog-upload-chunk-granularity')).toBe(String(granularity))
    const kept = mock.objects.of([...mock.credentials][0]!).bytes(file.name ?? '')
    expect(kept.equals(large)).toBe(true)
    expect(await sdk.files.get({ name: file.name ?? '' })).toMatchObject({ name: file.name, uri: file.uri })
    stage.assertClean()
  })
})

describe('an upload', () => {
  it('takes the gateway key up nowhere', async () => {
    const headers = { 'x-goog-api-key': stage.key, [stage.key]: '1', 'content-type': 'text/plain' }
    const query = `note=${stage.key}&x=%73%70_live_${stage.key.slice(8)}`
    const answer = await fetch(`${lane}/upload/v1beta/files?${query}`, {
      method: 'POST',
      headers: { ...headers, 'x-goog-upload-protocol': 'raw' },
      body: 'some text',
    })
    expect(answer.status).toBe(200)
    const carried = `${decodeURIComponent(last().target)} ${last().rawHeaders.join(' ')}`
    expect(carried.toLowerCase()).not.toContain(stage.key.toLowerCase())
    stage.assertClean()
  })

  it('goes on at a URL of this gateway’s, without a key, at the account where it began', async () => {
    const answer = await start()
    expect(status(answer)).toEqual([200, 'active'])
    const url = answer.headers.get('x-goog-upload-url') ?? ''
    expect(url).toMatch(/\/v1\/gemini\/upload\/v1beta\/files\?upload_id=[\w-]+&upload_protocol=resumable$/)
    expect(answer.headers.get('x-goog-upload-control-url')).toContain(`${lane}/upload/`)
    expect([...answer.headers.values()].join('\n')).not.toContain(mock.origin)
    expect(answer.headers.has('x-guploader-uploadid')).toBe(false)

    const first = await go(url, 'upload', 0, bytes.subarray(0, granularity))
    expect(status(first)).toEqual([200, 'active'])
    expect(last().headers.get('x-goog-upload-offset')).toBe('0')
    expect(last().headers.get('x-goog-api-key')).toBe([...mock.credentials][0])
    expect(last().target).toMatch(/^\/upload\/v1beta\/files\?upload_id=AbCd-\d+&upload_protocol=resumable$/)

    const asked = await go(url, 'query', null, Buffer.alloc(0))
    expect([...status(asked), asked.headers.get('x-goog-upload-size-received')]).toEqual([200, 'active', '262144'])
    const rest = await go(url, 'upload, finalize', granularity, bytes.subarray(granularity))
    expect(status(rest)).toEqual([200, 'final'])
    const { file } = (await rest.json()) as { file: { name: string; uri: string } }
    expect(file.uri).toBe(`${lane}/v1beta/${file.name}`)
    const got = await fetch(`${lane}/v1beta/${file.name}:download?alt=media`, {
      headers: { 'x-goog-api-key': stage.key },
    })
    expect(Buffer.from(await got.arrayBuffer()).equals(bytes)).toBe(true)

    const record = await stage.gateway.record(rest.headers.get('x-sp-request-id') ?? '')
    expect(record).toMatchObject({ operation: 'files.upload', status: 200, provider: 'gemini', key: { name: 'test' } })
    expect(record.request_bytes).toBe(bytes.length - granularity)
    expect(record.routing_signals).toContainEqual(expect.objectContaining({ rule: 'patch', verdict: 'note' }))
    stage.assertClean()
  })

  it('goes on where the client kept only the path', async () => {
    const { search } = new URL(await begin())
    const answer = await go(`${stage.gateway.baseUrl}/upload/v1beta/files${search}`, 'query', null, Buffer.alloc(0))
    expect(status(answer)).toEqual([200, 'active'])
  })

  it('is refused before it comes where it is announced too large', async () => {
    const calls = mock.requests.length
    expect(await refusalOf(await start(stage.key, 3e9))).toEqual([413, 'request_too_large', expect.any(String)])
    expect(mock.requests.length).toBe(calls)
  })

  it('is called off', async () => {
    const url = await begin()
    expect(status(await go(url, 'cancel', null, Buffer.alloc(0)))).toEqual([200, 'cancelled'])
    expect((await go(url, 'upload, finalize', 0, bytes)).status).toBe(400)
  })

  it('passes what the provider says of a wrong chunk, and sends none twice', async () => {
    const url = await begin()
    const wrong = await go(url, 'upload', 5, bytes.subarray(0, granularity))
    expect(await refusalOf(wrong)).toEqual([400, 'provider_error', expect.stringContaining('The offset must be 0')])
    expect(await refusalOf(await go(url, 'upload', null, bytes.subarray(0, granularity)))).toEqual([
      400,
      'provider_error',
      expect.stringContaining('X-Goog-Upload-Offset is missing'),
    ])
    mock.next({ status: 503 })
    const calls = mock.calls.length
    expect((await go(url, 'upload', 0, bytes.subarray(0, granularity))).status).toBe(503)
    expect(mock.calls.length).toBe(calls + 1)
  })

  it('is the caller’s alone', async () => {
    const { key: other } = await stage.gateway.createKey('other')
    const url = await begin()
    const query = (headers: object) => go(url, 'query', null, Buffer.alloc(0), headers)
    expect(status(await query({ 'x-goog-api-key': stage.key }))).toEqual([200, 'active'])
    expect(await refusalOf(await query({ 'x-goog-api-key': other }))).toEqual([
      401,
      'conflicting_credentials',
      expect.any(String),
    ])
    expect(await refusalOf(await query({ authorization: 'Bearer sk-ant-x' }))).toEqual([
      401,
      'provider_key_rejected',
      expect.any(String),
    ])
    const forged = url.replace(/upload_id=(.)/, (_, first: string) => `upload_id=${first === 'A' ? 'B' : 'A'}`)
    expect(await refusalOf(await go(forged, 'query', null, Buffer.alloc(0)))).toEqual([
      401,
      'invalid_key',
      expect.any(String),
    ])
    const guess = `${lane}/upload/v1beta/files?upload_id=AbCd-000001&upload_protocol=resumable`
    expect(await refusalOf(await go(guess, 'query', null, Buffer.alloc(0)))).toEqual([
      401,
      'invalid_key',
      expect.any(String),
    ])
  })

  it('ends with its key', async () => {
    const { id, key } = await stage.gateway.createKey('short')
    const url = await begin(key)
    expect(status(await go(url, 'upload', 0, bytes.subarray(0, granularity)))).toEqual([200, 'active'])
    await stage.gateway.admin.keys.revoke({ key: id })
    const calls = mock.requests.length
    const answer = await go(url, 'upload, finalize', granularity, bytes.subarray(granularity))
    expect(await refusalOf(answer)).toEqual([401, 'invalid_key', expect.stringContaining('revoked')])
    expect(mock.requests.length).toBe(calls)
  })

  it.each([
    ['raw', 'text/plain', 'hello'],
    [
      'multipart',
      'multipart/related; boundary=b',
      '--b\r\ncontent-type: application/json\r\n\r\n{"file":{"displayName":"d"}}\r\n--b\r\n\r\nhello\r\n--b--\r\n',
    ],
  ])('comes in one call: %s', async (protocol, type, body) => {
    const headers = { 'x-goog-api-key': stage.key, 'x-goog-upload-protocol': protocol, 'content-type': type }
    const answer = await fetch(`${lane}/upload/v1beta/files`, { method: 'POST', headers, body })
    const { file } = (await answer.json()) as { file: { name: string } }
    const got = await fetch(`${lane}/v1beta/${file.name}:download?alt=media`, {
      headers: { 'x-goog-api-key': stage.key },
    })
    expect(await got.text()).toBe('hello')
  })
})
