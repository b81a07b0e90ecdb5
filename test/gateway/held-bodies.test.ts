import { once } from 'node:events'
import http, { type IncomingMessage } from 'node:http'
import zlib from 'node:zlib'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type DataPlane, startDataPlane } from '../support/data-plane.ts'
import { listen } from '../support/listen.ts'

let provider: http.Server
let providerUrl: string
let plane: DataPlane

beforeAll(async () => {
  provider = http.createServer(async (request, response) => {
    let size = 0
    for await (const chunk of request) size += (chunk as Buffer).length
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ choices: [], size }))
  })
  providerUrl = `${await listen(provider)}/v1`
  const providers = [{ kind: 'openai', baseUrl: providerUrl }]
  plane = await startDataPlane({ providers, bodyLimit: 5_000_000, heldLimit: 5 * 1024 * 1024 })
})

afterAll(async () => {
  provider.closeAllConnections()
  await plane.stop()
  provider.close()
})

/** All of it is given back. A client has its answer a moment before the gateway is through with the call. */
async function letGo(): Promise<void> {
  while (plane.held() > 0) await new Promise((resolve) => setTimeout(resolve, 2))
}

afterEach(letGo)

const boundary = 'the-boundary'
const kinds = {
  json: {
    path: 'chat/completions',
    type: 'application/json',
    head: '{"model":"openai-model","messages":[], "a":"',
    end: '"}',
  },
  form: {
    path: 'audio/transcriptions',
    type: `multipart/form-data; boundary=${boundary}`,
    head: `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n`,
    end: `\r\n--${boundary}\r\nContent-Disposition: form-data; name="model"\r\n\r\nopenai-model\r\n--${boundary}--\r\n`,
  },
}

function post(kind: keyof typeof kinds, more: Record<string, string | number> = {}): http.ClientRequest {
  const { path, type } = kinds[kind]
  const headers = { authorization: `Bearer ${plane.key}`, 'content-type': type, ...more }
  const request = http.request(`${plane.baseUrl}/v1/${path}`, { method: 'POST', headers, agent: false })
  request.on('error', () => {})
  return request
}

/** Of a body that is not at its end, so that it is held. */
async function holdOpen(kind: keyof typeof kinds, bytes: number): Promise<http.ClientRequest> {
  const request = post(kind)
  const before = plane.held()
  request.write(kinds[kind].head)
  request.write(Buffer.alloc(bytes, 'a'))
  while (plane.held() < before + bytes) await new Promise((resolve) => setTimeout(resolve, 2))
  return request
}

async function answerOf(request: http.ClientRequest) {
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  let text = ''
  for await (const chunk of response) text += chunk
  return { status: response.statusCode ?? 0, code: response.headers['x-sp-error'], headers: response.headers, text }
}

const full = { status: 503, code: 'overloaded', text: expect.stringContaining('gateway.held_limit') }

describe.each(['json', 'form'] as const)('large bodies (%s)', (kind) => {
  it('are held together up to the limit, and no further; small ones always', async () => {
    const open = [await holdOpen(kind, 2_000_000), await holdOpen(kind, 2_000_000)]
    const third = post(kind)
    third.write(kinds[kind].head)
    third.write(Buffer.alloc(2_000_000, 'a'))
    // Not at its end: what it has sent is enough.
    const refused = await answerOf(third)
    expect(refused).toMatchObject(full)
    expect(refused.headers['retry-after']).toBe('2')
    third.destroy()
    const small = post(kind)
    small.end(kinds[kind].head + kinds[kind].end)
    expect((await answerOf(small)).status).toBe(200)

    for (const request of open) request.end(kinds[kind].end)
    // Either may be answered first.
    for (const { status } of await Promise.all(open.map(answerOf))) expect(status).toBe(200)
  })

  it('of clients that hang up make room', async () => {
    const open = await holdOpen(kind, 4_000_000)
    open.destroy()
    await letGo()
    const next = await holdOpen(kind, 4_000_000)
    next.end(kinds[kind].end)
    expect((await answerOf(next)).status).toBe(200)
  })
})

describe('a body', () => {
  it('that announces more than there is room for is not even asked for', async () => {
    const open = await holdOpen('json', 3_000_000)
    const request = post('json', { 'content-length': 3_000_000, expect: '100-continue' })
    let asked = false
    request.on('continue', () => (asked = true))
    request.flushHeaders()
    expect(await answerOf(request)).toMatchObject(full)
    expect(asked).toBe(false)
    request.destroy()
    open.end(kinds.json.end)
    expect((await answerOf(open)).status).toBe(200)
  })

  it('is counted as it is uncompressed', async () => {
    const open = await holdOpen('json', 2_000_000)
    const body = Buffer.from(`${kinds.json.head}${'ab1'.repeat(1_500_000)}${kinds.json.end}`)
    const request = post('json', { 'content-encoding': 'br' })
    // Little enough compressed, and not too much times.
    request.end(
      Buffer.concat([
        zlib.brotliCompressSync(body, {
          params: { [zlib.constants.BROTLI_PARAM_LGWIN]: 10, [zlib.constants.BROTLI_PARAM_QUALITY]: 0 },
        }),
      ]),
    )
    expect(await answerOf(request)).toMatchObject(full)
    open.end(kinds.json.end)
    expect((await answerOf(open)).status).toBe(200)
  })

  it('as large as the limit finds room, though that is no whole number of steps', async () => {
    const bodyLimit = 2_000_000
    const small = await startDataPlane({
      providers: [{ kind: 'openai', baseUrl: providerUrl }],
      bodyLimit,
      heldLimit: bodyLimit,
    })
    const { head, end, path } = kinds.json
    const body = head + 'a'.repeat(bodyLimit - head.length - end.length) + end
    const headers = { authorization: `Bearer ${small.key}`, 'content-type': kinds.json.type }
    const answer = await fetch(`${small.baseUrl}/v1/${path}`, { method: 'POST', headers, body })
    expect([answer.status, await answer.json()]).toEqual([200, { choices: [], size: bodyLimit }])
    await small.stop()
  })

  it('that could never be held is too large, whatever else is', async () => {
    const request = post('json', { 'content-length': 5_000_001 })
    request.flushHeaders()
    expect((await answerOf(request)).status).toBe(413)
    request.destroy()
  })
})
