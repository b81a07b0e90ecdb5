import http from 'node:http'
import zlib from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type DataPlane, startDataPlane } from '../support/data-plane.ts'
import { closeServer, listenOnPort } from '../support/listen.ts'
import { send } from '../support/raw-http.ts'

let provider: http.Server
let plane: DataPlane
let answer: { type: string; encoding: string; body: Buffer }

beforeAll(async () => {
  provider = http.createServer((request, response) => {
    const { type, encoding, body } = answer
    request.resume().on('end', () => {
      response.writeHead(200, { 'content-type': type, 'content-encoding': encoding })
      // In two pieces, since the end of one may come with the other.
      response.write(body.subarray(0, body.length / 2))
      setImmediate(() => response.end(body.subarray(body.length / 2)))
    })
  })
  const port = await listenOnPort(provider)
  plane = await startDataPlane({ providers: [{ kind: 'openai', baseUrl: `http://127.0.0.1:${port}/v1` }] })
})
afterAll(async () => {
  await plane.stop()
  closeServer(provider)
})

async function ask(given: typeof answer, stream = false) {
  answer = given
  const received = await send(`${plane.baseUrl}/v1/chat/completions`, {
    headers: [
      ['authorization', `Bearer ${plane.key}`],
      ['content-type', 'application/json'],
    ],
    body: JSON.stringify({ model: 'openai-model', messages: [], stream, stream_options: { include_usage: true } }),
  })
  expect(received.headers.get('content-encoding')).toBe(given.encoding)
  expect(received.body.equals(given.body)).toBe(true)
  return plane.record(received.requestId)
}

const usage = '"usage":{"prompt_tokens":7,"completion_tokens":3,"total_tokens":10}'
const whole = `{"id":"c","object":"chat.completion","choices":[{"message":{"content":"hi"}}],${usage}}`
const chunk = (rest: string) => `data: {"id":"c","object":"chat.completion.chunk",${rest}}\n\n`
const delta = chunk('"choices":[{"index":0,"delta":{"content":"hi"}}]')
const streamed = `${delta}${chunk(`"choices":[],${usage}`)}data: [DONE]\n\n`
const json = 'application/json'
const sse = 'text/event-stream'
const reported = { input: 7, output: 3, source: 'reported' }

describe('an answer that the provider compressed against its asking', () => {
  it.each([
    ['gzip', zlib.gzipSync],
    ['br', zlib.brotliCompressSync],
    ['deflate', zlib.deflateSync],
    ['zstd', zlib.zstdCompressSync],
  ])('passes as it came, and its usage is read: %s', async (encoding, compress) => {
    const body = (text: string) => compress(Buffer.from(text))
    expect((await ask({ type: json, encoding, body: body(whole) })).tokens).toMatchObject(reported)
    expect((await ask({ type: sse, encoding, body: body(streamed) }, true)).tokens).toMatchObject(reported)
    const large = whole.replace('"hi"', JSON.stringify('x'.repeat(3_000_000) + Math.random()))
    if (encoding !== 'gzip') return
    const record = await ask({ type: json, encoding, body: zlib.gzipSync(large, { level: 0 }) })
    expect(record.tokens).toMatchObject(reported)
  })

  it.each([
    ['inflates to too much', () => zlib.gzipSync(Buffer.concat([Buffer.alloc(80_000_000, 0x20), Buffer.from(whole)]))],
    ['is not what its content-encoding says', () => Buffer.from(whole)],
    ['is not what its content-encoding says', () => zlib.gzipSync(whole).subarray(0, -9)],
  ])('passes, with a note where it %s', async (reason, body) => {
    const record = await ask({ type: json, encoding: 'gzip', body: body() })
    expect([record.status, record.error, record.tokens]).toEqual([200, null, null])
    expect(record.routing_signals).toContainEqual({
      rule: 'usage',
      verdict: 'note',
      text: `The provider compressed its answer, and it ${reason}: its usage is not known.`,
    })
  })

  it('passes where nobody knows the encoding', async () => {
    expect(await ask({ type: json, encoding: 'compress', body: Buffer.from('x') })).toMatchObject({ tokens: null })
  })
})
