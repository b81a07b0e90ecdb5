import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { runCommand, startGateway, type TestGateway } from '../support/gateway.ts'
import { type LaneCall, laneCalls } from '../support/lane-calls.ts'
import { listenOnPort } from '../support/listen.ts'
import { open, type RawExchange } from '../support/raw-http.ts'
import { type Stage, setStage } from '../support/stage.ts'

let stage: Stage
let directory: string
let again: TestGateway | null = null

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'spgw-'))
  stage = await setStage({ dataDirectory: directory })
})
afterEach(async () => {
  await again?.stop()
  again = null
  await stage.close()
  await rm(directory, { recursive: true, force: true })
})

function start(lane: LaneCall): RawExchange {
  const { path, body } = lane.call(stage.models[lane.lane], { stream: true })
  const headers: [string, string][] = [lane.credential(stage.key), ['content-type', 'application/json']]
  return open(stage.gateway.baseUrl + path, { headers, body })
}

describe('the end of a gateway', () => {
  it('SIGTERM lets open streams come to their end, with their records', async () => {
    const held = laneCalls.map((lane) => {
      const gate = Promise.withResolvers<void>()
      stage.mocks[lane.lane].next({ hold: { before: lane.firstContent + 1, until: gate.promise } })
      return { lane, release: gate.resolve, exchange: start(lane) }
    })
    for (const { lane, exchange } of held) await exchange.received(lane.contentMark)
    const ended = stage.gateway.kill('SIGTERM')
    const ids: string[] = []
    for (const { lane, exchange, release } of held) {
      release()
      const answer = await exchange.whole
      expect(answer.body.toString()).toBe(stage.mocks[lane.lane].last.answerBody.toString())
      ids.push(answer.requestId)
    }
    expect(await ended).toBe(0)
    again = await startGateway({ dataDirectory: directory })
    for (const id of ids) expect(await again.record(id)).toMatchObject({ state: 'settled', status: 200, error: null })
  })

  it('is no signal of other programs, and none opens a debugger', async () => {
    stage.gateway.signal('SIGUSR1')
    stage.gateway.signal('SIGHUP')
    await stage.gateway.said('configuration reloaded')
    const [lane] = laneCalls
    if (lane === undefined) throw new Error('no lane')
    expect((await start(lane).whole).status).toBe(200)
    expect(await stage.gateway.kill('SIGTERM')).toBe(0)
    expect(stage.gateway.stderr()).not.toContain('Debugger')
  })

  it('kill -9: every answered request has its one record, and one under way is interrupted', async () => {
    const done: string[] = []
    for (const lane of laneCalls) done.push((await start(lane).whole).requestId)
    const [lane] = laneCalls
    if (lane === undefined) throw new Error('no lane')
    stage.mocks[lane.lane].next({ hold: { before: lane.firstContent + 1 } })
    const open = start(lane)
    await open.received(lane.contentMark)
    const cut = String((await open.head).headers['x-sp-request-id'])
    expect(await stage.gateway.kill('SIGKILL')).toBeNull()
    expect((await open.whole).ended).toBe('cut')
    again = await startGateway({ dataDirectory: directory })
    for (const id of done) expect(await again.record(id)).toMatchObject({ state: 'settled', status: 200 })
    expect(await again.record(cut)).toMatchObject({ state: 'interrupted', provider: null })
    const records = await again.admin.requests.list({ limit: 100 })
    expect(records.map((record) => record.id).sort()).toEqual([...done, cut].sort())
  })
})

describe('a start that is refused', () => {
  it('says so and ends: the port is taken', async () => {
    const taken = createServer()
    const address = `127.0.0.1:${await listenOnPort(taken)}`
    const other = await mkdtemp(join(tmpdir(), 'spgw-'))
    const { code, stderr } = await runCommand([
      'serve',
      '--data-dir',
      other,
      '--listen',
      address,
      '--console-listen',
      '127.0.0.1:0',
    ])
    taken.close()
    await rm(other, { recursive: true, force: true })
    expect(code).toBe(1)
    expect(stderr).toContain(address)
  })

  it('says so and ends: another gateway has the data directory', async () => {
    const { code, stderr } = await runCommand([
      'serve',
      '--data-dir',
      directory,
      '--listen',
      '127.0.0.1:0',
      '--console-listen',
      '127.0.0.1:0',
    ])
    expect(code).toBe(1)
    expect(stderr).toMatch(/running|another/i)
    expect((await fetch(`${stage.gateway.baseUrl}/readyz`)).status).toBe(200)
  })
})
