import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { LaneName } from '../../src/core/lane.ts'
import { runCommand, startGateway, type TestGateway } from '../support/gateway.ts'
import { type LaneCall, laneCalls } from '../support/lane-calls.ts'
import { type RawAnswer, send } from '../support/raw-http.ts'
import { mintCredential, type Stage, setStage } from '../support/stage.ts'

let stage: Stage
let directory: string
/** What must be found nowhere, by what it is. */
const canaries = new Map<string, string>()
/** Everything that came out of the gateway while it ran. */
const said: [string, string][] = []

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'spgw-'))
  // Everything that can be said is said: the most talkative log.
  const config = 'log:\n  level: debug\n'
  stage = await setStage({ dataDirectory: directory, config })
  await stage.gateway.admin.policies.add({ name: 'all', capture: 'full', attach: ['workspace'] })
  canaries.set('the gateway key', stage.key)
  for (const { lane } of laneCalls) canaries.set(`the credential of ${lane}`, [...stage.mocks[lane].credentials].join())
  for (const { lane } of laneCalls) await addRejected(lane)
  await traffic()
  await look()
})
afterAll(async () => {
  await stage.close()
  await rm(directory, { recursive: true, force: true })
})

/** A provider whose credential is refused: the way of a credential into an error message would be shortest there. */
async function addRejected(lane: LaneName): Promise<void> {
  const credential = mintCredential(lane)
  canaries.set(`the rejected credential of ${lane}`, credential)
  const { baseUrl } = stage.mocks[lane]
  await stage.gateway.admin.providers.add({ name: `bad-${lane}`, kind: lane, baseUrl, credential, skipCheck: true })
  await stage.gateway.addRoute(`bad-${lane}`, [`bad-${lane}`])
  const refused = mintCredential(lane)
  canaries.set(`the credential that ${lane} refused at once`, refused)
  const checked = await stage.gateway.spgw(
    ['providers', 'add', `never-${lane}`, '--kind', lane, '--base-url', baseUrl, '--credential-stdin'],
    refused,
  )
  expect(checked.code).toBe(5)
  said.push(['providers add, refused', checked.stdout + checked.stderr])
}

async function traffic(): Promise<void> {
  for (const lane of laneCalls) {
    const own = `sk-canary${lane.lane}0123456789`
    canaries.set(`a provider’s own key shown to the ${lane.lane} lane`, own)
    const post = async (model: string, headers: [string, string][], query = '', stream = false) => {
      const { path, body } = lane.call(model, { stream })
      const separator = path.includes('?') ? '&' : '?'
      const url = stage.gateway.baseUrl + path + (query ? separator + query : '')
      const answer = await send(url, { headers: [['content-type', 'application/json'], ...headers], body })
      said.push([`answer ${answer.status} of ${lane.lane}`, answer.rawHeaders.join('\n') + answer.body.toString()])
      return answer
    }
    const model = stage.models[lane.lane]
    await post(model, [lane.credential(stage.key)])
    await post(model, [lane.credential(stage.key)], '', true)
    await post(model, [], `key=${stage.key}`)
    await post('no-such-model', [lane.credential(stage.key)])
    await post(model, [['authorization', `Bearer ${own}`]])
    await post(model, [
      ['authorization', `Bearer ${own}`],
      ['x-api-key', stage.key],
    ])
    await post(`bad-${lane.lane}`, [lane.credential(stage.key)])
    stage.mocks[lane.lane].next({ reset: 'after-headers' })
    stage.mocks[lane.lane].next({ reset: 'after-headers' })
    await post(model, [lane.credential(stage.key)])
    stage.mocks[lane.lane].next({ cutAfterEvents: lane.firstContent + 1 })
    await post(model, [lane.credential(stage.key)], '', true)
    await sendKeyEverywhere(lane)
  }
}

/** The key in whatever a client writes of itself. The answers are not looked at: who sent it may read it there. */
async function sendKeyEverywhere(lane: LaneCall): Promise<void> {
  const { gateway, key } = stage
  const headers: [string, string][] = [
    lane.credential(key),
    ['content-type', 'application/json'],
    ['user-agent', `app ${key}`],
    ['x-sp-tag', `key=${key}, ${key}`],
  ]
  const user = { user: key, metadata: { user_id: key }, labels: { user: key } }
  for (const model of [stage.models[lane.lane], key]) {
    const { path, body } = lane.call(model)
    await send(gateway.baseUrl + path, { headers, body: JSON.stringify({ ...JSON.parse(String(body)), ...user }) })
  }
  const prefix = lane.call('m').path.split('/').slice(0, -1).join('/')
  for (const path of [`${prefix}/${key}`, `/v1/files/${key}`, `/v1/gemini/v1beta/files/${key}`, `/${key}`])
    for (const written of [path, path.replaceAll('_', '%5f')])
      await send(gateway.baseUrl + written, { headers, method: 'GET' })
}

/** Every reading command, in every form that shows the most. */
async function look(): Promise<void> {
  const commands = [
    ['requests', 'list', '--json', '--limit', '200'],
    ['requests', 'stats', '--by', 'key', '--json'],
    ['providers', 'list', '--json'],
    ['providers', 'revisions', 'openai', '--json'],
    ['providers', 'credentials', 'list', 'openai', '--json'],
    ['routes', 'list', '--json'],
    ['keys', 'list', '--json'],
    ['audit', 'list', '--json'],
    ['seal', 'status', '--json'],
    ['status', '--json', '--verbose'],
  ]
  for (const command of commands) {
    const { stdout, stderr, code } = await stage.gateway.spgw(command)
    expect([command.join(' '), code]).toEqual([command.join(' '), 0])
    said.push([command.join(' '), stdout + stderr])
  }
  for (const record of await stage.gateway.admin.requests.list({ limit: 200 })) {
    said.push([
      `requests show ${record.id}`,
      JSON.stringify(await stage.gateway.admin.requests.show({ id: record.id, bodies: record.key !== null })),
    ])
  }
  const metrics = await fetch(`${stage.gateway.consoleUrl}/metrics`).catch(() => null)
  if (metrics !== null) said.push(['/metrics', await metrics.text()])
}

/** A secret as text, and as the encodings that a dump or a header might hold it in. */
function spellings(secret: string): Buffer[] {
  const bytes = Buffer.from(secret)
  return [
    bytes,
    Buffer.from(bytes.toString('base64')),
    Buffer.from(bytes.toString('hex')),
    Buffer.from(secret, 'utf16le'),
  ]
}

function expectClean(where: string, bytes: Buffer): void {
  for (const [what, secret] of canaries) {
    const found = spellings(secret).some((spelling) => bytes.includes(spelling))
    expect(found, `${what} stands in ${where}`).toBe(false)
  }
}

async function allFiles(): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true })
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
}

function answerOf(gateway: TestGateway, index: number): Promise<RawAnswer> {
  const lane = laneCalls[index]
  if (lane === undefined) throw new Error('no such lane')
  const { path, body } = lane.call(stage.models[lane.lane])
  const headers: [string, string][] = [lane.credential(stage.key), ['content-type', 'application/json']]
  return send(gateway.baseUrl + path, { headers, body })
}

describe('secrets', () => {
  it('are looked for where they would be found', () => {
    expect(canaries.size).toBe(13)
    expect(said.length).toBeGreaterThan(40)
    expect(() => expectClean('a planted place', Buffer.from(`x ${stage.key} y`))).toThrow(/a planted place/)
  })

  it('stand in no answer and no output of a command', () => {
    for (const [where, text] of said) expectClean(where, Buffer.from(text))
  })

  it('stand in no file while the gateway runs: database, WAL, journal, configuration', async () => {
    const files = await allFiles()
    expect(files.some((file) => file.endsWith('spgw.db-wal'))).toBe(true)
    expect(files.some((file) => file.endsWith('.journal'))).toBe(true)
    for (const file of files) expectClean(file, await readFile(file))
  })

  it('stand in no log and no file when it has ended', async () => {
    await stage.gateway.stop()
    expectClean('stdout', Buffer.from(stage.gateway.stdout()))
    expectClean('stderr', Buffer.from(stage.gateway.stderr()))
    for (const file of await allFiles()) expectClean(file, await readFile(file))
  })

  it('do not open in another row', async () => {
    const database = new Sqlite(join(directory, 'spgw.db'))
    const where = 'provider_credentials where provider_id = (select id from providers where name = ?)'
    const sealed = (name: string) => database.prepare(`select sealed from ${where}`).pluck().get(name)
    const place = (value: unknown, name: string) =>
      database.prepare(`update ${where.replace(' where', ' set sealed = ? where')}`).run(value, name)
    const own = sealed('openai')
    place(sealed('anthropic'), 'openai')
    try {
      // The free checks of other providers at this mock are none of its business.
      const calls = () => stage.mocks.openai.requests.filter(({ method }) => method === 'POST').length
      const before = calls()
      const gateway = await startGateway({ dataDirectory: directory })
      const { broken } = await gateway.admin.seal.status({})
      const [openai, anthropic] = [await answerOf(gateway, 0), await answerOf(gateway, 1)]
      await gateway.stop()
      expect([openai.status, openai.headers.get('x-sp-error')]).toEqual([503, 'provider_not_ready'])
      expect(anthropic.status).toBe(200)
      expect(calls()).toBe(before)
      expect(broken).toHaveLength(1)
    } finally {
      place(own, 'openai')
      database.close()
    }
  })

  it('open with this machine’s key only: another is refused at start and left as it is', async () => {
    const path = join(directory, 'machine.key')
    const own = await readFile(path)
    const elsewhere = await mkdtemp(join(tmpdir(), 'spgw-'))
    expect((await runCommand(['init', '--data-dir', elsewhere])).code).toBe(0)
    const other = await readFile(join(elsewhere, 'machine.key'))
    await writeFile(path, other)
    await expect(startGateway({ dataDirectory: directory })).rejects.toThrow(/ended with 1.*machine key/is)
    expect((await readFile(path)).equals(other)).toBe(true)
    await rm(path)
    await expect(startGateway({ dataDirectory: directory })).rejects.toThrow(/ended with 1.*machine key/is)
    expect((await allFiles()).includes(path)).toBe(false)
    await writeFile(path, own, { mode: 0o600 })
    const again = await startGateway({ dataDirectory: directory })
    expect((await answerOf(again, 0)).status).toBe(200)
    await again.stop()
    await rm(elsewhere, { recursive: true, force: true })
  })
})
