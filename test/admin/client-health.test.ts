import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { askHealth } from '../../src/admin/client-health.ts'

type Answer = [status: number, body: unknown]

async function listen(answer: Answer | null, place: string | number): Promise<Server> {
  const server = createServer((_request, response) => {
    if (answer === null) return
    response.statusCode = answer[0]
    response.end(typeof answer[1] === 'string' ? answer[1] : JSON.stringify(answer[1]))
  })
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  await new Promise<void>((resolve) => server.listen(place, () => resolve()))
  return server
}

function socketIn(): string {
  const directory = mkdtempSync(join(tmpdir(), 'health-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  return join(directory, 'a.sock')
}

const patience = 60_000

/** The process answers, and its listener does as is said. */
async function asked(answer: Answer, onlyLive = false) {
  const socket = socketIn()
  const { port } = (await listen(answer, 0)).address() as AddressInfo
  const listener = `http://127.0.0.1:${port}`
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

  it('of a process that never answers has a limit', async () => {
    const socket = socketIn()
    await listen(null, socket)
    expect(await askHealth(socket, false, 50)).toEqual({
      ...{ ok: false, state: 'no answer', listener: null, reasons: ['no answer within 50 ms'] },
    })
  })

  it('whose listener refuses connections is not ready', async () => {
    const socket = socketIn()
    const gone = await listen([200, {}], 0)
    const { port } = gone.address() as AddressInfo
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
