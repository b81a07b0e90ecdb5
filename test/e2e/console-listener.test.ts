import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { executable } from '../support/executable.ts'
import { runCommand } from '../support/gateway.ts'
import { type Stage, setStage } from '../support/stage.ts'

const token = 'metrics-token-canary-4711'
let stage: Stage
beforeAll(async () => {
  vi.stubEnv('SPGW_TEST_EXECUTABLE', executable)
  stage = await setStage({ environment: { SPGW_CONSOLE_METRICS_TOKEN: token } })
})
afterAll(async () => {
  await stage?.close()
  vi.unstubAllEnvs()
})

const ask = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  fetch(stage.gateway.consoleUrl + path, { headers, method })
const metrics = async () => (await ask('/metrics', { authorization: `Bearer ${token}` })).text()

async function chat(key: string, model: string): Promise<string> {
  const answer = await fetch(`${stage.gateway.baseUrl}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'prompt-canary-4712' }] }),
  })
  await answer.text()
  const id = answer.headers.get('x-sp-request-id') ?? ''
  await stage.gateway.record(id)
  return id
}

describe('the console’s listener of the executable', () => {
  it('stands on the first line, and in the status', async () => {
    expect(stage.gateway.stderr()).toMatch(
      /^spgw \S+ {2}gateway http:\S+ {3}console http:\/\/localhost:[1-9]\d* {3}data /,
    )
    expect((await stage.gateway.admin.status({})).console_url).toBe(stage.gateway.consoleUrl)
  })

  it('describes the API, and lets nobody in', async () => {
    expect(await (await ask('/api/openapi.json')).json()).toHaveProperty(['paths', '/providers/add', 'post'])
    expect((await ask('/api/providers/list', {}, 'POST')).status).toBe(401)
  })

  it('counts what was served and what was refused, and holds no secret', async () => {
    expect((await ask('/metrics')).status).toBe(401)
    await chat(stage.key, stage.models.openai)
    const canary = 'sk-proj-credential-canary-4713'
    const stored = 'sk-stored-credential-canary-4714'
    const { baseUrl } = stage.mocks.openai
    const provider = { name: 'unasked', kind: 'openai', baseUrl, credential: stored, skipCheck: true }
    await stage.gateway.admin.providers.add(provider)
    await chat(canary, stage.models.openai)
    await chat(stage.key, `no-such-model-${stage.key}`)
    await vi.waitFor(async () => {
      const text = await metrics()
      expect(text).toContain('spgw_records_total{lane="openai",provider="openai",status="2xx"} 1\n')
      expect(text).toContain('spgw_errors_total{code="provider_key_rejected",origin="client"} 1\n')
      expect(text).toContain('spgw_errors_total{code="model_not_found",origin="client"} 1\n')
      expect(text).toContain('spgw_requests_total 3\n')
    }, 60_000)
    expect(await metrics()).toContain('spgw_provider_ready{provider="unasked",kind="openai",state="unchecked"} 0\n')
    const told = (await metrics()) + (await (await ask('/')).text())
    for (const secret of [stage.key, token, canary, stored, 'prompt-canary-4712']) expect(told).not.toContain(secret)
  })

  it('cannot be had twice: the second gateway says so and ends', async () => {
    const holder = createServer().listen(0, '127.0.0.1')
    await once(holder, 'listening')
    const { port } = holder.address() as AddressInfo
    const directory = `${stage.gateway.dataDirectory}/second`
    const listen = ['--listen', '127.0.0.1:0', '--console-listen', `127.0.0.1:${port}`]
    const { code, stderr } = await runCommand(['serve', '--data-dir', directory, ...listen])
    expect(code).toBe(1)
    expect(stderr).toContain(`the console cannot listen on 127.0.0.1:${port}: it is in use`)
    expect(stderr).toContain('--console-listen HOST:PORT')
    holder.close()
  })
})
