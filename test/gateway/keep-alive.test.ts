import http, { type ServerResponse } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type DataPlane, startDataPlane } from '../support/data-plane.ts'
import { closeServer, listen } from '../support/listen.ts'

let provider: http.Server
let plane: DataPlane
/** The provider's side of the next call, held until the test says what it does. */
let called = Promise.withResolvers<ServerResponse>()

beforeAll(async () => {
  provider = http.createServer((request, response) => {
    request.resume().on('end', () => called.resolve(response))
  })
  const baseUrl = await listen(provider)
  plane = await startDataPlane({
    keepAliveMs: 60,
    providers: [
      { kind: 'openai', baseUrl: `${baseUrl}/v1` },
      { kind: 'anthropic', baseUrl },
      { kind: 'gemini', baseUrl },
    ],
  })
})

afterAll(async () => {
  await plane.stop()
  closeServer(provider)
})

async function ask(path: string, body: object) {
  called = Promise.withResolvers()
  const headers = { authorization: `Bearer ${plane.key}`, 'content-type': 'application/json' }
  const answer = fetch(plane.baseUrl + path, { method: 'POST', headers, body: JSON.stringify(body) })
  return { upstream: await called.promise, answer }
}

const chat = { model: 'openai-model', stream: true, messages: [] }
const content = 'data: {"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"hi"}}]}\n\n'

describe('a silent stream', () => {
  it('is opened and kept alive before the provider has answered, and still gets its content', async () => {
    const { upstream, answer } = await ask('/v1/chat/completions', chat)
    const response = await answer
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toContain('text/event-stream')
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
    expect((await reader.read()).value).toContain(': keep-alive\n\n')
    upstream.writeHead(200, { 'content-type': 'text/event-stream' }).end(`${content}data: [DONE]\n\n`)
    let rest = ''
    for (let part = await reader.read(); !part.done; part = await reader.read()) rest += part.value
    expect(rest.replaceAll(': keep-alive\n\n', '')).toBe(`${content}data: [DONE]\n\n`)
  })

  it("ends in the lane's error event when nothing helps after it was opened", async () => {
    const { upstream, answer } = await ask('/v1/anthropic/v1/messages', {
      model: 'anthropic-model',
      max_tokens: 1,
      stream: true,
      messages: [],
    })
    const response = await answer
    upstream
      .writeHead(500, { 'content-type': 'application/json' })
      .end('{"type":"error","error":{"type":"api_error","message":"no"}}')
    const text = await response.text()
    expect(text.startsWith('event: ping\n')).toBe(true)
    expect(text).toContain('event: error\n')
    expect(text.endsWith('\n\n')).toBe(true)
    expect(response.headers.get('request-id')).toBe(response.headers.get('x-sp-request-id'))
  })

  it('gets nothing on the Gemini lane, whose SDKs do not bear it', async () => {
    const { upstream, answer } = await ask('/v1/gemini/v1beta/models/gemini-model:streamGenerateContent?alt=sse', {
      contents: [],
    })
    let answered = false
    void answer.then(() => (answered = true))
    // Two chat streams are opened and beaten meanwhile: by then a keep-alive here would have been due as well.
    for (let beat = 0; beat < 2; beat++) {
      const other = await ask('/v1/chat/completions', chat)
      await (await other.answer).body!.getReader().read()
      other.upstream.destroy()
    }
    expect(answered).toBe(false)
    const chunk = 'data: {"candidates":[{"content":{"parts":[{"text":"hi"}]},"finishReason":"STOP"}]}\r\n\r\n'
    upstream.writeHead(200, { 'content-type': 'text/event-stream' }).end(chunk)
    expect(await (await answer).text()).toBe(chunk)
  })
})

describe('preflight', () => {
  it('is answered without a key for configured origins only', async () => {
    const preflight = (origin: string) =>
      fetch(`${plane.baseUrl}/v1/chat/completions`, {
        method: 'OPTIONS',
        headers: { origin, 'access-control-request-method': 'POST' },
      })
    const allowed = await preflight('https://app.example')
    expect([allowed.status, allowed.headers.get('access-control-allow-origin')]).toEqual([204, 'https://app.example'])
    // An id is one of a record, and preflights have none.
    expect(allowed.headers.get('x-sp-request-id')).toBeNull()
    const foreign = await preflight('https://evil.example')
    expect([foreign.status, foreign.headers.get('access-control-allow-origin')]).toEqual([401, null])
  })
})
