import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import http from 'node:http'
import https from 'node:https'
import net from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { WebSocketServer } from 'ws'
import { egressOf } from '../../src/providers/egress.ts'
import type { Proxies } from '../../src/providers/proxy-choice.ts'
import { Handshake } from '../../src/providers/socket.ts'
import { hasOpenssl, makeCertificate } from '../support/certificate.ts'
import { listenOnPort } from '../support/listen.ts'
import { RecordingSink } from './recording-sink.ts'

const closers: (() => unknown)[] = []
afterEach(() => {
  for (const close of closers.splice(0).reverse()) close()
})

async function listen(server: net.Server): Promise<number> {
  const sockets = new Set<net.Socket>()
  server.on('connection', (socket: net.Socket) => sockets.add(socket.on('error', () => {})))
  closers.push(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return await listenOnPort(server)
}

function greeting(server: http.Server): http.Server {
  new WebSocketServer({ server }).on('connection', (socket) => socket.send('hello'))
  return server
}

async function dial(origin: string, settings: Record<string, unknown> = {}, proxies: Proxies | null = null) {
  const handshake = new Handshake(1000, [], proxies)
  const sink = new RecordingSink()
  const egress = egressOf(settings, null)
  const request = { method: 'SOCKET', origin, path: '/x', headers: ['a', 'b'], body: null, connectMs: 2000, egress }
  const sending = handshake.send(request, sink)
  return { handshake, sink, sending }
}

async function first(handshake: Handshake): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>()
  const ignore = () => {}
  handshake.peer?.attach({
    onFrame: ({ bytes }) => resolve(bytes.toString()),
    ...{ onPending: ignore, onPing: ignore, onPong: ignore, onWritten: ignore, onClosing: ignore },
  })
  const text = await promise
  handshake.peer?.terminate()
  return text
}

async function startProxy(answer: string) {
  const asked: string[] = []
  const server = http.createServer()
  server.on('connect', (request: http.IncomingMessage, client: net.Socket) => {
    asked.push(`${request.url} ${request.headers['proxy-authorization'] ?? ''}`)
    if (!answer.startsWith('HTTP/1.1 200')) return client.end(answer)
    const up = net.connect(Number(request.url?.split(':')[1]), '127.0.0.1', () => {
      client.write(answer)
      client.pipe(up).pipe(client)
    })
    up.on('error', () => client.destroy())
  })
  return { asked, port: await listen(server) }
}

describe('the way to a provider’s WebSocket', () => {
  it('is never one to the machine’s own cloud', async () => {
    for (const origin of ['http://169.254.169.254', 'https://metadata.google.internal', 'http://[fe80::1]']) {
      const { sink } = await dial(origin)
      await sink.seen('over')
      expect(sink.fault?.kind).toBe('refused')
    }
  })

  it('is told of when there is none, and given up when nobody waits', async () => {
    const port = await listen(net.createServer())
    const silent = await dial(`http://127.0.0.1:${port}`)
    await silent.sink.seen('connected')
    silent.sending.abort()
    const closed = await listen(net.createServer())
    for (const close of closers.splice(1)) close()
    const { sink } = await dial(`http://127.0.0.1:${closed}`)
    await sink.seen('over')
    expect(sink.fault?.kind).toBe('unreachable')
    expect(silent.sink.fault).toBeNull()
  })

  it('leads through the proxy of the environment, in a tunnel', async () => {
    const port = await listen(greeting(http.createServer()))
    const proxy = await startProxy('HTTP/1.1 200 OK\r\n\r\n')
    const url = `http://user:pass%20word@127.0.0.1:${proxy.port}`
    const { handshake, sink } = await dial(`http://api.example:${port}`, {}, { http: url, https: null, except: '' })
    await sink.seen('head')
    expect(await first(handshake)).toBe('hello')
    expect(proxy.asked).toEqual([`api.example:${port} Basic ${Buffer.from('user:pass word').toString('base64')}`])
  })

  it('ends where the proxy refuses', async () => {
    const proxy = await startProxy('HTTP/1.1 407 No\r\n\r\n')
    const { sink } = await dial('https://api.example', { proxy: `http://127.0.0.1:${proxy.port}` })
    await sink.seen('over')
    expect(sink.fault).toMatchObject({ kind: 'refused', message: expect.stringContaining('407') })
  })

  it.skipIf(!hasOpenssl)('believes the provider’s own authorities, through a proxy too', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'socket-'))
    closers.push(() => rmSync(directory, { recursive: true }))
    const { key, pem } = makeCertificate(directory, 'localhost')
    const port = await listen(greeting(https.createServer({ cert: pem, key: readFileSync(key) })))
    const proxy = await startProxy('HTTP/1.1 200 OK\r\n\r\n')
    const unknown = await dial(`https://localhost:${port}`)
    await unknown.sink.seen('over')
    expect(unknown.sink.fault?.kind).toBe('tls')
    for (const settings of [{ authorities: pem }, { authorities: pem, proxy: `http://127.0.0.1:${proxy.port}` }]) {
      const { handshake, sink } = await dial(`https://localhost:${port}`, settings)
      await sink.seen('head')
      expect(await first(handshake)).toBe('hello')
    }
    expect(proxy.asked).toHaveLength(1)
  })
})
