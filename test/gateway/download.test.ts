import { createHash } from 'node:crypto'
import { once } from 'node:events'
import http, { type IncomingMessage, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { TimeLimits } from '../../src/core/lane.ts'
import { type DataPlane, startDataPlane } from '../support/data-plane.ts'
import { listen } from '../support/listen.ts'
import { until } from '../support/until.ts'

let provider: http.Server
let plane: DataPlane
let baseUrl: string
const sockets = new Set<Socket>()
/** How the provider answers the next calls. */
let act: (request: IncomingMessage, response: ServerResponse) => unknown = () => {}
let asked: IncomingMessage

beforeAll(async () => {
  provider = http.createServer((request, response) => {
    asked = request
    response.on('error', () => {})
    request.resume().once('end', () => act(request, response))
  })
  provider.on('connection', (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  baseUrl = `${await listen(provider)}/v1`
  plane = await startDataPlane({
    providers: [{ kind: 'openai', baseUrl }],
  })
  plane.ownAll()
})

afterAll(async () => {
  for (const socket of sockets) socket.destroy()
  await plane.stop()
  provider.close()
})

const content = '/files/file-1/content'
const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')

function ask(
  method: string,
  path: string,
  headers: Record<string, string> = {},
  body?: string | Buffer,
): http.ClientRequest {
  const all = { authorization: `Bearer ${plane.key}`, ...headers }
  const request = http.request(`${plane.baseUrl}/v1${path}`, { method, headers: all, agent: false })
  request.on('error', () => {}).end(body)
  return request
}

/** What is asked meanwhile goes to a thread of its own, with other limits. */
async function withLimits(timeouts: Partial<TimeLimits>, use: () => Promise<void>): Promise<void> {
  const usual = plane
  plane = await startDataPlane({ providers: [{ kind: 'openai', baseUrl }], timeouts })
  plane.ownAll()
  try {
    await use()
  } finally {
    await plane.stop()
    plane = usual
  }
}

/** On a busy machine the index may be later than a request waits for it. */
async function fetchAll(method: string, path: string, headers: Record<string, string> = {}) {
  for (;;) {
    const found = await answerOf(ask(method, path, headers))
    if (found.headers['x-sp-error'] !== 'object_index_unavailable') return found
  }
}

async function answerOf(request: http.ClientRequest) {
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  const chunks: Buffer[] = []
  let cut = false
  try {
    for await (const chunk of response) chunks.push(chunk)
  } catch {
    cut = true
  }
  return { status: response.statusCode, headers: response.headers, body: Buffer.concat(chunks), cut }
}

const get = (path: string, headers: Record<string, string> = {}) => fetchAll('GET', path, headers)
const post = (path: string, body: object) =>
  answerOf(
    ask('POST', path, { 'content-type': 'application/json' }, JSON.stringify({ model: 'openai-model', ...body })),
  )

function answer(status: number, headers: Record<string, string | number>, body: Buffer | string = ''): void {
  act = (_request, response) => response.writeHead(status, headers).end(body)
}

const octets = { 'content-type': 'application/octet-stream' }
const large = Buffer.alloc(6_000_000, 'any bytes \x00\xff\r\n')

describe('a download', () => {
  it.each([true, false])('comes byte for byte (length told: %s)', async (told) => {
    answer(200, told ? { ...octets, 'content-length': large.length } : octets, large)
    const { status, headers, body, cut } = await get(content)
    expect([status, cut, body.length]).toEqual([200, false, large.length])
    expect(sha256(body)).toBe(sha256(large))
    expect(headers['content-length']).toBe(told ? String(large.length) : undefined)
    expect(plane.newest()).toMatchObject({ operation: 'files.content', response_bytes: large.length, error: null })
  })

  it('may be of nothing', async () => {
    answer(200, { ...octets, 'content-length': 0 })
    expect(await get(content)).toMatchObject({ status: 200, body: Buffer.alloc(0), cut: false })
    expect(plane.newest()).toMatchObject({ status: 200, error: null })
  })

  it('can be asked for in parts', async () => {
    answer(206, { ...octets, 'content-range': 'bytes 2-4/9' }, 'cde')
    const { status, headers, body } = await get(content, { range: 'bytes=2-4', 'if-range': '"x"' })
    expect([status, headers['content-range'], body.toString()]).toEqual([206, 'bytes 2-4/9', 'cde'])
    expect(asked.headers).toMatchObject({ range: 'bytes=2-4', 'if-range': '"x"' })
    answer(416, { 'content-range': 'bytes */9' })
    const beyond = await get(content, { range: 'bytes=10-' })
    expect([beyond.status, beyond.headers['content-range']]).toEqual([416, 'bytes */9'])
  })

  it('that is no download is not asked for in parts', async () => {
    answer(200, { 'content-type': 'application/json' }, '{}')
    await get('/files/file-1', { range: 'bytes=2-4' })
    expect(asked.url).toBe('/v1/files/file-1')
    expect(asked.headers).not.toHaveProperty('range')
  })

  it('that breaks off ends in a cut connection, on the record', async () => {
    act = (_request, response) => {
      response.writeHead(200, { ...octets, 'content-length': large.length + 1 })
      response.write(large, () => response.socket!.destroySoon())
    }
    expect(await get(content)).toMatchObject({ status: 200, cut: true })
    expect(plane.newest()).toMatchObject({ status: 200, error: { code: 'provider_bad_response' } })
    act = (_request, response) => {
      response.writeHead(200, { ...octets, 'content-length': 100 }).flushHeaders()
      setImmediate(() => response.socket!.destroySoon())
    }
    expect(await get(content)).toMatchObject({ status: 502, cut: false })
  })

  it('goes on for longer than a whole call may take, as long as it goes on', async () => {
    act = async (_request, response) => {
      response.writeHead(200, octets)
      for (let chunk = 0; chunk < 5; chunk++) {
        response.write('x')
        await new Promise((resolve) => setTimeout(resolve, 400))
      }
      response.end()
    }
    await withLimits({ total: 1600 }, async () => {
      expect(await get(content)).toMatchObject({ status: 200, cut: false, body: Buffer.from('xxxxx') })
    })
  })

  it('waits for a client that reads slowly, and for none that does not read at all', async () => {
    let written = 0
    act = async (_request, response) => {
      response.setMaxListeners(0).writeHead(200, octets)
      const piece = Buffer.alloc(250_000)
      for (; written < 50_000_000 && !response.destroyed; written += piece.length)
        if (!response.write(piece)) await Promise.race([once(response, 'drain'), once(response, 'close')])
    }
    await withLimits({ betweenChunks: 1500 }, async () => {
      let request = ask('GET', content)
      for (;;) {
        const [response] = (await once(request, 'response')) as [IncomingMessage]
        response.pause()
        if (response.statusCode === 200) break
        request.destroy()
        request = ask('GET', content)
      }
      await until(() => plane.newest()?.error?.code === 'client_closed' && plane.newest()?.status === 499)
      expect(written).toBeLessThan(50_000_000)
      await until(() => plane.inFlight() === 0)
      request.destroy()
    })
  })
})

describe('an answer', () => {
  it('of speech is its bytes', async () => {
    answer(200, { 'content-type': 'audio/mpeg' }, large)
    const { status, headers, body } = await post('/audio/speech', { input: 'a', voice: 'b' })
    expect([status, headers['content-type'], sha256(body)]).toEqual([200, 'audio/mpeg', sha256(large)])
  })

  it('of images has its usage at its end, however large it is', async () => {
    const usage = { input_tokens: 5, output_tokens: 7, total_tokens: 12 }
    answer(
      200,
      { 'content-type': 'application/json' },
      JSON.stringify({ data: [{ b64_json: 'A'.repeat(6_000_000) }], usage }),
    )
    const { status, body } = await post('/images/generations', { prompt: 'a' })
    expect([status, body.length > 6_000_000]).toEqual([200, true])
    expect(plane.newest()).toMatchObject({ tokens: { input: 5, output: 7, source: 'reported' } })
  })

  it.each([
    ['DELETE', '/files/file-1', 204, 204],
    ['DELETE', '/files/file-1', 200, 200],
    ['POST', '/chat/completions', 200, 502],
    ['POST', '/chat/completions', 204, 502],
  ])('may be empty where no model is asked: %s %s with %i', async (method, path, status, expected) => {
    answer(status, {})
    const found = method === 'DELETE' ? await fetchAll(method, path) : await post(path, {})
    expect(found.status).toBe(expected)
    if (expected === 204) expect(found.headers).not.toHaveProperty('content-length')
  })

  it.each<[string, string, number]>([
    ['text/plain; charset=utf-8', 'just words', 200],
    ['text/vtt', 'WEBVTT\n\n', 200],
    ['application/x-subrip', '1\n', 200],
    ['application/json', '{"text":"words"}', 200],
    ['application/json', 'just words', 502],
  ])('of a transcription may be text: %s', async (type, body, expected) => {
    answer(200, { 'content-type': type }, body)
    const form = Buffer.from('--b\r\ncontent-disposition: form-data; name="model"\r\n\r\nopenai-model\r\n--b--\r\n')
    const request = ask('POST', '/audio/transcriptions', { 'content-type': 'multipart/form-data; boundary=b' }, form)
    const found = await answerOf(request)
    expect(found.status).toBe(expected)
    if (expected === 200) expect(found.body.toString()).toBe(body)
  })
})

describe('HEAD', () => {
  it.each(['/models', '/models/openai-model'])('of the gateway’s own %s is its answer without a body', async (path) => {
    const whole = await get(path)
    const head = await fetchAll('HEAD', path)
    expect(whole.status).toBe(200)
    expect(head).toMatchObject({ status: 200, body: Buffer.alloc(0) })
    expect(head.headers['content-length']).toBe(whole.headers['content-length'])
  })

  it('asks the provider as GET does, and fetches no more than it must', async () => {
    let closed = false
    act = (_request, response) => {
      response.once('close', () => (closed = !response.writableFinished))
      response.writeHead(200, { ...octets, 'content-length': 100_000_000, etag: '"x"' })
      response.write(large)
    }
    const head = await fetchAll('HEAD', content)
    expect(head).toMatchObject({
      status: 200,
      body: Buffer.alloc(0),
      headers: { 'content-length': '100000000', etag: '"x"' },
    })
    expect(asked.method).toBe('GET')
    await until(() => closed)
    answer(200, { 'content-type': 'application/json' }, '{"id":"file-1"}')
    expect(await fetchAll('HEAD', '/files/file-1')).toMatchObject({
      status: 200,
      headers: { 'content-length': '15' },
    })
    answer(404, { 'content-type': 'application/json' }, '{"error":{}}')
    expect(await fetchAll('HEAD', '/files/file-1')).toMatchObject({ status: 404, body: Buffer.alloc(0) })
  })

  it('of what can only be posted to is not there', async () => {
    expect((await fetchAll('HEAD', '/chat/completions')).status).toBe(404)
  })
})

describe('OPTIONS', () => {
  const preflight = (origin: string) =>
    answerOf(
      ask('OPTIONS', '/files', {
        origin,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'x-a',
      }),
    )

  it('is answered for origins that are allowed, without a key', async () => {
    const { status, headers } = await preflight('https://app.example')
    expect(status).toBe(204)
    expect(headers).toMatchObject({
      'access-control-allow-origin': 'https://app.example',
      'access-control-allow-headers': 'x-a',
      'access-control-allow-methods': expect.stringContaining('HEAD'),
    })
    const other = await preflight('https://evil.example')
    expect(other.status).toBe(404)
    expect(other.headers).not.toHaveProperty('access-control-allow-origin')
  })
})
