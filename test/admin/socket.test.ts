import { fork } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, lstatSync, mkdirSync, statSync, writeFileSync } from 'node:fs'
import http, { request } from 'node:http'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createAdminClient } from '../../src/admin/client.ts'
import { openCaller } from '../../src/admin/client-calls.ts'
import { GatewayNotRunning } from '../../src/admin/client-fault.ts'
import { listOperations } from '../../src/admin/contract/operations.ts'
import { startAdminServer } from '../../src/admin/server.ts'
import { openSocketTransport } from '../../src/admin/socket-transport.ts'
import { connect, startTestGateway, temporaryDirectory } from './gateway.ts'

const json = { 'content-type': 'application/json' }
const options = { socketGroup: null, dataDirectory: '/elsewhere', version: '1.2.3' }

interface Answer {
  status: number
  headers: Record<string, unknown>
  body: string
}

function ask(socketPath: string, path: string, headers: Record<string, string>, body = '{}'): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const call = request(
      { socketPath, path, method: 'POST', headers: { host: 'spgw.socket', ...headers } },
      (answer) => {
        const chunks: Buffer[] = []
        answer.on('data', (chunk: Buffer) => chunks.push(chunk))
        answer.on('end', () =>
          resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: Buffer.concat(chunks).toString() }),
        )
      },
    )
    call.on('error', reject)
    call.end(body)
  })
}

describe('the admin socket', () => {
  it('refuses a body that is no object, on every operation, and goes on', async () => {
    const { socketPath } = await startTestGateway()
    const bodies = ['null', '[]', '[{}]', '"text"', '0', 'true', ' null ']
    for (const { path } of listOperations()) {
      const answers = await Promise.all(bodies.map((body) => ask(socketPath, `/api/${path.join('/')}`, json, body)))
      expect([path, ...answers.map(({ status }) => status)]).toEqual([path, ...bodies.map(() => 400)])
      expect(answers[0]!.body).toContain('"code":"invalid"')
    }
    expect(await ask(socketPath, '/api/status', json)).toMatchObject({ status: 200 })
  })

  it('is open to its owner only, whatever the mask', async () => {
    const mask = process.umask(0)
    onTestFinished(() => void process.umask(mask))
    const { socketPath } = await startTestGateway()
    expect(statSync(socketPath).mode & 0o777).toBe(0o600)
    expect(process.umask()).toBe(0)
  })

  it.each([
    ['with its length', {}],
    ['in pieces', { 'transfer-encoding': 'chunked' }],
  ])('answers who sends too much %s, and goes on', async (_how, headers) => {
    const { socketPath } = await startTestGateway()
    const large = await ask(socketPath, '/api/status', { ...json, ...headers }, JSON.stringify('a'.repeat(5_000_000)))
    expect(large).toMatchObject({ status: 413, body: expect.stringContaining('"code":"invalid"') })
    expect(large.body).toContain('larger than 1024 KiB')
    expect(await ask(socketPath, '/api/status', json, '{"a"')).toMatchObject({ status: 400 })
    expect(await ask(socketPath, '/api/status', json)).toMatchObject({ status: 200 })
  })

  it('takes configuration files that are large, and with them the plan of all they describe', async () => {
    const { socketPath } = await startTestGateway()
    const client = connect(socketPath)
    const files = { 'gateway.yaml': `projects: [default]\n# ${'x'.repeat(3_000_000)}\n` }
    expect(await client.diff({ files, variables: {} })).toMatchObject({ changes: [], problems: [] })
    const names = Array.from({ length: 10_000 }, (_, at) => `key default/production/${String(at).padStart(60, 'k')}`)
    const plan = Object.fromEntries(names.map((name) => [name, 'a'.repeat(64)]))
    const applied = client.apply({ files, variables: {}, expect: plan })
    await expect(applied).rejects.toThrow(/changed/)
  })

  it.each([
    ['its own', 0o700, 0o710],
    ['that another group was named for', 0o710, 0o710],
    ['that is open', 0o755, 0o755],
  ])(
    'is open to a group where one is named, which may pass through a data directory %s',
    async (_which, before, after) => {
      const dataDirectory = temporaryDirectory()
      chmodSync(dataDirectory, before)
      const socketPath = join(dataDirectory, 'admin.sock')
      const socketGroup = String(process.getgid?.())
      const server = await startAdminServer({ ...options, dataDirectory, socketPath, socketGroup })
      onTestFinished(() => server.close())
      expect(statSync(socketPath).mode & 0o777).toBe(0o660)
      expect(statSync(dataDirectory).mode & 0o777).toBe(after)
    },
  )

  it('lets the group through no other directory, such as the one of a user for sockets', async () => {
    const runtime = temporaryDirectory()
    chmodSync(runtime, 0o700)
    const socketPath = join(runtime, 'spgw-1.sock')
    const server = await startAdminServer({ ...options, socketPath, socketGroup: String(process.getgid?.()) })
    onTestFinished(() => server.close())
    expect(statSync(socketPath).mode & 0o777).toBe(0o660)
    expect(statSync(runtime).mode & 0o777).toBe(0o700)
  })

  it('refuses a group that is not there, and takes nothing', async () => {
    const socketPath = join(temporaryDirectory(), 'admin.sock')
    const start = startAdminServer({ ...options, socketPath, socketGroup: 'no-such-group' })
    await expect(start).rejects.toThrow(/no group no-such-group/)
    expect(lstatSync(socketPath, { throwIfNoEntry: false })).toBeUndefined()
  })

  it.each([
    ['an origin', { origin: 'http://127.0.0.1:8788' }],
    ['a referer', { referer: 'http://evil.example/' }],
    ['fetch metadata', { 'sec-fetch-site': 'cross-site' }],
    ['the host of a page', { host: 'localhost' }],
  ])('refuses what a browser sent: %s', async (_what, headers) => {
    const { socketPath } = await startTestGateway()
    const answer = await ask(socketPath, '/api/status', { 'content-type': 'application/json', ...headers })
    expect(answer.status).toBe(403)
    expect(JSON.parse(answer.body)).toMatchObject({ code: 'refused' })
    expect(answer.headers).not.toHaveProperty('access-control-allow-origin')
  })

  it('tells its version, and serves POST below /api only', async () => {
    const { socketPath } = await startTestGateway()
    const json = { 'content-type': 'application/json' }
    const status = await ask(socketPath, '/api/status', json)
    expect(status).toMatchObject({ status: 200, headers: { 'x-spgw-version': '1.2.3' } })
    expect((await ask(socketPath, '/status', json)).status).toBe(404)
    expect((await ask(socketPath, '/api/nothing/here', json)).status).toBe(404)
  })

  it.each([
    ['projects/add', 1],
    ['prices/update', 4],
  ])('reads for %s no more than %d MiB', async (path, most) => {
    const { socketPath } = await startTestGateway()
    const askWith = (size: number) => {
      const body = JSON.stringify({ name: 'x'.repeat(size) })
      return ask(socketPath, `/api/${path}`, { 'content-type': 'application/json' }, body)
    }
    expect((await askWith(most * 1024 * 1024)).status).toBe(413)
    expect((await askWith(most * 1024 * 1024 - 1000)).status).toBe(400)
  })

  it('takes the place of a socket that nobody listens on', async () => {
    const socketPath = join(temporaryDirectory(), 'admin.sock')
    // A process that is killed leaves its socket behind.
    const script = join(temporaryDirectory(), 'leave.cjs')
    writeFileSync(script, `require('net').createServer().listen(process.argv[2], () => process.send('up'))`)
    const child = fork(script, [socketPath])
    await once(child, 'message')
    child.kill('SIGKILL')
    await once(child, 'exit')
    expect(lstatSync(socketPath).isSocket()).toBe(true)
    const server = await startAdminServer({ ...options, socketPath })
    expect(lstatSync(socketPath).isSocket()).toBe(true)
    await server.close()
    expect(lstatSync(socketPath, { throwIfNoEntry: false })).toBeUndefined()
  })

  it('leaves a gateway alone that listens, and names its process, also while that one is starting', async () => {
    const socketPath = join(temporaryDirectory(), 'admin.sock')
    const first = await startAdminServer({ ...options, socketPath })
    onTestFinished(() => first.close())
    const refused: unknown = await startAdminServer({ ...options, socketPath }).catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(Error)
    expect(refused).toMatchObject({ name: 'AdminSocketRefused', processId: process.pid })
    expect(lstatSync(socketPath).isSocket()).toBe(true)
  })

  it('leaves alone whatever accepts a connection, and whatever is no socket', async () => {
    const directory = temporaryDirectory()
    const other = createServer((socket) => socket.destroy()).listen(join(directory, 'other.sock'))
    await once(other, 'listening')
    onTestFinished(() => void other.close())
    await expect(startAdminServer({ ...options, socketPath: join(directory, 'other.sock') })).rejects.toThrow(/listens/)
    writeFileSync(join(directory, 'file'), 'precious')
    mkdirSync(join(directory, 'folder'))
    for (const name of ['file', 'folder'])
      await expect(startAdminServer({ ...options, socketPath: join(directory, name) })).rejects.toThrow(/not a socket/)
  })
})

const plain = { version: '0.1.0', surface: 'cli', waitMs: 800 } as const

describe('the client', () => {
  it('says that no gateway is running, and what to do', async () => {
    const call = connect(join(temporaryDirectory(), 'admin.sock')).status({})
    await expect(call).rejects.toBeInstanceOf(GatewayNotRunning)
    await expect(call).rejects.toMatchObject({ hint: expect.stringContaining('spgw serve') })
  })

  it('waits for a gateway that is still starting: until it listens, then until it is open', async () => {
    const socketPath = join(temporaryDirectory(), 'admin.sock')
    const call = connect(socketPath, 10_000).status({})
    await startTestGateway(socketPath)
    expect(await call).toMatchObject({ version: '1.2.3', process_id: process.pid })
  })

  it.each<[string, (path: string) => Promise<unknown>]>([
    ['typed', (path) => connect(path, 800).status({})],
    ['plain', (path) => openCaller({ ...plain, destination: { kind: 'socket', path } }).call(['status'], {})],
  ])('takes a time in which nobody was run for no waiting (%s)', async (_which, start) => {
    const socketPath = join(temporaryDirectory(), 'admin.sock')
    const outcome = start(socketPath).catch((error: unknown) => error)
    await new Promise(setImmediate)
    const end = performance.now() + 1000
    while (performance.now() < end);
    // The dial before that has failed by then.
    await new Promise((resolve) => setTimeout(resolve, 20))
    const server = http.createServer((_request, response) => response.end('{}')).listen(socketPath)
    onTestFinished(() => void server.close().closeAllConnections())
    expect(await outcome).not.toBeInstanceOf(GatewayNotRunning)
  })

  it('hears the version of the gateway', async () => {
    const { socketPath } = await startTestGateway()
    const transport = openSocketTransport(socketPath, { waitMs: 0 })
    onTestFinished(() => transport.close())
    const heard: string[] = []
    const onVersion = (version: string) => void heard.push(version)
    await createAdminClient({ transport, version: '9.9.9', surface: 'tui', onVersion }).workspace.show({})
    expect(heard).toEqual(['1.2.3'])
  })
})
