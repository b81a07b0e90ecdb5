import { readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { laneNames } from '../../src/core/lane.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { type LaneCall, laneCall, laneCalls } from '../support/lane-calls.ts'
import { open, type RawAnswer, send } from '../support/raw-http.ts'
import { type Stage, setStage } from '../support/stage.ts'

let stage: Stage
let directory: string
/** Of the directory's gateway, which is killed and started again. */
let gateway: TestGateway
const outputs = new Map<string, string>()

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'secrets-'))
  stage = await setStage({ dataDirectory: directory, config: 'log:\n  level: debug\n' })
  gateway = stage.gateway
})
afterAll(async () => {
  await gateway.stop()
  await stage.close()
  await rm(directory, { recursive: true, force: true })
})

function request(lane: LaneCall, stream: boolean, model: string = stage.models[lane.lane]) {
  const { path, body } = lane.call(model, { stream })
  const headers: [string, string][] = [lane.credential(stage.key), ['content-type', 'application/json']]
  return { url: gateway.baseUrl + path, headers, body }
}

async function ask(lane: LaneCall, stream: boolean, model?: string): Promise<RawAnswer> {
  const { url, ...rest } = request(lane, stream, model)
  return send(url, rest)
}

/** The gateway key and every provider's credential, as text and as a dump or a header might spell them. */
function spellings(): Buffer[] {
  const secrets = [stage.key, ...laneNames.flatMap((lane) => [...stage.mocks[lane].credentials])]
  return secrets.flatMap((secret) => {
    const bytes = Buffer.from(secret)
    return [bytes, Buffer.from(bytes.toString('base64')), Buffer.from(bytes.toString('hex'))]
  })
}

function expectClean(where: string, bytes: Buffer): void {
  expect(spellings().filter((spelling) => bytes.includes(spelling)).length, where).toBe(0)
}

function files(): string[] {
  const entries = readdirSync(directory, { recursive: true, withFileTypes: true })
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
}

describe('a provider’s credential and a gateway key', () => {
  it('stand in no answer, and in no file at the moment of a kill -9', async () => {
    for (const lane of laneCalls) {
      for (const answer of [await ask(lane, false), await ask(lane, true), await ask(lane, false, 'nobody')]) {
        outputs.set(`${lane.lane} ${answer.status}`, answer.rawHeaders.join('\n') + answer.body)
      }
      stage.mocks[lane.lane].next({ hold: { before: lane.firstContent + 1 } })
      const { url, ...rest } = request(lane, true)
      await open(url, rest).received(lane.contentMark)
    }
    expect(await gateway.kill('SIGKILL')).toBeNull()
    const left = files()
    for (const end of ['spgw.db', 'spgw.db-wal', 'spgw.db-shm', '.journal', 'machine.key', 'config.yaml']) {
      expect(left.filter((file) => file.endsWith(end)).length, end).toBeGreaterThan(0)
    }
    for (const file of left) expectClean(file, readFileSync(file))
  })

  it('stand in nothing that a command prints, in no metrics and in no log', async () => {
    outputs.set('log before', gateway.stdout() + gateway.stderr())
    gateway = await startGateway({ dataDirectory: directory })
    for (const lane of laneCalls) await gateway.record((await ask(lane, false)).requestId)
    const [first] = await gateway.admin.requests.list({ limit: 1 })
    const commands = ['requests list', `requests show ${first?.id}`, 'audit list', 'providers list', 'keys list']
    for (const command of commands) {
      const { stdout, stderr, code } = await gateway.spgw([...command.split(' '), '--json', '--verbose'])
      expect([command, code]).toEqual([command, 0])
      outputs.set(command, stdout + stderr)
    }
    if (gateway.consoleUrl !== '') {
      outputs.set('metrics', await (await fetch(`${gateway.consoleUrl}/metrics`)).text())
    }
    await gateway.stop()
    outputs.set('log', gateway.stdout() + gateway.stderr())
    for (const [where, text] of outputs) expectClean(where, Buffer.from(text))
    for (const file of files()) expectClean(file, readFileSync(file))
    expect(() => expectClean('a planted place', Buffer.from(`x ${stage.key} y`))).toThrow('a planted place')
  })
})

describe('a sealed value that was moved to another row', () => {
  it('does not open: that provider fails and says why, the others go on', async () => {
    const database = new Sqlite(join(directory, 'spgw.db'))
    const owner = "provider_id = (select id from providers where name = 'anthropic')"
    const sealed = `(select sealed from provider_credentials where ${owner})`
    const openai = "provider_id = (select id from providers where name = 'openai')"
    expect(database.prepare(`update provider_credentials set sealed = ${sealed} where ${openai}`).run().changes).toBe(1)
    database.close()
    const calls = stage.mocks.openai.requests.length
    gateway = await startGateway({ dataDirectory: directory })
    const refused = await ask(laneCall('openai'), false)
    expect([refused.status, refused.headers.get('x-sp-error')]).toEqual([503, 'provider_not_ready'])
    expect((await ask(laneCall('anthropic'), false)).status).toBe(200)
    expect(stage.mocks.openai.requests.length).toBe(calls)
    const { stdout } = await gateway.spgw(['providers', 'show', 'openai', '--json'])
    expect(JSON.parse(stdout)).toMatchObject({
      state: 'failing',
      state_reason: expect.stringContaining('cannot be decrypted'),
      state_code: 'credential_sealed',
    })
    expect((await gateway.admin.seal.status({})).broken).toHaveLength(1)

    // The way out that the reason names.
    const [credential = ''] = stage.mocks.openai.credentials
    const mended = await gateway.spgw(['providers', 'edit', 'openai', '--credential-stdin'], credential)
    expect([mended.code, mended.stderr]).toEqual([0, expect.any(String)])
    expect((await ask(laneCall('openai'), false)).status).toBe(200)
  })
})
