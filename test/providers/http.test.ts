import { once } from 'node:events'
import http from 'node:http'
import net from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import type { OutboundRequest } from '../../src/providers/contract.ts'
import { createHttpTransport } from '../../src/providers/http.ts'
import { RecordingSink } from './recording-sink.ts'

const closers: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

function transport(options = {}) {
  const made = createHttpTransport(options)
  closers.push(() => made.close())
  return made
}

async function listen(server: net.Server): Promise<string> {
  const sockets = new Set<net.Socket>()
  server.on('connection', (socket: net.Socket) => {
    sockets.add(socket.on('error', () => {}))
  })
  closers.push(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return `http://127.0.0.1:${address.port}`
}

/** A server that says `answer`, byte for byte, to each first bit of a request; `then` decides about the connection. */
function rawServer(answer: string | Buffer, then: (socket: net.Socket) => void = () => {}): Promise<string> {
  return listen(
    net.createServer((socket) => {
      socket.on('data', () => socket.write(answer, () => then(socket)))
    }),
  )
}

function post(origin: string, more: Partial<OutboundRequest> = {}): OutboundRequest {
  return {
    method: 'POST',
    origin,
    path: '/v1/x?y=1',
    headers: ['x-a', '1'],
    body: Buffer.from('{}'),
    connectMs: 2000,
    ...more,
  }
}

describe('a call', () => {
  it('carries method, path, headers and body, and gives the answer as received', async () => {
    const origin = await listen(
      http.createServer(async (request, response) => {
        let body = ''
        for await (const chunk of request) body += chunk
        response.writeHead(201, ['Set-Cookie', 'a=1', 'Set-Cookie', 'b=2', 'X-Mixed', 'Case'])
        response.end(
          JSON.stringify([request.method, request.url, request.headers['x-a'], request.headers.cookie ?? null, body]),
        )
      }),
    )
    const out = transport()
    for (let round = 0; round < 2; round++) {
      const sink = new RecordingSink()
      out.send(post(origin), sink)
      await sink.seen('over')
      expect(sink.status).toBe(201)
      expect(JSON.parse(sink.text)).toEqual(['POST', '/v1/x?y=1', '1', null, '{}'])
      expect(sink.headers.filter((_, index) => sink.headers[index - 1] === 'set-cookie')).toEqual(['a=1', 'b=2'])
      expect(sink.headers).toContain('x-mixed')
      expect(sink.events).toEqual(['connected', 'head', 'data', 'end', 'over'])
    }
  })

  it('uses its connection again', async () => {
    const server = http.createServer((_request, response) => response.end('ok'))
    let connections = 0
    server.on('connection', () => connections++)
    const origin = await listen(server)
    const out = transport()
    for (let round = 0; round < 3; round++) {
      const sink = new RecordingSink()
      out.send(post(origin), sink)
      await sink.seen('over')
      await new Promise(setImmediate)
    }
    expect(connections).toBe(1)
  })

  it('ends an endless row of interim answers', async () => {
    const hints = 'HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n'
    const closed = Promise.withResolvers<void>()
    const origin = await rawServer(hints.repeat(1001), (socket) => socket.once('close', () => closed.resolve()))
    const sink = new RecordingSink()
    transport().send(post(origin), sink)
    await sink.seen('over')
    expect(sink.fault).toEqual({ kind: 'protocol', message: expect.stringContaining('1000 interim answers') })
    await closed.promise
  })

  it('takes a redirect as an answer and skips interim ones', async () => {
    const origin = await rawServer(
      'HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\nHTTP/1.1 302 Found\r\nlocation: /elsewhere\r\ncontent-length: 0\r\n\r\n',
    )
    const sink = new RecordingSink()
    transport().send(post(origin), sink)
    await sink.seen('over')
    expect(sink.status).toBe(302)
    expect(sink.events).toEqual(['connected', 'head', 'end', 'over'])
  })

  it('sends no user agent or anything else of its own but what HTTP needs', async () => {
    const origin = await listen(
      http.createServer((request, response) => response.end(JSON.stringify(request.rawHeaders))),
    )
    const sink = new RecordingSink()
    transport().send(post(origin), sink)
    await sink.seen('over')
    const names = (JSON.parse(sink.text) as string[]).filter((_, index) => index % 2 === 0)
    expect(names).toEqual(['host', 'connection', 'x-a', 'content-length'])
  })

  it('reads many answers at once', async () => {
    const origin = await listen(http.createServer((request, response) => response.end(request.url)))
    const out = transport()
    const sinks = Array.from({ length: 50 }, (_, index) => {
      const sink = new RecordingSink()
      out.send(post(origin, { path: `/${index}` }), sink)
      return sink
    })
    await Promise.all(sinks.map((sink) => sink.seen('over')))
    expect(sinks.map((sink) => sink.text)).toEqual(sinks.map((_, index) => `/${index}`))
  })
})

describe('a provider that misbehaves', () => {
  async function faultOf(origin: string, more: Partial<OutboundRequest> = {}) {
    const sink = new RecordingSink()
    transport().send(post(origin, more), sink)
    expect(sink.events).not.toContain('error')
    await sink.seen('over')
    return { kind: sink.fault?.kind, message: sink.fault?.message, events: sink.events }
  }
  const hangUp = (socket: net.Socket) => socket.destroy()

  it('refuses the connection', async () => {
    const origin = await listen(net.createServer())
    await closers.pop()?.()
    expect(await faultOf(origin)).toMatchObject({ kind: 'unreachable', events: ['error', 'over'] })
  })

  it('has no name', async () => {
    expect((await faultOf('http://nowhere.invalid')).kind).toBe('unreachable')
  })

  it('speaks no TLS', async () => {
    const origin = await rawServer('HTTP/1.1 400 Bad Request\r\n\r\n', hangUp)
    expect((await faultOf(origin.replace('http:', 'https:'))).kind).toBe('tls')
  })

  it('is not late that stood while this thread was held up', async () => {
    const origin = await rawServer('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok')
    const sink = new RecordingSink()
    // By name, so that it does not stand within the turn in which it is begun.
    transport().send(post(origin.replace('127.0.0.1', 'localhost'), { connectMs: 600 }), sink)
    await new Promise(setImmediate)
    const end = performance.now() + 800
    while (performance.now() < end);
    await sink.seen('over')
    expect([sink.status, sink.text]).toEqual([200, 'ok'])
  })

  it('never finishes the TLS handshake', async () => {
    const server = net.createServer(() => {})
    const origin = await listen(server)
    const connection = once(server, 'connection')
    expect(await faultOf(origin.replace('http:', 'https:'), { connectMs: 30 })).toEqual({
      kind: 'connect-timeout',
      message: 'No connection to the provider within 30 ms.',
      events: ['error', 'over'],
    })
    const [socket] = (await connection) as [net.Socket]
    await once(socket.resume(), 'close')
  })

  it.each([
    ['hangs up before any byte', '', 'reset'],
    ['hangs up in its head', 'HTTP/1.1 200 OK\r\ncontent-', 'reset'],
    ['hangs up before the promised length', 'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc', 'reset'],
    ['hangs up within a chunk', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nab', 'reset'],
    ['hangs up before the last chunk', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nab\r\n', 'reset'],
    ['speaks something else', 'SSH-2.0-OpenSSH_9.9\r\n', 'protocol'],
    ['breaks the chunk form', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n', 'protocol'],
    ['says 100 unasked', 'HTTP/1.1 100 Continue\r\n\r\n', 'protocol'],
    ['switches protocols unasked', 'HTTP/1.1 101 Switching\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n', 'protocol'],
    ['floods the head', `HTTP/1.1 200 OK\r\n${'x-flood: 0123456789\r\n'.repeat(9000)}\r\n`, 'protocol'],
  ])('%s', async (_name, answer, kind) => {
    const origin = await rawServer(answer, hangUp)
    const fault = await faultOf(origin)
    expect(fault.kind).toBe(kind)
    expect(fault.events.filter((event) => event === 'over')).toHaveLength(1)
    expect(fault.message).not.toContain('127.0.0.1')
  })

  it('sends two lengths', async () => {
    const origin = await rawServer('HTTP/1.1 200 OK\r\ncontent-length: 3\r\ncontent-length: 5\r\n\r\nabcde')
    expect((await faultOf(origin)).kind).toBe('protocol')
  })

  it('sends more than it promised: the rest is not taken for the next answer', async () => {
    const origin = await rawServer(
      'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nokHTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nevil',
    )
    const out = transport()
    const first = new RecordingSink()
    out.send(post(origin), first)
    await first.seen('over')
    expect(first.text).toBe('ok')
    const second = new RecordingSink()
    out.send(post(origin), second)
    await second.seen('over')
    expect(second.text).not.toBe('evil')
  })

  it('closed the pooled connection while it was idle', async () => {
    let answered = 0
    const origin = await listen(
      net.createServer((socket) => {
        socket.on('data', () => {
          if (answered++ === 0) socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok')
          else socket.resetAndDestroy()
        })
      }),
    )
    const out = transport()
    const first = new RecordingSink()
    out.send(post(origin), first)
    await first.seen('over')
    await new Promise(setImmediate)
    const second = new RecordingSink()
    out.send(post(origin), second)
    await second.seen('over')
    expect(second.fault?.kind).toBe('reset')
    expect(second.events).toEqual(['connected', 'error', 'over'])
  })

  it('gets a header that cannot be sent: told after send has returned', async () => {
    const origin = await rawServer('')
    expect(await faultOf(origin, { headers: ['x-bad', 'a\r\nb'] })).toMatchObject({ kind: 'unreachable' })
  })
})

describe('abort', () => {
  it('before the connection stands says nothing more', async () => {
    const server = http.createServer((_request, response) => response.end('late'))
    const origin = await listen(server)
    const out = transport()
    const sink = new RecordingSink()
    const sending = out.send(post(origin), sink)
    sending.abort()
    sending.abort()
    const next = new RecordingSink()
    out.send(post(origin), next)
    await next.seen('over')
    expect(sink.events).toEqual([])
  })

  it('before the head closes the connection', async () => {
    const server = http.createServer(() => {})
    const origin = await listen(server)
    const sink = new RecordingSink()
    const sending = transport().send(post(origin), sink)
    const [request] = (await once(server, 'request')) as [http.IncomingMessage]
    const closed = once(request.socket, 'close')
    sending.abort()
    await closed
    expect(sink.events).toEqual(['connected'])
  })

  it('in the middle of the body closes the connection', async () => {
    const server = http.createServer((_request, response) => response.writeHead(200).write('first'))
    const origin = await listen(server)
    const sink = new RecordingSink()
    const sending = transport().send(post(origin), sink)
    const [request] = (await once(server, 'request')) as [http.IncomingMessage]
    await sink.seen('data')
    const closed = once(request.socket, 'close')
    sending.abort()
    sending.resume()
    sending.pause()
    await closed
    expect(sink.events).toEqual(['connected', 'head', 'data'])
  })

  it('from within the head stops the data that came along', async () => {
    const origin = await rawServer('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok')
    const out = transport()
    const sink = new RecordingSink()
    const sending = out.send(post(origin), sink)
    const noteHead = sink.onHead.bind(sink)
    sink.onHead = (status, headers) => {
      noteHead(status, headers)
      sending.abort()
    }
    await sink.seen('head')
    await new Promise(setImmediate)
    expect(sink.events).toEqual(['connected', 'head'])
  })

  it('after the end does nothing', async () => {
    const origin = await listen(http.createServer((_request, response) => response.end('ok')))
    const sink = new RecordingSink()
    const sending = transport().send(post(origin), sink)
    await sink.seen('over')
    sending.abort()
    expect(sink.events.at(-1)).toBe('over')
  })
})

describe('back-pressure', () => {
  it('reaches the provider, and nothing is lost', async () => {
    const size = 64 * 1024 * 1024
    let sent = 0
    const server = http.createServer((_request, response) => {
      const block = Buffer.alloc(1024 * 1024, 'x')
      const push = () => {
        while (sent < size) {
          sent += block.length
          if (!response.write(block)) {
            response.once('drain', push)
            return
          }
        }
        response.end()
      }
      push()
    })
    const origin = await listen(server)
    const sink = new RecordingSink()
    const sending = transport().send(post(origin), sink)
    sending.pause()
    await sink.seen('head')
    for (let round = 0; round < 20; round++) await new Promise(setImmediate)
    expect(sink.events).toEqual(['connected', 'head'])
    expect(sent).toBeLessThan(size)
    sending.resume()
    await sink.seen('over')
    expect(sink.fault).toBeNull()
    expect(sink.chunks.reduce((sum, chunk) => sum + chunk.length, 0)).toBe(size)
  })
})

describe('close', () => {
  it('ends calls under way and refuses new ones', async () => {
    const server = http.createServer(() => {})
    const origin = await listen(server)
    const out = createHttpTransport()
    const sink = new RecordingSink()
    out.send(post(origin), sink)
    await once(server, 'request')
    await out.close()
    await sink.seen('over')
    expect(sink.fault?.kind).toBe('reset')
    const late = new RecordingSink()
    out.send(post(origin), late)
    expect(late.events).toEqual([])
    await late.seen('over')
    expect(late.fault?.kind).toBe('reset')
  })
})
