import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type LaneCall, laneCalls } from '../support/lane-calls.ts'
import { expectLaneError } from '../support/lane-errors.ts'
import { sha256 } from '../support/mock-provider.ts'
import { type RawAnswer, send } from '../support/raw-http.ts'
import { half } from '../support/shows/is-whole.ts'
import { type Stage, setStage } from '../support/stage.ts'

// Each file of `passed` is a body that every lane accepts for the model `odd`, one oddity a file; the same bytes
// serve as an answer on the way back. Each file of `refused` is answered `invalid_request` before any provider sees it.
// A lane takes every second one, the next lane the others, so that each is seen (`npm run shows`: each on all lanes).
const fixtures = join(import.meta.dirname, '../fixtures/bodies')
const passed = readBodies('passed')
const refused = readBodies('refused')

function readBodies(folder: string): { name: string; body: Buffer }[] {
  const files = readdirSync(join(fixtures, folder)).sort()
  return files.map((file) => ({ name: file.replace('.json', ''), body: readFileSync(join(fixtures, folder, file)) }))
}

let stage: Stage
let small: string

beforeAll(async () => {
  stage = await setStage()
  await stage.gateway.addRoute('odd', ['openai'])
  await stage.gateway.admin.policies.add({ name: 'small', maxBody: '1KB' })
  small = (await stage.gateway.createKey('small', { policy: 'small' })).key
})
afterAll(() => stage.close())

function post(lane: LaneCall, body: Buffer, stream = false): Promise<RawAnswer> {
  const headers: [string, string][] = [['content-type', 'application/json'], lane.credential(stage.key)]
  return send(stage.gateway.baseUrl + lane.call('odd', { stream }).path, { headers, body })
}

/** One name for all lanes: a provider of another format would be asked in translation. */
async function leadTo(lane: LaneCall['lane']): Promise<void> {
  await stage.gateway.admin.routes.edit({ model: 'odd', targets: [lane] })
}

describe.each(laneCalls)('bodies on the $lane lane', (lane) => {
  beforeAll(() => leadTo(lane.lane))
  const turn = laneCalls.indexOf(lane)

  it.each(half(passed, turn))('$name goes up and comes down byte for byte', async ({ body }) => {
    const mock = stage.mocks[lane.lane]
    mock.next({ body })
    const answer = await post(lane, body)
    expect([answer.status, answer.body.toString()]).toEqual([200, body.toString()])
    expect(sha256(answer.body)).toBe(sha256(body))
    expect(mock.last.sha256).toBe(sha256(body))
    // Whatever the answer says of its usage, it can be stored.
    expect(await stage.gateway.record(answer.requestId)).toMatchObject({ status: 200, error: null })
    stage.assertClean()
  })

  it('a body that comes in chunks of no stated length', async () => {
    const mock = stage.mocks[lane.lane]
    const { path } = lane.call('odd')
    const [name, value] = lane.credential(stage.key)
    const pieces = ['{"model":"o', 'dd","messages":[],"cont', 'ents":[],"max_tokens"', ':1}']
    const answer = await fetch(stage.gateway.baseUrl + path, {
      method: 'POST',
      headers: { [name]: value, 'content-type': 'application/json' },
      body: ReadableStream.from(pieces.map((piece) => Buffer.from(piece))),
      duplex: 'half',
    })
    expect(answer.status).toBe(200)
    await answer.arrayBuffer()
    expect(mock.last.body.toString()).toBe(pieces.join(''))
    expect(mock.last.headers.get('content-length')).toBe(String(mock.last.body.length))
  })

  it('a body over the limit is refused with a status that the client gets to see', async () => {
    const calls = stage.mocks[lane.lane].requests.length
    const headers: [string, string][] = [['content-type', 'application/json'], lane.credential(small)]
    const body = `{"model":"odd","messages":[],"x":"${'x'.repeat(8_000_000)}"}`
    const answer = await send(stage.gateway.baseUrl + lane.call('odd').path, { headers, body })
    expectLaneError(lane.lane, answer, 'request_too_large')
    expect(stage.mocks[lane.lane].requests.length).toBe(calls)
    expect(await stage.gateway.record(answer.requestId)).toMatchObject({ error: { code: 'request_too_large' } })
  })

  const inPath = (name: string) => lane.lane === 'gemini' && /^(model|stream)-/.test(name)
  it.each(half(refused, turn).filter(({ name }) => !inPath(name)))(
    '$name is refused before any provider sees it',
    async ({ body }) => {
      const mock = stage.mocks[lane.lane]
      const calls = mock.requests.length
      const answer = await post(lane, body)
      expectLaneError(lane.lane, answer, 'invalid_request')
      expect(mock.requests.length).toBe(calls)
      const record = await stage.gateway.record(answer.requestId)
      expect(record).toMatchObject({ status: 400, request_bytes: body.length, error: { code: 'invalid_request' } })
    },
  )

  const large: [string, () => string][] = [
    ['one string', () => JSON.stringify('x"\\é🌍'.repeat(1_900_000))],
    [
      'many small objects',
      () => `[${Array.from({ length: 480_000 }, (_, n) => `{"role":"user","content":"${n} \\u00e9 {"}`).join(',')}]`,
    ],
  ]
  it.each(half(large, turn))('20 MB of %s, both ways', async (_name, make) => {
    const mock = stage.mocks[lane.lane]
    const body = Buffer.from(`{"x":${make()},"messages":[],"contents":[], "max_tokens":1,"model":"odd"}\n`)
    expect(body.length).toBeGreaterThan(20_000_000)
    mock.next({ body })
    const answer = await post(lane, body)
    expect(answer.status).toBe(200)
    expect(mock.last.sha256).toBe(sha256(body))
    expect(sha256(answer.body)).toBe(sha256(body))
    expect(await stage.gateway.record(answer.requestId)).toMatchObject({
      request_bytes: body.length,
      response_bytes: body.length,
    })
  })
})

/** Streams as servers may write them; each holds content and its lane's end. */
const streams: { lane: LaneCall['lane']; name: string; text: string }[] = [
  {
    lane: 'openai',
    name: 'carriage returns, comments, no space after the colon, other fields',
    text: ': hi\r\n\r\nid: 7\r\nretry: 10\r\ndata:{"choices":[{"index":0,"delta":{"content":"a"}}]}\r\n\r\n:\r\n\r\ndata: [DONE]\r\n\r\n',
  },
  {
    lane: 'openai',
    name: 'one event in several data lines',
    text: 'data: {"choices":[{"index":0,\ndata: "delta":{"content":"a"}}]}\n\ndata: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n',
  },
  {
    lane: 'openai',
    name: 'bare carriage returns',
    text: 'data: {"choices":[{"index":0,"delta":{"content":"a"}}]}\r\rdata: [DONE]\r\r',
  },
  {
    lane: 'openai',
    name: 'empty blocks and unknown chunks',
    text: '\n\n\ndata: {"object":"tomorrow"}\n\ndata: {"choices":[{"index":0,"delta":{"content":"\\ud83c"}}]}\n\n\n\ndata: [DONE]\n\n',
  },
  {
    lane: 'anthropic',
    name: 'unknown events, pings and comments anywhere',
    text: ': c\n\nevent: message_start\ndata: {"type":"message_start","message":{"usage":{"input_tokens":1,"output_tokens":1}}}\n\nevent: tomorrow\ndata: {"type":"tomorrow","x":1e400}\n\nevent: ping\ndata: {"type": "ping"}\n\nevent: content_block_start\ndata: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}\n\nevent: ping\ndata: {"type": "ping"}\n\nevent: message_stop\ndata: {"type":"message_stop"}\n\n',
  },
  {
    lane: 'anthropic',
    name: 'carriage returns, and data before its event line',
    text: 'data: {"type":"message_start","message":{}}\r\nevent: message_start\r\n\r\nevent:content_block_start\r\ndata:{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}\r\n\r\nevent: message_stop\r\ndata: {"type":"message_stop"}\r\n\r\n',
  },
  {
    lane: 'gemini',
    name: 'single line feeds',
    text: 'data: {"candidates":[{"content":{"parts":[{"text":"a"}]}}]}\n\ndata: {"candidates":[{"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":3}}\n\n',
  },
  {
    lane: 'gemini',
    name: 'an indented element over several data lines, and a usage chunk after the last',
    text: 'data: {"candidates":[\r\ndata: {"content":{"parts":[{"text":"a"}]},"finishReason":"STOP"}]}\r\n\r\ndata: {"usageMetadata":{"promptTokenCount":3}}\r\n\r\n',
  },
]

describe.each(streams)('a stream of the $lane lane with $name', ({ lane, text }) => {
  beforeAll(() => leadTo(lane))

  const call = laneCalls.find((candidate) => candidate.lane === lane)

  it.each([false, true])('comes down byte for byte (one byte at a time: %s)', async (oneByteChunks) => {
    if (call === undefined) throw new Error('no such lane')
    stage.mocks[lane].next({ events: [text], oneByteChunks })
    const answer = await post(call, Buffer.from(call.call('odd', { stream: true }).body), true)
    expect([answer.status, answer.body.toString()]).toEqual([200, text])
    expect(await stage.gateway.record(answer.requestId)).toMatchObject({ status: 200, error: null, streamed: true })
  })
})
