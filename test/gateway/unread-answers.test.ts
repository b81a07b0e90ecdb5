import http from 'node:http'
import zlib from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type DataPlane, startDataPlane } from '../support/data-plane.ts'
import { listen } from '../support/listen.ts'

type Kind = 'openai' | 'anthropic' | 'gemini'

let provider: http.Server
let origin: string
const planes = new Map<Kind, DataPlane>()
/** What the provider answers with. */
let answer: { headers?: Record<string, string>; chunks: (string | Buffer)[] } = { chunks: [] }

beforeAll(async () => {
  provider = http.createServer((request, response) => {
    request.resume()
    response.writeHead(200, { 'content-type': 'application/json', ...answer.headers })
    for (const chunk of answer.chunks) response.write(chunk)
    response.end()
  })
  origin = await listen(provider)
  for (const kind of ['openai', 'anthropic', 'gemini'] as const) {
    const baseUrl = kind === 'openai' ? `${origin}/v1` : origin
    // Every object is this key's.
    const plane = await startDataPlane({ providers: [{ kind, baseUrl }], heldLimit: 20 * 1024 * 1024 })
    plane.ownAll()
    planes.set(kind, plane)
  }
})

afterAll(async () => {
  for (const plane of planes.values()) await plane.stop()
  provider.close()
})

async function ask(kind: Kind, path: string, body: object | null = null) {
  const plane = planes.get(kind)!
  const response = await fetch(plane.baseUrl + path, {
    method: body === null ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${plane.key}`, 'content-type': 'application/json' },
    body: body === null ? null : JSON.stringify(body),
  })
  const text = await response.text()
  return { status: response.status, text, record: await plane.record(response.headers.get('x-sp-request-id')) }
}

const paths: Record<Kind, string> = {
  openai: '/v1/files/file-1',
  anthropic: '/v1/anthropic/v1/messages/batches/msgbatch_1',
  gemini: '/v1/gemini/v1beta/files/abc',
}
const leads = (kind: Kind) => kind !== 'openai'
const own: Record<Kind, string> = {
  openai: '"id":"file-1"',
  anthropic: '"id":"msgbatch_1"',
  gemini: '"name":"files/abc"',
}

describe.each(['openai', 'anthropic', 'gemini'] as const)('an answer that cannot be read (%s)', (kind) => {
  const hostile: [string, () => string][] = [
    ['of empty objects', () => `{${own[kind]},"data":[${'{},'.repeat(500_000)}{}]}`],
    ['of zeros', () => `{${own[kind]},"data":[${'0,'.repeat(700_000)}0]}`],
    ['of brackets', () => `{${own[kind]},"data":${'['.repeat(700_000)}${']'.repeat(700_000)}}`],
    [
      'of members that a client follows',
      () => `{${own[kind]},"data":${'{"uri":'.repeat(300_000)}1${'}'.repeat(300_000)}}`,
    ],
    ['of texts', () => `{${own[kind]},"data":[${'"\\"",'.repeat(1_000_000)}""]}`],
    ['beyond what is held', () => `{${own[kind]},"data":"${'a'.repeat(17_000_000)}"}`],
  ]
  it.each(hostile)('%s passes with a word about it, or not at all', async (_what, write) => {
    const text = write()
    answer = { chunks: [text] }
    const { status, text: got, record } = await ask(kind, paths[kind])
    if (leads(kind)) {
      expect([status, record.error?.code]).toEqual([502, 'provider_bad_response'])
      expect(got).toContain('could not be read')
    } else {
      expect(status).toBe(200)
      expect(got === text).toBe(true)
      expect(record.routing_signals.at(-1)).toMatchObject({ rule: 'answer_not_read' })
    }
    expect(planes.get(kind)!.held()).toBe(0)
  })

  it('since it came compressed passes with a word about it, or not at all', async () => {
    answer = { headers: { 'content-encoding': 'gzip' }, chunks: [zlib.gzipSync(`{${own[kind]}}`)] }
    const { status, record } = await ask(kind, paths[kind])
    expect(status).toBe(leads(kind) ? 502 : 200)
    if (!leads(kind)) expect(record.routing_signals.at(-1)).toMatchObject({ rule: 'answer_not_read' })
  })
})

describe('a stream of the Gemini lane', () => {
  const lane = () => `${planes.get('gemini')!.baseUrl}/v1/gemini`
  const generate = '/v1/gemini/v1beta/models/gemini-model:streamGenerateContent'
  const file = (uri: string, more = '') =>
    `{"candidates":[{"content":{"parts":[{"fileData":{"fileUri":"${uri}"}}]}${more}}]}`

  it.each([
    ['in one piece', 1_000_000],
    ['byte by byte', 1],
  ])('leads back what a client would follow, %s', async (_how, size) => {
    const link = 'https://vertexaisearch.cloud.google.com/grounding-api-redirect/x'
    const grounded = `{"candidates":[{"groundingMetadata":{"groundingChunks":[{"web":{"uri":"${link}"}}]}}]}`
    const events = (base: string) => [
      `data: ${file(`${base}/v1beta/files/abc`)}\r\n\r\n`,
      `data: ${grounded}\n\n`,
      `data: {"candidates":[{"content":{"parts":[{"fileData":\ndata: {"fileUri":"${base}/v1beta/files/two"}}]}}]}\n\n`,
      `data: ${file(`${base}/v1beta/files/last`, ',"finishReason":"STOP"')}\n\n`,
    ]
    const text = events(origin).join('')
    const chunks = Array.from({ length: Math.ceil(text.length / size) }, (_, at) =>
      text.slice(at * size, (at + 1) * size),
    )
    answer = { headers: { 'content-type': 'text/event-stream' }, chunks }
    const { text: got, record } = await ask('gemini', `${generate}?alt=sse`, { contents: [] })
    expect(got).toBe(events(lane()).join(''))
    expect(record.routing_signals.filter(({ rule }) => rule === 'patch')).toHaveLength(1)
  })

  it('leads back as an array, and whole', async () => {
    const write = (base: string) => `[${file(`${base}/v1beta/files/abc`, ',"finishReason":"STOP"')}]`
    answer = { chunks: [write(origin)] }
    expect((await ask('gemini', generate, { contents: [] })).text).toBe(write(lane()))
    const whole = (base: string) => file(`${base}/v1beta/files/abc`, ',"finishReason":"STOP"')
    answer = { chunks: [whole(origin)] }
    expect((await ask('gemini', generate.replace('streamG', 'g'), { contents: [] })).text).toBe(whole(lane()))
  })

  it('of interactions leads back too, and says what it could not read', async () => {
    const event = (base: string) =>
      `event: step.delta\ndata: {"event_type":"step.delta","delta":{"file":{"uri":"${base}/v1beta/files/abc"}}}\n\n`
    const large = `data: {"event_type":"step.delta","delta":{"data":"${'a'.repeat(1_500_000)}"}}\n\n`
    const end = 'data: {"event_type":"interaction.completed","interaction":{"id":"i1"}}\n\ndata: [DONE]\n\n'
    answer = { headers: { 'content-type': 'text/event-stream' }, chunks: [event(origin), large, end] }
    const { text, record } = await ask('gemini', '/v1/gemini/v1beta/interactions', {
      model: 'gemini-model',
      input: 'x',
      stream: true,
    })
    expect(text === event(lane()) + large + end).toBe(true)
    expect(record.routing_signals).toContainEqual(expect.objectContaining({ rule: 'answer_not_read' }))
  })
})

describe('a stream', () => {
  it('of nothing but line ends passes as it is', async () => {
    const end = 'data: {"choices":[{"delta":{"content":"a"}}]}\n\ndata: [DONE]\n\n'
    answer = {
      headers: { 'content-type': 'text/event-stream' },
      chunks: ['\n'.repeat(3_000_000), '\r\n'.repeat(100_001), end],
    }
    const { text } = await ask('openai', '/v1/chat/completions', { model: 'openai-model', messages: [], stream: true })
    expect(text === answer.chunks.join('')).toBe(true)
  })
})
