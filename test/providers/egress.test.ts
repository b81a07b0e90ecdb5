import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import http from 'node:http'
import https from 'node:https'
import net from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TLSSocket } from 'node:tls'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { Secret } from '../../src/core/secrets/secret.ts'
import { checkProvider } from '../../src/providers/check.ts'
import type { EgressOptions, OutboundRequest } from '../../src/providers/contract.ts'
import { egressOf } from '../../src/providers/egress.ts'
import { createHttpTransport, type HttpTransportOptions } from '../../src/providers/http.ts'
import { openai } from '../../src/providers/openai.ts'
import { hasOpenssl, makeCertificate, type TestCertificate } from '../support/certificate.ts'
import { listenOnPort } from '../support/listen.ts'
import { RecordingSink } from './recording-sink.ts'

const closers: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
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

async function send(
  origin: string,
  egress: EgressOptions | null,
  options: HttpTransportOptions = {},
  more: Partial<OutboundRequest> = {},
) {
  const transport = createHttpTransport(options)
  closers.push(() => transport.close())
  const sink = new RecordingSink()
  const headers = ['x-list', 'a', 'x-list', 'b']
  transport.send({ method: 'GET', origin, path: '/x?y=1', headers, body: null, connectMs: 2000, egress, ...more }, sink)
  await sink.seen('over')
  return sink
}

const echo: http.RequestListener = (request, response) =>
  response.end(`${request.method} ${request.url} ${request.headers['x-list']}`)

/** One that writes down what it was asked, and asks for a password where it has one. */
async function startProxy(password: string | null = null) {
  const asked: string[] = []
  const admits = (headers: http.IncomingHttpHeaders) =>
    password === null || headers['proxy-authorization'] === `Basic ${Buffer.from(password).toString('base64')}`
  const server = http.createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`)
    if (!admits(request.headers)) return void response.writeHead(407).end()
    // Every name leads here: names are the proxy's to resolve.
    const { port, pathname, search } = new URL(request.url ?? '')
    const up = http.request({ host: '127.0.0.1', port, path: pathname + search, headers: request.headers })
    up.on('response', (answer) => answer.pipe(response)).end()
  })
  server.on('connect', (request: http.IncomingMessage, client: net.Socket) => {
    asked.push(`CONNECT ${request.url}`)
    if (!admits(request.headers)) return client.end('HTTP/1.1 407 No\r\n\r\n')
    const up = net.connect(Number(request.url?.split(':')[1]), '127.0.0.1', () => {
      client.write('HTTP/1.1 200 OK\r\n\r\n')
      up.pipe(client).pipe(up)
    })
    up.on('error', () => client.destroy())
  })
  return { asked, url: `http://127.0.0.1:${await listen(server)}` }
}

describe('where a call may not lead', () => {
  it.each(['http://169.254.169.254', 'http://[fe80::1]', 'http://metadata.google.internal', 'http://2852039166'])(
    'is never %s',
    async (origin) => {
      const sink = await send(origin, egressOf({ allow_private: true }, null))
      expect(sink.fault?.kind).toBe('refused')
      expect(sink.fault?.message).toMatch(/never called/)
      expect(sink.events).toEqual(['error', 'over'])
    },
  )

  it('is not followed: a redirect is an answer', async () => {
    let asked = 0
    const port = await listen(
      http.createServer((_request, response) => {
        asked++
        response.writeHead(307, { location: 'http://169.254.169.254/latest' }).end()
      }),
    )
    const sink = await send(`http://127.0.0.1:${port}`, null)
    expect([sink.status, asked]).toEqual([307, 1])
  })
})

describe('a proxy', () => {
  it('is given the whole URL of a plain call, with every header', async () => {
    const proxy = await startProxy()
    const port = await listen(http.createServer(echo))
    const sink = await send(`http://127.0.0.1:${port}`, egressOf({ proxy: proxy.url }, null))
    expect(sink.text).toBe('GET /x?y=1 a, b')
    expect(proxy.asked).toEqual([`GET http://127.0.0.1:${port}/x?y=1`])
  })

  it('is the one of the environment, and takes the password in it', async () => {
    const proxy = await startProxy('gate:secret')
    const port = await listen(http.createServer(echo))
    const url = proxy.url.replace('http://', 'http://gate:secret@')
    const proxies = { http: url, https: null, except: '' }
    const sink = await send(`http://provider.invalid:${port}`, null, { proxies })
    expect(proxy.asked).toEqual([`GET http://provider.invalid:${port}/x?y=1`])
    expect(sink.text).toBe('GET /x?y=1 a, b')
  })

  it('that refuses is named for it', async () => {
    const proxy = await startProxy('gate:secret')
    const sink = await send('https://provider.invalid', egressOf({ proxy: proxy.url }, null))
    expect(sink.fault).toEqual({ kind: 'proxy', message: 'The proxy refused the connection (407).' })
  })

  it('does not open the way to metadata', async () => {
    const proxy = await startProxy()
    const sink = await send('http://169.254.169.254', egressOf({ proxy: proxy.url }, null))
    expect(sink.fault?.kind).toBe('refused')
    expect(proxy.asked).toEqual([])
  })

  it.each(['http://provider.invalid', 'https://provider.invalid'])(
    'that is not reached is what is blamed, not the provider: %s',
    async (origin) => {
      const gone = http.createServer()
      const proxy = `http://127.0.0.1:${await listen(gone)}`
      gone.close()
      const sink = await send(origin, egressOf({ proxy }, null))
      expect(sink.fault).toEqual({ kind: 'proxy', message: 'The proxy cannot be reached (ECONNREFUSED).' })
    },
  )

  it('is itself held to the rules of an address', async () => {
    const sink = await send('https://provider.invalid', egressOf({ proxy: 'http://169.254.169.254:3128' }, null))
    expect(sink.fault?.kind).toBe('refused')
  })
})

describe.skipIf(!hasOpenssl)('trust (needs openssl)', () => {
  let directory: string
  let server: TestCertificate
  let client: TestCertificate
  const identity = () => ({ certificate: client.pem, key: readFileSync(client.key, 'utf8') })

  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), 'way-'))
    server = makeCertificate(directory, 'localhost')
    client = makeCertificate(directory, 'client.example')
  })
  afterAll(() => rmSync(directory, { recursive: true }))

  const start = (more: https.ServerOptions = {}) =>
    listen(
      https.createServer({ cert: server.pem, key: readFileSync(server.key), ...more }, (request, response) => {
        const { subject } = (request.socket as TLSSocket).getPeerCertificate()
        response.end(`hello ${subject?.CN ?? 'nobody'}`)
      }),
    )

  it("is the system's, and the provider's own authorities besides", async () => {
    const port = await start()
    const unknown = await send(`https://localhost:${port}`, null)
    expect(unknown.fault?.kind).toBe('tls')
    const known = await send(`https://localhost:${port}`, egressOf({ authorities: server.pem }, null))
    expect(known.text).toBe('hello nobody')
  })

  it('shows the client certificate to who asks for it', async () => {
    const port = await start({ requestCert: true, ca: client.pem })
    const origin = `https://localhost:${port}`
    const sink = await send(origin, egressOf({ authorities: server.pem }, identity()))
    expect(sink.text).toBe('hello client.example')
  })

  it.each([
    ['TLSv1.2', /it may ask for a client certificate \(ERR_SSL_/],
    ['TLSv1.3', /asks for a client certificate \(ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED\)/],
  ] as const)('is missed by name in %s', async (version, message) => {
    const port = await start({ requestCert: true, ca: client.pem, minVersion: version, maxVersion: version })
    const origin = `https://localhost:${port}`
    const egress = egressOf({ authorities: server.pem }, null)
    for (const more of [{}, { method: 'POST', body: Buffer.alloc(200_000) }]) {
      const { fault } = await send(origin, egress, {}, more)
      expect(fault).toEqual({ kind: 'client-certificate', message: expect.stringMatching(message) })
    }
    const settings = { authorities: server.pem }
    const transport = createHttpTransport()
    closers.push(() => transport.close())
    const check = await checkProvider(openai, { name: 'p', baseUrl: origin, settings }, new Secret('sk-x'), transport)
    expect([check.reason, check.message]).toEqual(['unreachable', expect.stringContaining('"client_certificate": …')])
  })

  it('holds beyond a proxy too', async () => {
    const proxy = await startProxy()
    const port = await start({ requestCert: true, ca: client.pem })
    const egress = egressOf({ authorities: server.pem, proxy: proxy.url }, identity())
    const sink = await send(`https://localhost:${port}`, egress)
    expect(sink.text).toBe('hello client.example')
    expect(proxy.asked).toEqual([`CONNECT localhost:${port}`])
  })

  it('holds for the proxy itself', async () => {
    const port = await listen(http.createServer(echo))
    const proxy = https.createServer({ cert: server.pem, key: readFileSync(server.key) }, (request, response) => {
      http.get(`http://127.0.0.1:${port}${new URL(request.url ?? '').pathname}`, (answer) => answer.pipe(response))
    })
    const at = { proxy: `https://localhost:${await listen(proxy)}` }
    expect((await send('http://provider.invalid', egressOf(at, null))).fault?.kind).toBe('tls')
    const sink = await send('http://provider.invalid', egressOf({ ...at, authorities: server.pem }, null))
    expect(sink.text).toMatch(/^GET \/x /)
  })

  it('that is no PEM refuses the call, and nothing else', async () => {
    const port = await listen(http.createServer(echo))
    const transport = createHttpTransport()
    closers.push(() => transport.close())
    const broken = new RecordingSink()
    const call = { method: 'GET', origin: 'https://localhost:1', path: '/', headers: [], body: null, connectMs: 2000 }
    transport.send({ ...call, egress: egressOf({}, { ...identity(), key: 'nonsense' }) }, broken)
    await broken.seen('over')
    expect(broken.fault?.kind).toBe('refused')
    expect(broken.fault?.message).not.toContain('nonsense')
    const well = new RecordingSink()
    transport.send({ ...call, origin: `http://127.0.0.1:${port}` }, well)
    await well.seen('over')
    expect(well.status).toBe(200)
  })

  it('is not shared between two ways to one origin', async () => {
    const port = await start({ requestCert: true, rejectUnauthorized: false })
    const transport = createHttpTransport()
    closers.push(() => transport.close())
    const seen: string[] = []
    for (const egress of [
      egressOf({ authorities: server.pem }, identity()),
      egressOf({ authorities: server.pem }, null),
    ]) {
      const sink = new RecordingSink()
      const origin = `https://localhost:${port}`
      transport.send({ method: 'GET', origin, path: '/', headers: [], body: null, connectMs: 2000, egress }, sink)
      await sink.seen('over')
      seen.push(sink.text)
    }
    expect(seen).toEqual(['hello client.example', 'hello nobody'])
  })
})
