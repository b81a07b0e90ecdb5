import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { RequestRecord } from '../../src/core/record.ts'
import { startCrowd } from '../support/crowd.ts'
import { gatewayCommand, listAllRequests, runCommand, startGateway } from '../support/gateway.ts'
import { laneCall } from '../support/lane-calls.ts'
import { open } from '../support/raw-http.ts'
import { type Stage, setStage } from '../support/stage.ts'

let directory: string
let stage: Stage | null = null
const children: ChildProcess[] = []
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'drain-'))
})
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
  await stage?.close()
  stage = null
  rmSync(directory, { recursive: true, force: true })
})

async function start(config = ''): Promise<Stage> {
  stage = await setStage({ config, dataDirectory: directory, environment: { SPGW_GATEWAY_WORKERS: '2' } })
  return stage
}

const anywhere = ['--listen', '127.0.0.1:0', '--console-listen', '127.0.0.1:0']

/** A call in the middle of its answer, or before it. The crowd does not use this lane. */
async function hold({ mocks, models, key, gateway }: Stage, stream: boolean) {
  const lane = laneCall('gemini')
  const gate = Promise.withResolvers<void>()
  const turn = mocks.gemini.next({ hold: { before: stream ? lane.firstContent + 1 : 'headers', until: gate.promise } })
  const { path, body } = lane.call(models.gemini, { stream })
  const headers: [string, string][] = [lane.credential(key), ['content-type', 'application/json']]
  const exchange = open(gateway.baseUrl + path, { headers, body })
  await (stream ? exchange.received(lane.contentMark) : turn.call)
  return { ...exchange, lane, release: gate.resolve }
}

/** What the data directory holds once the gateway is gone, read by the next one. */
async function recordsAfterwards(): Promise<Map<string, RequestRecord>> {
  const next = await startGateway({ dataDirectory: directory })
  const records = await listAllRequests(next)
  await next.stop()
  const byId = new Map(records.map((record) => [record.id, record]))
  expect(byId.size, 'doubled records').toBe(records.length)
  return byId
}

async function untilRefused(url: string): Promise<void> {
  for (;;) {
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    const refused = await once(socket, 'connect').then(
      () => false,
      () => true,
    )
    socket.destroy()
    if (refused) return
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

describe('SIGTERM under load', () => {
  it('lets all that was accepted end whole, records it, and ends with 0', async () => {
    const stage = await start()
    const crowd = startCrowd(stage, { clients: 8 })
    // One after the other: the mock deals its scripts out as calls come.
    const held = [await hold(stage, true), await hold(stage, true), await hold(stage, false)]
    await crowd.answered(20)
    const ended = stage.gateway.kill('SIGTERM')
    await untilRefused(stage.gateway.baseUrl)
    for (const { release } of held) release()
    const answers = await Promise.all(held.map(({ whole }) => whole))
    await crowd.gone
    expect(await ended).toBe(0)

    expect(crowd.tally.failed).toEqual([])
    expect(crowd.tally.refused).toBe(8)
    for (const { ended: how, status } of answers) expect([how, status]).toEqual(['clean', 200])
    const found = [...(await recordsAfterwards()).values()].map(({ id, state, status }) => `${id} ${state} ${status}`)
    const sent = [...crowd.tally.complete.keys(), ...answers.map(({ requestId }) => requestId)]
    expect(found.sort()).toEqual(sent.map((id) => `${id} settled 200`).sort())
  })

  it('answers on a connection that stands, says that it drains, and closes it', async () => {
    const stage = await start()
    const { port } = new URL(stage.gateway.baseUrl)
    const held = await hold(stage, true)
    const socket = connect(Number(port), '127.0.0.1')
    let text = ''
    socket.setEncoding('utf8').on('data', (part: string) => (text += part))
    const ask = () => socket.write('GET /readyz HTTP/1.1\r\nhost: x\r\n\r\n')
    const saw = async (mark: string) => {
      while (!text.includes(mark)) await once(socket, 'data')
    }
    ask()
    await saw('"status":"ready"')
    // Where the drain has begun, a request on a connection in use is still taken.
    const ended = stage.gateway.kill('SIGTERM')
    while (!text.includes('"status":"draining"')) {
      ask()
      await Promise.race([once(socket, 'data'), once(socket, 'close').then(() => Promise.reject(new Error(text)))])
    }
    expect(text.slice(text.indexOf('HTTP/1.1 503 ')).toLowerCase()).toContain('connection: close')
    await once(socket, 'close')
    held.release()
    await held.whole
    expect(await ended).toBe(0)
  })

  it('at the limit ends what is left in words, and records it', async () => {
    const stage = await start('gateway: { drain_timeout: 200ms }')
    const held = [await hold(stage, true), await hold(stage, false)] as const
    const unused = connect(Number(new URL(stage.gateway.baseUrl).port), '127.0.0.1')
    await once(unused, 'connect')
    const ended = stage.gateway.kill('SIGTERM')
    const [stream, whole] = await Promise.all([held[0].whole, held[1].whole])
    expect(stream.body.toString()).toContain(held[0].lane.errorMark)
    expect([stream.ended, stream.status]).toEqual(['clean', 200])
    expect([whole.ended, whole.status, whole.headers.get('x-sp-error')]).toEqual(['clean', 503, 'overloaded'])
    expect(await ended).toBe(0)
    unused.destroy()
    const records = await recordsAfterwards()
    for (const { requestId } of [stream, whole])
      expect(records.get(requestId)).toMatchObject({
        state: 'settled',
        error: { code: 'overloaded', origin: 'gateway' },
      })
    for (const { release } of held) release()
  })

  it('records the end of those whose clients hang up meanwhile, whose bodies are still to be sealed', async () => {
    const stage = await start()
    await stage.gateway.admin.policies.add({ name: 'all', capture: 'redacted', attach: ['workspace'] })
    const held = [await hold(stage, true), await hold(stage, true), await hold(stage, true)]
    const ids = await Promise.all(held.map(async ({ head }) => String((await head).headers['x-sp-request-id'])))
    const ended = stage.gateway.kill('SIGTERM')
    await stage.gateway.said('"message":"draining"')
    for (const { abort } of held) abort()
    expect(await ended).toBe(0)
    const records = await recordsAfterwards()
    expect(ids.map((id) => records.get(id)?.error?.code)).toEqual(ids.map(() => 'client_closed'))
    for (const { release } of held) release()
  })

  it('a second signal ends it at once, and what was open is interrupted', async () => {
    const stage = await start()
    const held = await hold(stage, true)
    const requestId = String((await held.head).headers['x-sp-request-id'])
    stage.gateway.signal('SIGTERM')
    await stage.gateway.said('"message":"draining"')
    expect(await stage.gateway.kill('SIGTERM')).toBe(1)
    expect((await recordsAfterwards()).get(requestId)?.state).toBe('interrupted')
    held.release()
  })
})

/** `serve` on the directory, whatever becomes of it. */
function serve(): { child: ChildProcess; output: () => string; ended: Promise<number | null> } {
  const { command, leading } = gatewayCommand()
  const child = spawn(command, [...leading, 'serve', '--data-dir', directory, ...anywhere], {
    env: { PATH: process.env.PATH ?? '' },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let output = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (output += text))
  children.push(child)
  const ended = once(child, 'close').then(([code]: (number | null)[]) => code ?? null)
  return { child, output: () => output, ended }
}

/** Resolves when it serves, or has ended. */
async function up({ output, child, ended }: ReturnType<typeof serve>): Promise<void> {
  while (!/^spgw .*gateway http/m.test(output()) && child.exitCode === null)
    await Promise.race([once(child.stderr!, 'data'), ended])
}

describe('one gateway a data directory', () => {
  it('after kill -9 starts on what the dead one left, also when its pid is now another’s', async () => {
    const dead = serve()
    await up(dead)
    dead.child.kill('SIGKILL')
    await dead.ended
    expect(readdirSync(directory)).toEqual(expect.arrayContaining(['admin.sock', 'spgw.lock', 'spgw.pid']))
    writeFileSync(join(directory, 'spgw.pid'), `${process.pid}\n`)
    const next = serve()
    await up(next)
    expect(readFileSync(join(directory, 'spgw.pid'), 'utf8')).toBe(`${next.child.pid}\n`)
    next.child.kill('SIGTERM')
    expect(await next.ended).toBe(0)
  })

  it('refuses a second with the pid of the first, whatever socket it would take, and harms nothing', async () => {
    const first = serve()
    await up(first)
    const others: Record<string, string>[] = [{}, { SPGW_ADMIN_SOCKET: join(directory, 'other.sock') }]
    for (const environment of others) {
      const { code, stderr } = await runCommand(['serve', '--data-dir', directory, ...anywhere], { environment })
      expect([code, stderr]).toEqual([1, expect.stringContaining(`another spgw (process ${first.child.pid}) is using`)])
    }
    expect((await runCommand(['status', '--data-dir', directory])).code).toBe(0)
    first.child.kill('SIGTERM')
    expect(await first.ended).toBe(0)
  })

  it('lets one of several that start in the same instant have it', async () => {
    const all = Array.from({ length: 4 }, () => serve())
    await Promise.all(all.map(up))
    const alive = all.filter(({ child }) => child.exitCode === null)
    expect(alive.length).toBe(1)
    expect((await runCommand(['status', '--data-dir', directory])).code).toBe(0)
    for (const each of all.filter((one) => !alive.includes(one))) {
      expect(await each.ended).toBe(1)
      expect(each.output()).toContain(`(process ${alive[0]?.child.pid})`)
    }
    alive[0]?.child.kill('SIGTERM')
    expect(await alive[0]?.ended).toBe(0)
  })

  it('SIGTERM in the middle of a start ends it cleanly', async () => {
    const starting = serve()
    while (!existsSync(join(directory, 'spgw.pid'))) await new Promise((resolve) => setTimeout(resolve, 2))
    starting.child.kill('SIGTERM')
    expect(await starting.ended).toBe(0)
    expect(readdirSync(directory)).not.toContain('admin.sock')
    expect(readdirSync(directory)).not.toContain('spgw.pid')
  })
})
