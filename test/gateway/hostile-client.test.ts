import { once } from 'node:events'
import http from 'node:http'
import net from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type DataPlane, startDataPlane } from '../support/data-plane.ts'
import { listen } from '../support/listen.ts'
import { makeRoute, makeTarget } from '../support/snapshot.ts'
import { until } from '../support/until.ts'

let provider: http.Server
let plane: DataPlane
let origin: string
/** Calls that the provider has open, and the paths of all it got. */
const open = new Set<http.ServerResponse>()
const paths: string[] = []

beforeAll(async () => {
  provider = http.createServer(async (request, response) => {
    paths.push(request.url ?? '')
    open.add(response)
    response.once('close', () => open.delete(response))
    let text = ''
    for await (const chunk of request) text += chunk
    if (text.includes('"slow":true')) await new Promise((resolve) => setTimeout(resolve, 200))
    if (!text.includes('"stream":true')) return void response.setHeader('content-type', 'application/json').end('{}')
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write('data: {"choices":[{"delta":{"content":"a"}}]}\n\n')
  })
  origin = await listen(provider)
  plane = await startDataPlane({
    providers: [
      { kind: 'openai', baseUrl: `${origin}/v1` },
      { kind: 'gemini', baseUrl: origin },
    ],
    routes: [
      makeRoute('any-*', [makeTarget('openai')]),
      makeRoute('brief', [makeTarget('openai')], { timeouts: { total: 1000 } }),
      makeRoute('*', [makeTarget('gemini')]),
    ],
  })
})

afterAll(async () => {
  provider.closeAllConnections()
  await plane.stop()
  provider.close()
})

function connect(): net.Socket {
  const { hostname, port } = new URL(plane.baseUrl)
  const socket = net.connect({ port: Number(port), host: hostname, allowHalfOpen: true })
  socket.on('error', () => {})
  return socket
}

/** What comes back until the gateway closes the connection. */
async function exchange(...pieces: string[]): Promise<string> {
  const socket = connect()
  let text = ''
  socket.on('data', (chunk) => (text += chunk.toString('latin1')))
  const ended = once(socket, 'end')
  for (const piece of pieces) socket.write(piece, 'latin1')
  await ended
  socket.destroy()
  return text
}

function post(path: string, body: string, headers = ''): string {
  return (
    `POST ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${plane.key}\r\n${headers}` +
    `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
  )
}

const small = JSON.stringify({ model: 'openai-model', messages: [] })
const streamed = JSON.stringify({ model: 'openai-model', messages: [], stream: true })

describe('a request that no provider could be sent', () => {
  it('says nothing about the provider', async () => {
    for (const odd of ['\t', '\f', '\x7f', '\xe9', '"', '<'])
      for (let time = 0; time < 6; time++)
        await exchange(post(`/v1/chat/completions?x=${odd}`, small, 'connection: close\r\n'))
    expect(plane.health(0)).toEqual({ state: 'ready' })
    expect(await exchange(post('/v1/chat/completions', small, 'connection: close\r\n'))).toMatch(/^HTTP\/1.1 200 /)
  })
})

describe('an upload', () => {
  it.each(['revoked', 'removed'])('does not outlive its key (%s)', async (how) => {
    const own = await startDataPlane({ providers: [{ kind: 'openai', baseUrl: `${origin}/v1` }] })
    const ask = (body: ReadableStream | string) =>
      fetch(`${own.baseUrl}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${own.key}` },
        body,
        ...(typeof body === 'string' ? {} : { duplex: 'half' }),
      } as RequestInit)
    const { readable, writable } = new TransformStream()
    const writer = writable.getWriter()
    const answer = ask(readable)
    await writer.write(Buffer.from(small.slice(0, -1)))
    // The head of the slow one is in when a later one has been answered.
    expect((await ask(small)).status).toBe(200)
    await own.changeKey(how === 'revoked' ? { revokedAt: 1 } : null)
    await writer.write(Buffer.from(small.slice(-1)))
    await writer.close()
    expect((await answer).status).toBe(401)
    await own.stop()
  })

  it('that takes longer than the whole call may is not held against the provider', async () => {
    const slow = async () => {
      const socket = connect()
      const answered = once(socket, 'data')
      const whole = post('/v1/chat/completions', JSON.stringify({ model: 'brief', messages: [], slow: true }))
      socket.write(whole.slice(0, -1))
      await new Promise((resolve) => setTimeout(resolve, 1100))
      socket.write(whole.slice(-1))
      const [chunk] = await answered
      socket.destroy()
      return String(chunk).slice(0, 12)
    }
    const all = await Promise.all(Array.from({ length: 6 }, slow))
    expect(new Set(all)).toEqual(new Set(['HTTP/1.1 200']))
    expect(plane.health(0)).toEqual({ state: 'ready' })
  })
})

describe("a proxy's word for the client", () => {
  it('does no harm, whatever it is', async () => {
    const trusting = await startDataPlane({ providers: [], trustedProxies: ['127.0.0.1', '10.0.0.0/8'] })
    const authorization = `Bearer ${trusting.key}`
    for (const forwarded of [
      'fe80::1%eth0',
      `fe80::1%${'x'.repeat(200)}`,
      ', ,',
      '1.2.3.4, 10.1.1.1',
      '::ffff:10.0.0.1',
    ]) {
      const headers = { authorization, 'x-forwarded-for': forwarded }
      expect((await fetch(`${trusting.baseUrl}/v1/models`, { headers })).status).toBe(200)
    }
    expect(trusting.records().map(({ client }) => client.address)).toContain('1.2.3.4')
    await trusting.stop()
  })
})

describe('pipelined requests', () => {
  it('are all given up when the client hangs up', async () => {
    const socket = connect()
    const opened = paths.length + 3
    const settled = plane.records().length + 3
    socket.write(post('/v1/chat/completions', streamed).repeat(3))
    await until(() => paths.length === opened)
    await until(() => open.size === 3)
    socket.destroy()
    await until(() => open.size === 0)
    await until(() => plane.records().length >= settled)
    const last = plane.records().slice(-3)
    expect(last.map(({ error }) => error?.code)).toEqual(['client_closed', 'client_closed', 'client_closed'])
  })

  it('are all answered in order, however many come in one chunk', async () => {
    const head = (path: string) => `GET ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${plane.key}\r\n`
    const count = 3000
    const all = `${head('/v1/models')}\r\n${head('/v1/nothing')}\r\n`.repeat(count / 2)
    const answer = await exchange(`${all}${head('/v1/models')}connection: close\r\n\r\n`)
    expect(answer.match(/HTTP\/1.1 \d+/g)).toEqual(
      Array.from({ length: count + 1 }, (_, at) => (at % 2 === 0 ? 'HTTP/1.1 200' : 'HTTP/1.1 404')),
    )
    expect(plane.inFlight()).toBe(0)
  })

  it('that are malformed do not write into the answer before them, which ends as if they had not come', async () => {
    const socket = connect()
    let text = ''
    socket.on('data', (chunk) => (text += chunk.toString('latin1')))
    const ended = once(socket, 'end')
    socket.write(post('/v1/chat/completions', streamed))
    await until(() => text.includes('"a"'))
    socket.write('NONSENSE\r\n\r\n')
    // Answered behind the nonsense, hence read behind it.
    await exchange(`GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`)
    for (const response of open)
      response.end('data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n')
    await ended
    socket.destroy()
    expect(text.match(/HTTP\/1.1 \d+/g)).toEqual(['HTTP/1.1 200'])
    expect(text).toMatch(/\[DONE\]\s+0\r\n\r\n$/)
    await until(() => plane.inFlight() === 0)
  })

  it.each([
    ['longer than its head says', '', 1, 'xyz'],
    ['with an answer to wait for before it, and longer than its head says', '', 2, 'xyz'],
    ['that said it was the last', 'connection: close\r\n', 1, 'GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n'],
  ])('behind one %s take no answer from it', async (_name, headers, count, more) => {
    const settled = plane.records().length + count
    const answer = await exchange(post('/v1/chat/completions', small, headers).repeat(count) + more)
    expect(answer.match(/HTTP\/1.1 \d+/g)).toEqual(Array.from({ length: count }, () => 'HTTP/1.1 200'))
    expect(answer.match(/connection: \S+/gi)?.at(-1)).toMatch(/close/i)
    await until(() => plane.records().length >= settled)
    expect(plane.records().slice(-count)).toMatchObject(
      Array.from({ length: count }, () => ({ status: 200, error: null })),
    )
  })

  it('are given up with a handshake that does not wait for their answers, and nothing else is', async () => {
    const handshake = 'GET /v1/realtime HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n'
    const slow = JSON.stringify({ model: 'openai-model', messages: [], slow: true })
    const other = exchange(post('/v1/chat/completions', slow, 'connection: close\r\n'))
    await until(() => open.size === 1)
    const settled = plane.records().length
    expect(await exchange(post('/v1/chat/completions', slow).repeat(3) + handshake)).toBe('')
    expect(await exchange(`GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n${handshake}`)).not.toMatch(/ 101 /)
    expect(await other).toMatch(/^HTTP\/1.1 200 /)
    await until(() => plane.records().length >= settled + 4 && open.size === 0)
    const codes = plane
      .records()
      .slice(settled)
      .map(({ error }) => error?.code ?? null)
    expect(codes.sort()).toEqual(['client_closed', 'client_closed', 'client_closed', null])
  })
})

describe('a handshake with a body', () => {
  it.each(['content-length: 5\r\n\r\nhello', 'transfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n'])(
    'is none, and is answered like any call: %j',
    async (body) => {
      const handshake = `GET /v1/responses HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${plane.key}\r\n`
      const asks = 'connection: upgrade, close\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n'
      const key = 'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n'
      const answer = await exchange(handshake + asks + key + body)
      expect(answer.match(/^HTTP\/1.1 \d+|x-sp-error: \w+/gm)).toEqual(['HTTP/1.1 404', 'x-sp-error: unknown_path'])
    },
  )
})

describe('a body that is no HTTP', () => {
  it('is refused once, on the record of its own request', async () => {
    const known = new Set(plane.records().map(({ id }) => id))
    const head = `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${plane.key}\r\n`
    const answer = await exchange(`${head}transfer-encoding: chunked\r\n\r\n`, 'zz\r\n')
    expect(answer).toMatch(/^HTTP\/1.1 400 /)
    const added = () => plane.records().filter(({ id, error }) => !known.has(id) && error?.code !== 'client_closed')
    await until(() => added().length > 0 && plane.inFlight() === 0)
    expect(added()).toMatchObject([{ operation: 'chat', error: { code: 'invalid_request' }, key: { id: 'key_1' } }])
    const [id] = /req_\w+/.exec(answer) ?? []
    expect(plane.records().filter((record) => record.id === id)).toEqual(added())
  })
})

it('chunks in HTTP/1.0 are refused, and nothing behind them is read', async () => {
  const head = `POST /v1/chat/completions HTTP/1.0\r\nauthorization: Bearer ${plane.key}\r\nconnection: keep-alive\r\n`
  const next = `GET /v1/models HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${plane.key}\r\nconnection: close\r\n\r\n`
  const answer = await exchange(`${head}transfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n${next}`)
  expect(answer.match(/^HTTP\S+ \d+/gm)).toEqual(['HTTP/1.1 501'])
})

describe('every answer carries an id', () => {
  const close = 'connection: close\r\n'
  it.each([
    ['without a host', `GET /v1/models HTTP/1.1\r\n${close}\r\n`, 400],
    ['with two hosts', `GET /v1/models HTTP/1.1\r\nhost: x\r\nhost: y\r\n${close}\r\n`, 400],
    ['with an expectation that nobody knows', `GET /v1/models HTTP/1.1\r\nhost: x\r\nexpect: tea\r\n${close}\r\n`, 401],
    ['that upgrades', `GET /v1/models HTTP/1.1\r\nhost: x\r\nupgrade: h2c\r\nconnection: upgrade, close\r\n\r\n`, 401],
    ['with two lengths', `POST /v1/models HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n`, 400],
    [
      'with length and chunks',
      `POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n`,
      400,
    ],
    ['in the form of a proxy', `GET http://x/v1/models HTTP/1.1\r\nhost: x\r\n${close}\r\n`, 401],
    ['for a proxy', `CONNECT example.com:443 HTTP/1.1\r\nhost: example.com\r\n\r\n`, 400],
    ['to no path', `OPTIONS * HTTP/1.1\r\nhost: x\r\n${close}\r\n`, 401],
  ])('to a request %s', async (_name, request, status) => {
    const answer = await exchange(request)
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
    expect(answer).toMatch(/x-sp-request-id: req_/)
  })

  it('also in the form of a proxy with a key', async () => {
    const head = `GET http://x/v1/models HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${plane.key}\r\n`
    expect(await exchange(`${head}connection: close\r\n\r\n`)).toMatch(/^HTTP\/1.1 200 /)
  })
})

describe('credentials', () => {
  it('in two authorization headers that differ are refused', async () => {
    const second = 'authorization: Bearer something-else\r\nconnection: close\r\n'
    expect(await exchange(post('/v1/chat/completions', small, second))).toMatch(/conflicting_credentials/)
  })
})

describe('a record', () => {
  it('is shared by a flood of requests with a revoked key', async () => {
    const spent = await startDataPlane({ providers: [], revokedAt: 1 })
    const headers = { authorization: `Bearer ${spent.key}` }
    // At once: those of each second are counted for themselves.
    const ask = async () => (await fetch(`${spent.baseUrl}/v1/models`, { headers })).text()
    await Promise.all(Array.from({ length: 300 }, ask))
    const { length } = spent.records()
    await spent.stop()
    expect(length).toBeLessThan(250)
  })

  it.each([
    ['gives up its body', 'content-length: 1000\r\n\r\nx', ''],
    ['goes on with what is no body', 'transfer-encoding: chunked\r\n\r\n', 'zz\r\n'],
  ])('is the only one of a rejected request that %s', async (_how, body, rest) => {
    const known = new Set(plane.records().map(({ id }) => id))
    const socket = connect()
    const ended = once(socket, 'end')
    socket.write(`POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer sk-none\r\n${body}`)
    const [answer] = await once(socket, 'data')
    expect(String(answer)).toMatch(/^HTTP\/1.1 401 /)
    socket.end(rest)
    await ended
    socket.destroy()
    const added = plane.records().filter(({ id }) => !known.has(id))
    expect(added.map(({ status }) => status)).toEqual([401])
  })

  it('stays small, however long the model and the path are', async () => {
    const model = `any-${'x'.repeat(2_000_000)}`
    const close = 'connection: close\r\n'
    expect(await exchange(post('/v1/chat/completions', JSON.stringify({ model, messages: [] }), close))).toMatch(
      /^HTTP\/1.1 400 /,
    )
    await exchange(post(`/v1/${'y'.repeat(50_000)}`, small, close))
    const [long, unknown] = plane.records().slice(-2)
    expect(JSON.stringify(long).length).toBeLessThan(10_000)
    expect(JSON.stringify(unknown).length).toBeLessThan(10_000)
  })
})

describe("a model's name in a path", () => {
  it.each(['models/models/gemini-x', 'models/models%2Fgemini-x'])('has one spelling: %s', async (resource) => {
    await exchange(post(`/v1/gemini/v1beta/${resource}:generateContent`, '{}', 'connection: close\r\n'))
    expect(plane.records().at(-1)).toMatchObject({ model: 'gemini-x' })
    expect(paths.at(-1)).toBe('/v1beta/models/gemini-x:generateContent')
  })

  it.each(['models/a/../b', 'models/..%2F..%2Fv1%2Ffiles', 'models/%2e%2e/x', 'models/./x', 'models/a//b'])(
    'never climbs: %s',
    async (resource) => {
      const before = paths.length
      const answer = await exchange(
        post(`/v1/gemini/v1beta/${resource}:generateContent`, '{}', 'connection: close\r\n'),
      )
      expect(answer).toMatch(/^HTTP\/1.1 404 /)
      expect(paths.length).toBe(before)
    },
  )
})

it('a body that ends half-way leaves a record of how much came', async () => {
  const own = await startDataPlane({ providers: [{ kind: 'openai', baseUrl: 'http://127.0.0.1:1/v1' }], routes: [] })
  const { hostname, port } = new URL(own.baseUrl)
  const socket = net.connect({ port: Number(port), host: hostname })
  const head = `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${own.key}\r\nexpect: 100-continue\r\ncontent-length: 1000\r\n\r\n`
  socket.write(head)
  await once(socket, 'data')
  socket.end('{"model":"m",')
  await once(socket, 'close')
  await expect.poll(() => own.records()).toMatchObject([{ status: 499, request_bytes: 13 }])
  await own.stop()
})
