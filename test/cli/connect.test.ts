import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import { connectGateway, waitAsLong } from '../../cli/connect.ts'

it('waits for a gateway that starts, longer where the machine is slow, and not at all where nobody wants to', () => {
  expect(waitAsLong(3000, 90)).toBe(3000)
  expect(waitAsLong(3000, 1200)).toBe(24_000)
  expect(waitAsLong(0, 1200)).toBe(0)
})

function callAt(processId: number, asksForNow: boolean, waitMs = 600_000) {
  const dataDir = mkdtempSync(join(tmpdir(), 'connect-'))
  onTestFinished(() => rmSync(dataDir, { recursive: true }))
  writeFileSync(join(dataDir, 'spgw.pid'), `${processId}\n`)
  const connect = connectGateway({ environment: {}, home: null, platform: 'linux' }, '0.1.0')
  // As of a command that has just begun.
  const clock = vi.spyOn(performance, 'now').mockReturnValue(50)
  const gateway = connect({ dataDir, waitMs, asksForNow, remote: null })
  clock.mockRestore()
  return { dataDir, answer: gateway.then(({ call }) => call(['status'], {})) }
}

const dead = () => spawnSync('true').pid

it('says soon that no gateway runs where it has died, to who asks how it is now', async () => {
  const begun = performance.now()
  await expect(callAt(dead(), true, 6000).answer).rejects.toMatchObject({ name: 'GatewayNotRunning' })
  expect(performance.now() - begun).toBeLessThan(5000)
})

it.runIf(process.platform === 'linux')('counts a zombie process as dead', async () => {
  // A shell that becomes `sleep` never waits for the child that it had: it must end only then.
  const parent = spawn('sh', ['-c', 'sleep 1 & echo $!; exec sleep 60'], { stdio: ['ignore', 'pipe', 'ignore'] })
  onTestFinished(() => void parent.kill())
  const [line] = await once(parent.stdout, 'data')
  const child = Number(String(line))
  const state = () => readFileSync(`/proc/${child}/stat`, 'utf8')
  await expect.poll(state).toContain(') Z ')
  await expect(callAt(child, true, 600).answer).rejects.toMatchObject({ name: 'GatewayNotRunning' })
})

it.each([
  ['whose process is there', process.pid, true],
  ['that is to do something', dead(), false],
])('waits for one %s', async (_, processId, asksForNow) => {
  const { dataDir, answer } = callAt(processId, asksForNow)
  const server = createServer((_request, response) => response.end('{"late":true}'))
  onTestFinished(() => void server.close())
  // Not before the call was refused once.
  setTimeout(() => server.listen(join(dataDir, 'admin.sock')), 100)
  expect(await answer).toEqual({ late: true })
})

it('waits on for a gateway that has said in time that it starts in the place of a dead one', async () => {
  const { dataDir, answer } = callAt(dead(), true, 3000)
  const server = createServer((_request, response) => response.end('{"late":true}'))
  onTestFinished(() => void server.close())
  setTimeout(() => writeFileSync(join(dataDir, 'spgw.pid'), `${process.pid}\n`), 100)
  setTimeout(() => server.listen(join(dataDir, 'admin.sock')), 1000)
  expect(await answer).toEqual({ late: true })
})
