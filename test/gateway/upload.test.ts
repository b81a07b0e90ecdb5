import { createHash } from 'node:crypto'
import { once } from 'node:events'
import http, { type IncomingMessage, type ServerResponse } from 'node:http'
import net, { type Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type DataPlane, startDataPlane } from '../support/data-plane.ts'
import { listen } from '../support/listen.ts'
import { makeRoute, makeTarget } from '../support/snapshot.ts'
import { type TakenCall, takeCall } from '../support/taken-call.ts'
import { until } from '../support/until.ts'

type Act = (request: IncomingMessage, response: ServerResponse) => unknown

let provider: http.Server
let plane: DataPlane
/** On which nobody may stand still for long. */
let hasty: DataPlane
let origin: string
/** What the provider does with its next calls instead of answering them well. */
const acts: Act[] = []
const got: TakenCall[] = []
const sockets = new Set<Socket>()

function take(request: IncomingMessage): Promise<TakenCall> {
  const { call, whole } = takeCall(request)
  got.push(call)
  return whole
}

beforeAll(async () => {
  provider = http.createServer(async (request, response) => {
    response.on('error', () => {})
    const act = acts.shift()
    if (act !== undefined) return void act(request, response)
    await take(request)
    response.setHeader('content-type', 'application/json').end('{"id":"file-1","text":"hello"}')
  })
  provider.on('connection', (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  origin = await listen(provider)
  plane = await startDataPlane({
    providers: [
      { kind: 'openai', baseUrl: `${origin}/v1`, credentials: ['one', 'two'] },
      { kind: 'openai-compatible', baseUrl: 'http://127.0.0.1:1/v1' },
    ],
    routes: [
      makeRoute('renamed', [makeTarget('openai:a-much-longer-name')], { retries: 0 }),
      makeRoute('fallen', [makeTarget('openai-compatible'), makeTarget('openai')], { retries: 0 }),
      makeRoute('retried', [makeTarget('openai')], { retries: 1 }),
    ],
    bodyLimit: 3_000_000,
    uploadLimit: 90_000_000,
  })
  hasty = await startDataPlane({
    providers: [{ kind: 'openai', baseUrl: `${origin}/v1` }],
    timeouts: { betweenChunks: 700 },
  })
})

afterAll(async () => {
  for (const socket of sockets) socket.destroy()
  await plane.stop()
  await hasty.stop()
  provider.close()
})

afterEach(() => {
  got.length = 0
  acts.length = 0
})

const boundary = 'the-boundary'
const type = `multipart/form-data; boundary=${boundary}`

function field(name: string, value: string): Buffer {
  return Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`)
}

function file(bytes: number): Buffer {
  const head = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="a.bin"\r\nContent-Type: application/octet-stream\r\n\r\n`
  return Buffer.concat([Buffer.from(head), Buffer.alloc(bytes, 'spgw\r\n--the-bound'), Buffer.from('\r\n')])
}

const end = Buffer.from(`--${boundary}--\r\n`)
const form = (...parts: Buffer[]) => Buffer.concat([...parts, end])
const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')

interface Answer {
  status: number
  headers: http.IncomingHttpHeaders
  text: string
}

function start(path: string, headers: Record<string, string | number> = {}, at = plane): http.ClientRequest {
  // A call that names no model must say which of the two providers is meant.
  const named = path === '/files' ? { 'x-sp-provider': 'openai' } : {}
  const all = { authorization: `Bearer ${at.key}`, 'content-type': type, ...named, ...headers }
  const request = http.request(`${at.baseUrl}/v1${path}`, { method: 'POST', headers: all })
  return request.on('error', () => {}).setMaxListeners(100)
}

async function answerOf(request: http.ClientRequest): Promise<Answer> {
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  let text = ''
  try {
    for await (const chunk of response) text += chunk
  } catch {
    text += ' [cut]'
  }
  return { status: response.statusCode ?? 0, headers: response.headers, text }
}

async function post(path: string, body: Buffer, headers: Record<string, string | number> = {}): Promise<Answer> {
  const request = start(path, { 'content-length': body.length, ...headers })
  request.end(body)
  return answerOf(request)
}

const large = 8_000_000
/** More than the kernel holds between two ends of two connections. */
const huge = 80_000_000

describe('an upload', () => {
  it.each([
    ['small', 1000],
    ['large', large],
  ])('goes up byte for byte with its length (%s)', async (_name, bytes) => {
    const body = form(field('purpose', 'batch'), file(bytes))
    const answer = await post('/files', body)
    expect(answer).toMatchObject({ status: 200, text: expect.stringContaining('file-1') })
    expect(got).toMatchObject([{ url: '/v1/files', bytes: body.length, sha256: sha256(body), ended: true }])
    expect(got[0]?.headers).toMatchObject({ 'content-length': String(body.length), 'content-type': type })
    const record = await plane.record(String(answer.headers['x-sp-request-id']))
    expect(record).toMatchObject({ operation: 'files.create', status: 200, request_bytes: body.length, error: null })
  })

  it('goes up in chunks where its length is not known, and asked for where its client waits', async () => {
    const body = form(file(large))
    const request = start('/files', { expect: '100-continue', trailer: 'x-checksum' })
    request.flushHeaders()
    await once(request, 'continue')
    request.write(body)
    request.addTrailers({ 'x-checksum': '1' })
    request.end()
    expect((await answerOf(request)).status).toBe(200)
    expect(got).toMatchObject([{ sha256: sha256(body), headers: { 'transfer-encoding': 'chunked' } }])
    expect(got[0]?.headers).not.toHaveProperty('trailer')
  })

  it('holds a form until it knows its model, wherever that stands, and gives it the name that the route says', async () => {
    const early = form(field('model', 'renamed'), file(large))
    const late = form(file(2_000_000), field('model', 'renamed'))
    for (const body of [early, late]) {
      const answer = await post('/images/edits', body)
      expect(answer.status).toBe(200)
      const renamed = Buffer.from(body.toString('latin1').replace('renamed', 'a-much-longer-name'), 'latin1')
      expect(got.pop()).toMatchObject({ bytes: renamed.length, sha256: sha256(renamed), ended: true })
      const record = await plane.record(String(answer.headers['x-sp-request-id']))
      expect(record).toMatchObject({ model: 'renamed', upstream_model: 'a-much-longer-name' })
      expect(record.routing_signals).toContainEqual(expect.objectContaining({ rule: 'patch' }))
    }
  })

  it.each<[string, Buffer, number, string]>([
    ['without a model', form(file(10)), 400, '`model` is missing'],
    [
      'with a model behind too much',
      form(file(4_000_000), field('model', 'retried')),
      413,
      'send `model` before the file',
    ],
    ['with two models', form(field('model', 'retried'), field('model', 'renamed')), 400, 'given twice'],
    [
      'with a second model behind its file',
      form(field('model', 'retried'), file(large), field('model', 'x')),
      400,
      'given twice',
    ],
    ['without an end', Buffer.concat([field('model', 'retried'), file(10)]), 400, 'its end is missing'],
    [
      'of another boundary',
      Buffer.from(form(field('model', 'x')).toString().replaceAll(boundary, 'another')),
      400,
      'does not begin',
    ],
    ['that is none', Buffer.from('{"model":"retried"}'), 400, 'not a form'],
    ...['api_base', 'api_key', 'custom_llm_provider', 'fallbacks', 'models'].map(
      (name): [string, Buffer, number, string] => [
        `with ${name}`,
        form(field('model', 'retried'), field(name, 'x'), file(10)),
        400,
        `\`${name}\` would lead this call elsewhere than its route does`,
      ],
    ),
    [
      'with a server behind its file',
      form(field('model', 'retried'), file(large), field('api_base', 'http://x')),
      400,
      '`api_base` comes too late',
    ],
  ])('of a form %s is refused, and nothing whole goes up', async (_name, body, status, text) => {
    const answer = await post('/audio/transcriptions', body)
    expect(answer).toMatchObject({ status, text: expect.stringContaining(text) })
    expect(got.filter(({ ended }) => ended)).toEqual([])
    const record = await plane.record(String(answer.headers['x-sp-request-id']))
    expect(record).toMatchObject({ status, error: { origin: 'client' } })
  })

  it('of a form that names no model passes as it is, however odd', async () => {
    const odd = Buffer.from('no form at all')
    for (const contentType of [type, 'multipart/form-data', 'text/plain'])
      expect((await post('/files', odd, { 'content-type': contentType })).status).toBe(200)
    expect(got.map(({ sha256: hash }) => hash)).toEqual(Array.from({ length: 3 }, () => sha256(odd)))
  })

  it('that is compressed passes as it is, unless it must be read', async () => {
    const body = gzipSync(form(field('model', 'retried'), file(1000)))
    const answer = await post('/files', body, { 'content-encoding': 'gzip' })
    expect(answer.status).toBe(200)
    expect(got).toMatchObject([{ sha256: sha256(body), headers: { 'content-encoding': 'gzip' } }])
    const read = await post('/audio/transcriptions', body, { 'content-encoding': 'gzip' })
    expect(read).toMatchObject({ status: 400, text: expect.stringContaining('send it uncompressed') })
  })

  it.each([true, false])('beyond the limit is refused (length told: %s)', async (told) => {
    const piece = Buffer.alloc(1_000_000)
    const request = start('/files', told ? { 'content-length': 91_000_000 } : {})
    const answer = answerOf(request)
    for (let sent = 0; sent < 91; sent++)
      if (!request.write(piece)) await Promise.race([once(request, 'drain'), answer])
    expect(await answer).toMatchObject({ status: 413, text: expect.stringContaining('90 MB') })
    expect(got.every(({ ended }) => !ended)).toBe(true)
    request.destroy()
  })
})

describe('a failure', () => {
  it('is tried again as long as all of the body is held', async () => {
    const body = form(field('model', 'retried'), file(500_000))
    acts.push(async (request, response) => {
      await take(request)
      response.writeHead(503, { 'content-type': 'application/json' }).end('{}')
    })
    const answer = await post('/audio/transcriptions', body)
    expect(answer.status).toBe(200)
    expect(got.map(({ sha256: hash }) => hash)).toEqual([sha256(body), sha256(body)])
  })

  it('to connect leaves the body as it was, however large', async () => {
    const body = form(field('model', 'fallen'), file(large))
    const answer = await post('/audio/transcriptions', body)
    expect(answer.status).toBe(200)
    expect(got.map(({ sha256: hash }) => hash)).toEqual([sha256(body)])
    const record = await plane.record(String(answer.headers['x-sp-request-id']))
    expect(record.attempts.map(({ outcome }) => outcome)).toEqual(['provider_unreachable', 'answered'])
  })

  it('is the outcome once more has gone than is held', async () => {
    const body = form(field('model', 'retried'), file(large))
    acts.push(async (request, response) => {
      await take(request)
      response.writeHead(503, { 'content-type': 'application/json' }).end('{"error":{"message":"busy"}}')
    })
    const answer = await post('/audio/transcriptions', body)
    expect(answer).toMatchObject({ status: 503, text: expect.stringContaining('busy') })
    expect(got.length).toBe(1)
    const record = await plane.record(String(answer.headers['x-sp-request-id']))
    expect(record.routing_signals).toContainEqual(expect.objectContaining({ rule: 'upload' }))
  })

  it('before the body is over is handed on, while the client is still sending', async () => {
    acts.push((request, response) => {
      response.writeHead(413, { 'content-type': 'application/json' })
      response.end('{"error":{"message":"too large for me"}}')
      // One that closes without reading on resets the connection, and its answer may be lost with it.
      request.resume()
    })
    const answer = await post('/files', form(file(large)))
    expect(answer).toMatchObject({ status: 413, text: expect.stringContaining('too large for me') })
    expect((await post('/files', form(file(10)))).status).toBe(200)
  })

  it('of the connection in the middle ends in an error that is recorded', async () => {
    acts.push((request) => request.once('data', () => request.socket.resetAndDestroy()))
    const answer = await post('/files', form(file(large)))
    expect(answer.status).toBe(502)
    const record = await plane.record(String(answer.headers['x-sp-request-id']))
    expect(record).toMatchObject({ error: { code: 'provider_unreachable' } })
  })

  it('of a provider that takes no more ends after between_chunks', async () => {
    acts.push((request) => request.pause())
    const request = start('/files', { 'content-length': huge }, hasty)
    request.end(Buffer.alloc(huge))
    expect(await answerOf(request)).toMatchObject({ status: 504, text: expect.stringContaining('took no more') })
    expect(hasty.newest()).toMatchObject({ error: { code: 'provider_timeout' } })
  })
})

describe('a client', () => {
  it('that stops sending is told so, and its call is cut', async () => {
    const request = start('/files', { 'content-length': large }, hasty)
    request.write(file(1000))
    expect(await answerOf(request)).toMatchObject({
      status: 400,
      text: expect.stringContaining('did not arrive in time'),
    })
    await until(() => got.length === 1 && got[0]!.sha256 !== '')
    expect(got[0]?.ended).toBe(false)
    request.destroy()
  })

  it.each(['hangs up', 'ends its side', 'resets the connection'])(
    'that %s in the middle takes its call with it',
    async (how) => {
      const { hostname, port } = new URL(plane.baseUrl)
      const socket = net.connect({ port: Number(port), host: hostname, allowHalfOpen: true }).on('error', () => {})
      socket.write(
        `POST /v1/files HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${plane.key}\r\ncontent-type: ${type}\r\nx-sp-provider: openai\r\ncontent-length: ${large}\r\n\r\n`,
      )
      socket.write(file(100_000))
      await until(() => (got[0]?.bytes ?? 0) >= 100_000)
      const settled = plane.records().length
      if (how === 'hangs up') socket.destroy()
      else if (how === 'ends its side') socket.end()
      else socket.resetAndDestroy()
      await until(() => got[0]!.sha256 !== '' && plane.records().length > settled)
      expect(got[0]?.ended).toBe(false)
      expect(plane.newest()).toMatchObject({ error: { code: 'client_closed' } })
      expect(plane.inFlight()).toBe(0)
      socket.destroy()
    },
  )

  it('whose chunks are none is refused, and its call is cut', async () => {
    const { hostname, port } = new URL(plane.baseUrl)
    const socket = net.connect(Number(port), hostname).on('error', () => {})
    let answer = ''
    socket.on('data', (chunk) => (answer += chunk))
    const closed = once(socket, 'close')
    socket.write(
      `POST /v1/files HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${plane.key}\r\nx-sp-provider: openai\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n`,
    )
    await until(() => got[0]?.bytes === 5)
    socket.write('zz\r\n')
    await until(() => got[0]!.sha256 !== '')
    await closed
    expect(got[0]?.ended).toBe(false)
    expect(answer).toMatch(/^HTTP\/1.1 400 /)
    expect(plane.newest()).toMatchObject({ error: { code: 'invalid_request' } })
  })

  it('is read no faster than the provider takes, however long that takes', async () => {
    let resume = () => {}
    acts.push((request, response) => {
      resume = () =>
        void take(request).then(() => response.setHeader('content-type', 'application/json').end('{"id":"f"}'))
    })
    const request = start('/files', { 'content-length': huge })
    const answer = answerOf(request)
    let written = 0
    const piece = Buffer.alloc(500_000)
    const writing = (async () => {
      for (; written < huge; written += piece.length) if (!request.write(piece)) await once(request, 'drain')
      request.end()
    })()
    await new Promise((resolve) => setTimeout(resolve, 400))
    expect(written).toBeLessThan(huge)
    resume()
    await writing
    expect((await answer).status).toBe(200)
    expect(got[0]?.bytes).toBe(huge)
  })

  it('gets the answer that begins before its body is over, and goes on sending', async () => {
    acts.push(async (request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write('data: {"type":"transcript.text.delta","delta":"a"}\n\n')
      await take(request)
      response.end('data: {"type":"transcript.text.done","text":"a"}\n\n')
    })
    const body = form(field('model', 'retried'), field('stream', 'true'), file(2_000_000))
    const request = start('/audio/transcriptions', { 'content-length': body.length })
    request.write(body.subarray(0, 1_500_000))
    const [response] = (await once(request, 'response')) as [IncomingMessage]
    await once(response, 'data')
    request.end(body.subarray(1_500_000))
    let rest = ''
    for await (const chunk of response) rest += chunk
    expect(rest).toContain('transcript.text.done')
    expect(got[0]).toMatchObject({ bytes: body.length, ended: true })
    expect(plane.newest()).toMatchObject({ streamed: true, status: 200, error: null })
  })
})
