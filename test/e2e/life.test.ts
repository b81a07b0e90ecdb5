import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdtempSync, openSync, readdirSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { gatewayCommand, runCommand } from '../support/gateway.ts'
import { laneCall } from '../support/lane-calls.ts'
import { open } from '../support/raw-http.ts'
import { setStage } from '../support/stage.ts'

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'life-'))
})
afterEach(() => rmSync(directory, { recursive: true, force: true }))

/** Whether somebody accepts connections there. */
async function accepts(url: string): Promise<boolean> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  const accepted = await once(socket, 'connect').then(
    () => true,
    () => false,
  )
  socket.destroy()
  return accepted
}

describe('the end', () => {
  it('SIGTERM: an open stream ends by itself, new connections are refused, the status is 0', async () => {
    const stage = await setStage({ dataDirectory: directory })
    const lane = laneCall('openai')
    const gate = Promise.withResolvers<void>()
    stage.mocks.openai.next({ hold: { before: lane.firstContent + 1, until: gate.promise } })
    const { path, body } = lane.call(stage.models.openai, { stream: true })
    const headers: [string, string][] = [lane.credential(stage.key), ['content-type', 'application/json']]
    const stream = open(stage.gateway.baseUrl + path, { headers, body })
    await stream.received(lane.contentMark)

    const ended = stage.gateway.kill('SIGTERM')
    while (await accepts(stage.gateway.baseUrl)) await new Promise(setImmediate)
    gate.resolve()
    const answer = await stream.whole
    expect(answer.ended).toBe('clean')
    expect(answer.body.toString().endsWith(lane.endMark)).toBe(true)
    expect(await ended).toBe(0)
    expect(readdirSync(directory)).not.toContain('admin.sock')
    await stage.close()
  })
})

describe('a log that cannot be written', () => {
  it('stops neither the start nor the end: its disk is full', async () => {
    const full = openSync('/dev/full', 'w')
    const unwritten = serve(['ignore', full, full])
    closeSync(full)
    await endsInOrder(unwritten)
  })

  it('stops neither the start nor the end: nobody reads it any more', async () => {
    const unread = serve(['ignore', 'pipe', 'pipe'])
    unread.stdout?.destroy()
    unread.stderr?.destroy()
    await endsInOrder(unread)
  })

  let child: ChildProcess | undefined
  afterEach(() => child?.kill('SIGKILL'))

  function serve(stdio: StdioOptions): ChildProcess {
    const { command, leading } = gatewayCommand()
    const addresses = ['--listen', '127.0.0.1:0', '--console-listen', '127.0.0.1:0']
    child = spawn(command, [...leading, 'serve', '--demo', '--data-dir', directory, ...addresses], { stdio })
    return child
  }

  async function endsInOrder(gateway: ChildProcess): Promise<void> {
    const ended = once(gateway, 'exit')
    while ((await runCommand(['health', '--data-dir', directory])).code !== 0) expect(gateway.exitCode).toBe(null)
    gateway.kill('SIGTERM')
    expect(await ended).toEqual([0, null])
  }
})

describe('the start', () => {
  it('is refused on the database of a newer spgw, which is left as it is', async () => {
    expect((await runCommand(['init', '--data-dir', directory])).code).toBe(0)
    const database = new Sqlite(join(directory, 'spgw.db'))
    const newer = '9999-from-the-future'
    const steps = () => database.prepare('select name from kysely_migration order by name').pluck().all()
    const known = steps()
    database.prepare('insert into kysely_migration (name, timestamp) values (?, ?)').run(newer, '')
    const { code, stderr } = await runCommand(['serve', '--data-dir', directory, '--listen', '127.0.0.1:0'])
    expect(code).toBe(1)
    expect(stderr).toContain(newer)
    expect(steps()).toEqual([...known, newer])
    database.close()
  })
})
