import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { startCrowd } from '../support/crowd.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { laneCall } from '../support/lane-calls.ts'
import { send } from '../support/raw-http.ts'
import { type Stage, setStage } from '../support/stage.ts'

let directory: string
let stage: Stage | null = null
let gateways: TestGateway[] = []
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'apply-'))
})
afterEach(async () => {
  await stage?.close()
  await Promise.all(gateways.map((gateway) => gateway.stop()))
  stage = null
  gateways = []
  await rm(directory, { recursive: true, force: true })
})

const start = async (environment: Record<string, string> = {}) => {
  const gateway = await startGateway({ environment })
  gateways.push(gateway)
  return gateway
}

describe('config.example.yaml', () => {
  it('is applied, and changes nothing the second time', async () => {
    const gateway = await start({ OPENAI_API_KEY: 'sk-canary-0123456789abcdef' })
    const file = join(directory, 'gateway.yaml')
    await copyFile(join(import.meta.dirname, '../../config.example.yaml'), file)
    const first = await gateway.spgw(['apply', '-f', file, '--yes', '--skip-check', '--json'])
    expect(first.code, first.stderr).toBe(0)
    const { changes, keys } = JSON.parse(first.stdout) as { changes: object[]; keys: { key: string }[] }
    expect(changes.length).toBeGreaterThan(8)
    expect(keys).toHaveLength(1)
    expect(await gateway.spgw(['diff', '-f', file, '--prune', '--json'])).toMatchObject({ stdout: '[]\n', code: 0 })
    const second = await gateway.spgw(['apply', '-f', file])
    expect([second.code, second.stderr]).toEqual([0, 'Nothing to change.\n'])
    expect(first.stdout + first.stderr + gateway.stderr()).not.toContain('sk-canary')
  })
})

/** What would happen to a request, without the ids, which nobody asked to keep. */
async function decide(gateway: TestGateway, model: string, key: string, environment: string): Promise<unknown> {
  const answer = await gateway.admin.routes.explain({ model, key, environment }).catch(String)
  return JSON.parse(JSON.stringify(answer).replace(/\b([a-z]{3})_[0-9a-z]{26}\b/g, '$1'))
}

describe('an export', () => {
  it('makes a wiped gateway decide as the one before, and admit the same keys', async () => {
    const old = await start()
    const { admin } = old
    await admin.environments.add({ name: 'staging' })
    await admin.providers.add({ name: 'demo', kind: 'demo', tags: { team: 'a' } })
    await admin.providers.add({ name: 'spare', kind: 'demo', inactive: true })
    await admin.providers.add({ name: 'limited', kind: 'demo', projects: ['default'] })
    await admin.routes.add({ model: 'demo*', targets: ['demo', 'spare'], allEnvironments: true, retries: 2 })
    await admin.routes.add({
      model: 'exact',
      targets: ['limited:demo,weight=3,priority=0', 'demo,weight=0,priority=0'],
      strategy: 'weighted',
    })
    await admin.routes.add({ model: 'off', provider: 'demo', disabled: true })
    await admin.environments.edit({ name: 'staging', defaultProviders: { openai: 'demo' } })
    await admin.policies.add({ name: 'small', denyModels: ['demo-large'], maxBody: '1KB', lanes: ['openai'] })
    const made = {
      ci: await admin.keys.create({ name: 'ci', policy: 'small', tags: { a: 'b' } }),
      other: await admin.keys.create({ name: 'other', environment: 'staging' }),
    }
    await admin.policies.add({
      name: 'staged',
      allowModels: ['demo*'],
      attach: ['environment:default/staging', 'key:ci'],
    })
    const rotated = await admin.keys.rotate({ key: 'other', environment: 'staging', grace: '1h' })
    const gone = await admin.keys.create({ name: 'gone' })
    await admin.keys.revoke({ key: 'gone' })
    const file = join(directory, 'export.yaml')
    const { stdout } = await old.spgw(['export'])
    await writeFile(file, stdout)

    const wiped = await start()
    const applied = await wiped.spgw(['apply', '-f', file, '--yes'])
    expect([applied.code, applied.stdout], applied.stderr).toEqual([0, ''])
    expect((await wiped.spgw(['export'])).stdout).toBe(stdout)
    const keys = [
      ['ci', 'production'],
      ['other', 'staging'],
    ] as const
    for (const model of ['demo', 'demo-large', 'exact', 'off', 'nothing'])
      for (const [key, environment] of keys)
        expect(await decide(wiped, model, key, environment), `${model} with ${key}`).toEqual(
          await decide(old, model, key, environment),
        )
    const secrets = [made.ci.key, made.other.key, rotated.key, gone.key, `${made.ci.key.slice(0, -1)}0`]
    for (const secret of secrets) expect(await ask(wiped, secret)).toEqual(await ask(old, secret))
    expect((await ask(wiped, made.ci.key)).status).toBe(200)
    expect((await ask(wiped, gone.key)).status).toBe(401)
  })
})

async function ask({ baseUrl }: TestGateway, key: string) {
  const { path, body } = laneCall('openai').call('demo', {})
  const headers: [string, string][] = [laneCall('openai').credential(key), ['content-type', 'application/json']]
  const answer = await send(baseUrl + path, { headers, body })
  return { status: answer.status }
}

describe('under load', () => {
  it('drops no request while providers, routes, policies and keys change', async () => {
    stage = await setStage({ environment: { SPGW_GATEWAY_WORKERS: '2' } })
    const { gateway, models } = stage
    const crowd = startCrowd(stage, { clients: 8 })
    await crowd.answered(20)
    for (let turn = 1; turn <= 8; turn++) {
      const text = `
providers:
  - name: openai
    timeouts: { total: ${turn}m }
    headers: { x-turn: turn-${turn} }
  - name: anthropic
    tags: { turn: "${turn}" }
  - name: turn-${turn}
    kind: demo
policies:
  - { name: turn, max_body: ${turn}MB, attach: [workspace] }
keys:
  - { name: turn-${turn} }
routes:
  - { model: ${models.openai}, targets: [openai, "openai:${models.openai},weight=${turn}"], retries: ${turn} }
  - { model: ${models.anthropic}, provider: anthropic, timeouts: { first_byte: ${turn}m } }
  - { model: turn-${turn}, provider: turn-${turn} }
`
      const input = { files: { 'turn.yaml': text }, prune: true }
      const { changes } = await gateway.admin.apply({ ...input, expect: (await gateway.admin.diff(input)).expect })
      expect(changes.filter(({ action }) => action === 'remove')).toHaveLength(turn === 1 ? 0 : 3)
      await crowd.answered(10)
    }
    await crowd.leave()
    expect(crowd.tally.failed).toEqual([])
    expect(crowd.tally.refused).toBe(0)
    expect(new Set(crowd.tally.complete.values())).toEqual(new Set([200]))
    expect((await gateway.admin.providers.list({})).map(({ name }) => name)).toContain('turn-8')
  })
})
