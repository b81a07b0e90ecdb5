import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { createServer as createTcpServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { chooseRemote } from '../../cli/remote.ts'
import { openCaller } from '../../src/admin/client-calls.ts'
import { hasOpenssl, makeCertificate } from '../support/certificate.ts'
import { listen, listenOnPort } from '../support/listen.ts'
import { type FakeOptions, fakeIo } from './fake-io.ts'
import { runLine } from './run-line.ts'

const token = 'spt_0123456789abcdef'
type Settings = Parameters<typeof chooseRemote>[0]
const settings: Settings = { remote: null, dataDir: null, tokenEnv: null, tokenStdin: false, insecure: false }

function choose(change: Partial<Settings>, more: FakeOptions = {}) {
  const io = fakeIo({ environment: { SPGW_TOKEN: token }, ...more })
  return { io, chosen: chooseRemote({ ...settings, ...change }, io) }
}

describe('the gateway that is meant', () => {
  it('is the one of this machine where nothing else is said', async () => {
    expect(await choose({}).chosen).toBeNull()
  })

  it('is the one of --remote, else of $SPGW_REMOTE, unless a data directory was named', async () => {
    const environment = { SPGW_REMOTE: 'https://b.example.com', SPGW_TOKEN: token }
    expect((await choose({ remote: 'https://a.example.com' }, { environment }).chosen)?.url.host).toBe('a.example.com')
    expect((await choose({}, { environment }).chosen)?.url.host).toBe('b.example.com')
    expect(await choose({ dataDir: '/d' }, { environment }).chosen).toBeNull()
    await expect(choose({ remote: 'https://a', dataDir: '/d' }).chosen).rejects.toThrow('cannot be used together')
  })

  it.each([['http://localhost:8788'], ['http://127.0.0.2:1'], ['http://[::1]:8788'], ['https://far.example.com']])(
    'may be at %s',
    async (url) => {
      const { io, chosen } = choose({ remote: url })
      expect(await chosen).toMatchObject({ token })
      expect(io.err()).toBe('')
    },
  )

  it('is not spoken to without encryption, but for --insecure, which says so', async () => {
    await expect(choose({ remote: 'http://far.example.com' }).chosen).rejects.toThrow(
      'would send the API token unencrypted',
    )
    await expect(choose({ remote: 'http://127.0.0.1.example.com' }).chosen).rejects.toThrow(
      'would send the API token unencrypted',
    )
    const { io, chosen } = choose({ remote: 'http://far.example.com', insecure: true })
    expect(await chosen).not.toBeNull()
    expect(io.err()).toContain('unencrypted to far.example.com')
  })

  it.each([['far.example.com'], ['ftp://a'], ['https://user:pass@a.example.com']])('is not %s', async (url) => {
    await expect(choose({ remote: url }).chosen).rejects.toMatchObject({ exitStatus: 2 })
  })

  it('takes its token from a variable, standard input, or a hidden question, and from nothing else', async () => {
    const remote = 'https://a.example.com'
    const named = { remote, tokenEnv: 'OTHER' }
    expect((await choose(named, { environment: { OTHER: 'spt_other' } }).chosen)?.token).toBe('spt_other')
    const piped = { remote, tokenStdin: true }
    expect((await choose(piped, { stdin: `${token}\n` }).chosen)?.token).toBe(token)
    expect((await choose(piped, { terminal: true, answers: [token] }).chosen)?.token).toBe(token)
    await expect(choose({ remote }, { environment: {} }).chosen).rejects.toThrow(
      'The variable SPGW_TOKEN contains none',
    )
    await expect(choose(piped, { stdin: '' }).chosen).rejects.toThrow('Standard input contains none')
    await expect(choose({ remote }, { environment: { SPGW_TOKEN: 'sp_live_x' } }).chosen).rejects.toThrow(
      'not an API token',
    )
    await expect(choose({ ...piped, ...named }).chosen).rejects.toThrow('cannot be used together')
  })

  it('is none for a command of this machine', async () => {
    const local = { name: 'init', summary: 'Begin', options: [], examples: [], run: async () => 0 }
    const ran = await runLine(['init', '--remote', 'https://a.example.com'], { local: [local] })
    expect([ran.status, ran.io.err()]).toEqual([2, expect.stringContaining('works on this machine only')])
    // What is only in the environment is meant for the others.
    const quiet = await runLine(['init'], { local: [local], environment: { SPGW_REMOTE: 'https://a.example.com' } })
    expect(quiet.status).toBe(0)
  })
})

interface Heard {
  url: string | undefined
  method: string | undefined
  headers: IncomingMessage['headers']
  body: string
}

/** A console of one answer. */
async function serve(status: number, type: string, body: string): Promise<{ url: URL; heard: Heard[] }> {
  const heard: Heard[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const { url, method, headers } = request
    heard.push({ url, method, headers, body: Buffer.concat(chunks).toString() })
    response.writeHead(status, { 'content-type': type, 'x-spgw-version': '9.9.9' }).end(body)
  })
  onTestFinished(() => void server.close())
  return { url: new URL(await listen(server)), heard }
}

const caller = (url: URL, onVersion: (version: string) => void = () => {}) =>
  openCaller({ destination: { kind: 'remote', url, token }, version: '0.1.0', surface: 'cli', waitMs: 0, onVersion })

/** Sends so much of an answer, and dies. */
async function serveHalf(half: string): Promise<URL> {
  const server = createTcpServer((socket) => socket.once('data', () => socket.end(half, () => socket.destroy())))
  onTestFinished(() => void server.close())
  return new URL(await listen(server))
}

describe('calls to a gateway elsewhere', () => {
  it('carry the token and the input, and give what was answered', async () => {
    const { url, heard } = await serve(200, 'application/json', '[{"name":"ci"}]')
    const versions: string[] = []
    const rows = await caller(url, (version) => versions.push(version)).call(['keys', 'list'], { project: 'p' })
    expect(rows).toEqual([{ name: 'ci' }])
    expect(heard).toMatchObject([
      { url: '/api/keys/list', method: 'POST', body: '{"project":"p"}', headers: { authorization: `Bearer ${token}` } },
    ])
    expect(versions).toEqual(['9.9.9'])
  })

  it.each([
    ['before its answer', ''],
    ['in the middle of it', 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n[{'],
    [
      'in a stream',
      'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n3\r\n: \n\r\n',
    ],
  ])('say so when it ends %s, and what to do', async (_, half) => {
    const lostHint = (path: readonly string[]) => `Ask about ${path.join('.')}.`
    const destination = { kind: 'remote', url: await serveHalf(half), token } as const
    const call = openCaller({ destination, version: '0.1.0', surface: 'cli', waitMs: 0, lostHint }).call
    const read = async () => {
      for await (const _row of (await call(['seal', 'rotate'], {})) as AsyncIterable<unknown>);
    }
    await expect(read()).rejects.toMatchObject({ name: 'AnswerLost', hint: 'Ask about seal.rotate.' })
  })

  it('give a stream event by event, up to its end or its error', async () => {
    const events = ': \n\nevent: message\ndata: {"a":1}\n\nevent: message\ndata: {"a":2}\n\n'
    const read = async (text: string) => {
      const { url } = await serve(200, 'text/event-stream', text)
      const rows: unknown[] = []
      for await (const row of (await caller(url).call(['requests', 'tail'], {})) as AsyncIterable<unknown>)
        rows.push(row)
      return rows
    }
    expect(await read(`${events}event: done\n\nevent: message\ndata: {"a":3}\n\n`)).toEqual([{ a: 1 }, { a: 2 }])
    const refused = '{"code":"refused","status":403,"message":"No.","data":{"hint":"Ask."}}'
    await expect(read(`${events}event: error\ndata: ${refused}\n\n`)).rejects.toMatchObject({ code: 'refused' })
  })

  it.each([
    [401, '{"code":"unauthorized","message":"No such token.","hint":"Make one."}', 5, 'No such token.\nMake one.'],
    [403, '{"code":"refused","message":"Not yours.","data":{"hint":"Ask an owner."}}', 5, 'Not yours.\nAsk an owner.'],
    [404, '{"code":"not_found","message":"No key ci.","data":{"hint":"Look."}}', 4, 'No key ci.'],
    [200, '<html>welcome</html>', 1, 'is not the API of a gateway'],
    [302, '', 1, 'is not the API of a gateway'],
  ])('that are answered with %i fail with what to do', async (status, body, code, words) => {
    const { url } = await serve(status, 'application/json', body)
    const gateway = { 'keys.list': (input: object) => caller(url).call(['keys', 'list'], input) }
    const ran = await runLine(['keys', 'list'], { gateway })
    expect([ran.status, ran.io.err()]).toEqual([code, expect.stringContaining(words)])
  })

  it('that nobody answers end with 3', async () => {
    const gateway = {
      'keys.list': (input: object) => caller(new URL('http://127.0.0.1:1')).call(['keys', 'list'], input),
    }
    const ran = await runLine(['keys', 'list'], { gateway })
    expect([ran.status, ran.io.err()]).toEqual([
      3,
      expect.stringContaining('No gateway is running at http://127.0.0.1:1'),
    ])
  })

  it.runIf(hasOpenssl)(
    'that somebody without a trusted certificate answers end with 3, before the token is sent',
    async () => {
      const directory = mkdtempSync(join(tmpdir(), 'tls-'))
      onTestFinished(() => rmSync(directory, { recursive: true }))
      const { cert, key } = makeCertificate(directory, 'localhost')
      const heard: unknown[] = []
      const options = { cert: readFileSync(cert), key: readFileSync(key) }
      const server = createSecureServer(options, (request, response) => {
        heard.push(request.headers)
        response.end('[]')
      })
      onTestFinished(() => void server.close())
      const url = new URL(`https://localhost:${await listenOnPort(server)}`)
      const gateway = { 'keys.list': (input: object) => caller(url).call(['keys', 'list'], input) }
      const ran = await runLine(['keys', 'list'], { gateway })
      expect([ran.status, ran.io.err()]).toEqual([3, expect.stringContaining('NODE_EXTRA_CA_CERTS')])
      expect(heard).toEqual([])
    },
  )
})
