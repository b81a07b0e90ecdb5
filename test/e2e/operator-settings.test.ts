import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runCommand, startGateway, type TestGateway } from '../support/gateway.ts'
import { type MockProvider, startMockProvider } from '../support/mock-provider.ts'

let gateway: TestGateway
let mock: MockProvider
let directory: string
let key: string
const credential = 'sk-canary-of-a-file-0123456789'

const config = (more: string) => `log:\n  requests: json\nrecords:\n  client_address: masked\n${more}`

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'spgw-'))
  mock = await startMockProvider('openai', credential)
  gateway = await startGateway({ config: config('backup:\n  schedule: 6h\n  keep: 2\n') })
  await writeFile(join(directory, 'credential'), `${credential}\n`)
  key = (await gateway.createKey('app')).key
})
afterAll(async () => {
  await gateway.stop()
  await mock.close()
  await rm(directory, { recursive: true })
})

const chat = (model: string) =>
  fetch(`${gateway.baseUrl}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'user-agent': `app ${key}` },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'hello' }] }),
  })

describe('a credential in a file', () => {
  it('is read by --credential-file', async () => {
    const file = join(directory, 'credential')
    const more = ['--kind', 'openai', '--base-url', mock.baseUrl]
    const added = await gateway.spgw(['providers', 'add', 'mock', ...more, '--credential-file', file])
    expect([added.code, added.stdout + added.stderr]).toEqual([0, expect.not.stringContaining(credential)])
    await gateway.addRoute('m', ['mock'])
    expect((await chat('m')).status).toBe(200)
  })

  it('is read by apply, where the configuration names the file', async () => {
    const manifest = join(directory, 'config.yaml')
    const provider = (file: string) =>
      `providers:\n  - name: filed\n    kind: openai\n    base_url: ${mock.baseUrl}\n    credential: \${file:${file}}\n`
    await writeFile(manifest, provider(join(directory, 'credential')))
    const applied = await gateway.spgw(['apply', '-f', manifest, '--yes'])
    expect([applied.code, applied.stdout + applied.stderr]).toEqual([0, expect.not.stringContaining(credential)])
    await writeFile(manifest, provider('/none/at/all').replace('filed', 'other'))
    const refused = await gateway.spgw(['apply', '-f', manifest, '--yes'])
    expect(refused.code).toBe(2)
    expect(refused.stderr).toContain('provider other: the file /none/at/all cannot be read, or is empty')
  })
})

describe('log.requests and records.client_address', () => {
  it('write a line for each request, with the network of the client and no key', async () => {
    const [answered, refused] = [await chat('m'), await chat('unknown')]
    await gateway.said(String(refused.headers.get('x-sp-request-id')))
    const lines = gateway.stderr().split('\n')
    for (const [response, code] of [
      [answered, null],
      [refused, 'model_not_found'],
    ] as const) {
      const id = String(response.headers.get('x-sp-request-id'))
      const [line, ...others] = lines.filter((each) => each.includes(id))
      expect(others).toEqual([])
      const logged = JSON.parse(line ?? '') as { error: { code: string } | null }
      const client = { address: '127.0.0.0', user_agent: 'app sp_live_…' }
      expect(logged).toMatchObject({ message: 'request', id, method: 'POST', path: '/v1/chat/completions', client })
      expect(logged.error?.code ?? null).toBe(code)
      expect((await gateway.record(id)).client).toEqual(client)
    }
    expect(gateway.stderr()).not.toContain(key)
  })

  it('are changed by SIGHUP', async () => {
    await writeFile(join(gateway.dataDirectory, 'config.yaml'), 'records:\n  client_address: none\n')
    gateway.signal('SIGHUP')
    await gateway.said('configuration reloaded')
    const id = String((await chat('m')).headers.get('x-sp-request-id'))
    expect((await gateway.record(id)).client.address).toBeNull()
    expect(gateway.stderr()).not.toContain(id)
  })
})

describe('backup.schedule', () => {
  it('makes backups that restore', async () => {
    const backups = join(gateway.dataDirectory, 'backups')
    await expect.poll(() => readdir(backups)).toEqual([expect.stringMatching(/^spgw-\d{8}T\d{6}Z\.backup$/)])
    const [name = ''] = await readdir(backups)
    const target = join(directory, 'restored')
    const restored = await runCommand(['restore', join(backups, name), '--data-dir', target, '--yes'])
    expect([restored.code, restored.stderr]).toEqual([0, expect.any(String)])
  })

  it('says in status why it makes none', async () => {
    const file = join(directory, 'no-directory')
    await writeFile(file, '')
    await writeFile(join(gateway.dataDirectory, 'config.yaml'), `backup:\n  schedule: 6h\n  directory: ${file}\n`)
    gateway.signal('SIGHUP')
    await expect
      .poll(async () => (await gateway.admin.status({})).degraded)
      .toEqual([expect.objectContaining({ part: 'backup', reason: expect.stringContaining('backup failed') })])
  })
})
