import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type RequestListener, type Server } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { networkInterfaces, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { askHealth } from '../../src/admin/client-health.ts'
import { hasOpenssl, makeCertificate } from '../support/certificate.ts'

type Answer = [status: number, body: unknown]

function answering(answer: Answer | null): RequestListener {
  return (_request, response) => {
    if (answer === null) return
    response.statusCode = answer[0]
    response.end(typeof answer[1] === 'string' ? answer[1] : JSON.stringify(answer[1]))
  }
}

async function open(server: Server, place: string | number, host?: string): Promise<Server> {
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  await new Promise<void>((resolve) =>
    server.listen({ [typeof place === 'string' ? 'path' : 'port']: place, host }, resolve),
  )
  return server
}

const listen = (answer: Answer | null, place: string | number) => open(createServer(answering(answer)), place)
const portOf = (server: Server) => (server.address() as AddressInfo).port

function socketIn(): string {
  const directory = mkdtempSync(join(tmpdir(), 'health-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  return join(directory, 'a.sock')
}

const patience = 60_000
const hasIpv6 = Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === '::1'))

/** The process answers, and its listener does as is said. */
async function asked(answer: Answer, onlyLive = false) {
  const socket = socketIn()
  const listener = `http://127.0.0.1:${portOf(await listen(answer, 0))}`
  await listen([200, { status: 'alive', listener }], socket)
  const found = await askHealth(socket, onlyLive, patience)
  expect(found.listener).toBe(listener)
  return [found.ok, found.state, ...found.reasons]
}

describe('the health of a gateway', () => {
  it.each<[string, Answer, unknown[]]>([
    ['is ready', [200, { status: 'ready' }], [true, 'ready']],
    ['is ready, with something to say', [200, { reasons: ['a disk is slow'] }], [true, 'ready', 'a disk is slow']],
    ['is not ready', [503, { status: 'not ready', reasons: ['x', 7] }], [false, 'not ready', 'x', '7']],
    ['drains', [503, { status: 'draining', reasons: ['it stops'] }], [false, 'draining', 'it stops']],
    ['answers with no reason', [500, 'oops'], [false, 'not ready', 'the listener answered 500']],
    ['answers with a list', [503, ['x']], [false, 'not ready', 'the listener answered 503']],
  ])('whose listener %s', async (_what, answer, health) => {
    expect(await asked(answer)).toEqual(health)
  })

  it('is only that it lives where no more is asked, whatever its listener does', async () => {
    expect(await asked([503, {}], true)).toEqual([true, 'alive'])
  })

  it.skipIf(!hasIpv6)('is asked of a listener at an IPv6 address (needs ::1)', async () => {
    const socket = socketIn()
    const listener = `http://[::1]:${portOf(await open(createServer(answering([200, {}])), 0, '::1'))}`
    await listen([200, { listener }], socket)
    expect(await askHealth(socket, false, patience)).toEqual({ ok: true, state: 'ready', reasons: [], listener })
  })

  it.skipIf(!hasOpenssl)('is asked over TLS, whatever name the certificate has (needs openssl)', async () => {
    const socket = socketIn()
    const { cert, key } = makeCertificate(dirname(socket), 'gateway.example')
    const files = { cert: readFileSync(cert), key: readFileSync(key) }
    const port = portOf(await open(createTlsServer(files, answering([503, { status: 'draining' }])), 0))
    const listener = `https://127.0.0.1:${port}`
    await listen([200, { listener }], socket)
    expect(await askHealth(socket, false, patience)).toEqual({
      ...{ ok: false, state: 'draining', reasons: ['the listener answered 503'], listener },
    })
  })

  it('of a process that never answers has a limit', async () => {
    const socket = socketIn()
    await listen(null, socket)
    expect(await askHealth(socket, false, 50)).toEqual({
      ...{ ok: false, state: 'no answer', listener: null, reasons: ['no answer within 50 ms'] },
    })
  })

  it('of a socket that is none says why it cannot be opened', async () => {
    const socket = join(dirname(socketIn()), 'x'.repeat(200))
    expect(await askHealth(socket, false, patience)).toMatchObject({ ok: false, state: 'no answer', listener: null })
  })

  it('whose listener refuses connections is not ready', async () => {
    const socket = socketIn()
    const gone = await listen([200, {}], 0)
    const port = portOf(gone)
    await new Promise((resolve) => gone.close(resolve))
    await listen([200, { listener: `http://127.0.0.1:${port}` }], socket)
    expect(await askHealth(socket, false, patience)).toMatchObject({
      ...{ ok: false, state: 'not ready', reasons: ['the listener cannot be reached: ECONNREFUSED'] },
    })
  })

  it.each<[string, Answer, object]>([
    ['has no listener yet', [200, { listener: null }], { state: 'starting', reasons: ['the gateway is starting'] }],
    ['is an older one', [404, 'no such page'], { state: 'no answer', reasons: ['the admin socket answered 404'] }],
  ])('of a process that %s', async (_what, answer, health) => {
    const socket = socketIn()
    await listen(answer, socket)
    expect(await askHealth(socket, false, patience)).toEqual({ ok: false, listener: null, ...health })
  })

  it('of none is that it does not run', async () => {
    const socket = socketIn()
    expect(await askHealth(socket, false, patience)).toEqual({
      ...{ ok: false, state: 'not running', listener: null, reasons: [`nothing listens at ${socket}`] },
    })
  })
})
