import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { makeHealthCommand } from '../../cli/health-command.ts'
import { runLine } from './run-line.ts'

let directory: string
let servers: Server[]
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'health-'))
  servers = []
})
afterEach(async () => {
  for (const server of servers) {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  }
  rmSync(directory, { recursive: true })
})

async function listen(where: string | null, react: RequestListener): Promise<string> {
  const server = createServer(react)
  servers.push(server)
  if (where === null) server.listen(0, '127.0.0.1')
  else server.listen(where)
  await once(server, 'listening')
  return where ?? `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const say =
  (status: number, body: object): RequestListener =>
  (request, response) =>
    void response.writeHead(status).end(JSON.stringify({ ...body, asked: request.url }))

/** What the process and its listener answer; undefined: there is none. */
interface Scene {
  process?: RequestListener
  listener?: RequestListener
}

async function ask(scene: Scene, argv: readonly string[] = []) {
  const socketPath = join(directory, 'admin.sock')
  const listener = scene.listener === undefined ? null : await listen(null, scene.listener)
  if (scene.process !== undefined) await listen(socketPath, scene.process)
  else if (listener !== null) await listen(socketPath, say(200, { status: 'alive', listener }))
  const health = makeHealthCommand({ locate: async () => socketPath })
  const { status, io } = await runLine(['health', ...argv], { local: [health] })
  return { status, out: io.out(), err: io.err(), listener }
}

describe('spgw health', () => {
  it('ends with 0 when the listener says that it is ready', async () => {
    expect(await ask({ listener: say(200, { status: 'ready', reasons: [] }) })).toMatchObject({
      status: 0,
      out: 'ready\n',
      err: '',
    })
  })

  it('says all of it as JSON', async () => {
    const { status, out, listener } = await ask({ listener: say(200, { status: 'ready', reasons: [] }) }, ['--json'])
    expect([status, JSON.parse(out)]).toEqual([0, { ok: true, state: 'ready', reasons: [], listener }])
  })

  it.each([
    ['not ready', { status: 'not ready', reasons: ['journal: no space', 'x'] }, 'not ready: journal: no space; x\n'],
    ['draining', { status: 'draining', reasons: ['the gateway is draining'] }, 'draining: the gateway is draining\n'],
  ])('ends with 1 and says why when it is %s', async (_, body, out) => {
    expect(await ask({ listener: say(503, body) })).toMatchObject({ status: 1, out })
  })

  it('ends with 1 while the gateway starts, which is alive meanwhile', async () => {
    const scene = { process: say(200, { status: 'alive', listener: null }) }
    expect(await ask(scene)).toMatchObject({ status: 1, out: 'starting: the gateway is starting\n' })
  })

  it('asks only the process with --live', async () => {
    const scene = { process: say(200, { status: 'alive', listener: null }) }
    expect(await ask(scene, ['--live'])).toMatchObject({ status: 0, out: 'alive\n' })
  })

  it('ends with 1 when nothing runs', async () => {
    const { status, out } = await ask({})
    expect([status, out]).toEqual([1, `not running: nothing listens at ${join(directory, 'admin.sock')}\n`])
  })

  it('ends with 1 when the listener refuses connections', async () => {
    const scene = { process: say(200, { status: 'alive', listener: 'http://127.0.0.1:1' }) }
    expect(await ask(scene)).toMatchObject({
      status: 1,
      out: 'not ready: the listener cannot be reached: ECONNREFUSED\n',
    })
  })

  it('gives up after the timeout', async () => {
    const scene = { process: () => {} }
    expect(await ask(scene, ['--timeout', '50ms'])).toMatchObject({
      status: 1,
      out: 'no answer: no answer within 50 ms\n',
    })
  })

  it('refuses a timeout that is none, and a gateway elsewhere', async () => {
    expect(await ask({}, ['--timeout', 'soon'])).toMatchObject({ status: 2, out: '' })
    const remote = await ask({}, ['--remote', 'https://gateway.example'])
    expect([remote.status, remote.err]).toEqual([2, expect.stringContaining('works on this machine only')])
  })
})
