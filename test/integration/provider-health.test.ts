import http from 'node:http'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { listen } from '../support/listen.ts'
import { send } from '../support/raw-http.ts'

/** By path and model; null: the connection is reset. */
type Act = (path: string, model: string) => { status: number; body?: object } | null

const fine = { status: 200, body: { choices: [] } }
const listed = { status: 200, body: { object: 'list', data: [{ id: 'good', object: 'model' }] } }
const rejected = { status: 401, body: { error: { message: 'Missing scopes: model.request' } } }

let provider: http.Server
let gateway: TestGateway
let origin: string
let act: Act
let keys: string[]
let names = 0
let checks = 0

beforeAll(async () => {
  provider = http.createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += chunk
    const path = request.url ?? ''
    if (path === '/v1/models') checks++
    const answer = act(path, /"model":"([^"]*)"/.exec(text)?.[1] ?? '')
    if (answer === null) return void request.socket.resetAndDestroy()
    response.writeHead(answer.status, { 'content-type': 'application/json' })
    response.end(JSON.stringify(answer.body ?? { error: { message: `status ${answer.status}` } }))
  })
  origin = `${await listen(provider)}/v1`
  gateway = await startGateway()
  keys = await Promise.all(['one', 'two', 'three'].map(async (name) => (await gateway.createKey(name)).key))
})

afterAll(async () => {
  await gateway.stop()
  provider.closeAllConnections()
  provider.close()
})

beforeEach(() => {
  act = (path) => (path === '/v1/models' ? listed : fine)
  checks = 0
})

/** A provider with routes of its own, so that no test meets what another left. */
async function addProvider(models = ['good'], skipCheck = false): Promise<string> {
  const name = `p${++names}`
  await gateway.admin.providers.add({
    name,
    kind: 'openai',
    baseUrl: origin,
    credential: 'sk-of-the-provider',
    skipCheck,
  })
  for (const model of models) await gateway.addRoute(`${name}-${model}`, [`${name}:${model}`], { retries: 0 })
  checks = 0
  return name
}

async function call(
  model: string,
  key = keys[0] ?? '',
): Promise<{ status: number; code: string | undefined; text: string }> {
  const headers: [string, string][] = [
    ['authorization', `Bearer ${key}`],
    ['content-type', 'application/json'],
  ]
  const body = JSON.stringify({ model, messages: [] })
  const answer = await send(`${gateway.baseUrl}/v1/chat/completions`, { headers, body })
  return { status: answer.status, code: answer.headers.get('x-sp-error'), text: answer.body.toString() }
}

/** Until the gateway has found out; a test that waits in vain runs into its time limit. */
async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 10))
}

const show = (name: string) => gateway.admin.providers.show({ name })
const stateIs = async (name: string, state: string) => (await show(name)).state === state

it('a 401 to one call leaves the provider ready for everybody when its credential passes the check', async () => {
  const name = await addProvider(['good', 'forbidden'])
  act = (path, model) => (path === '/v1/models' ? listed : model === 'forbidden' ? rejected : fine)
  for (let count = 0; count < 3; count++) {
    const { status, code, text } = await call(`${name}-forbidden`)
    expect([status, code]).toEqual([502, 'provider_credential_rejected'])
    expect(text).toContain('Missing scopes: model.request')
    expect((await call(`${name}-good`, keys[1])).status).toBe(200)
  }
  await until(async () => checks > 0)
  expect(await show(name)).toMatchObject({ state: 'ready', state_reason: null })
  expect((await call(`${name}-good`, keys[1])).status).toBe(200)
  expect(checks).toBe(1)
})

it('a credential that the check rejects as well takes the provider away, and says why', async () => {
  const name = await addProvider()
  act = () => rejected
  expect((await call(`${name}-good`)).code).toBe('provider_credential_rejected')
  await until(() => stateIs(name, 'failing'))
  expect(await show(name)).toMatchObject({
    state_code: 'credential_rejected',
    targets: [{ provider: name, upstream_model: 'good', state: 'failing' }],
  })
  expect((await call(`${name}-good`, keys[1])).code).toBe('provider_not_ready')
})

it('failures of one key close the provider for all when its check fails, too', async () => {
  const name = await addProvider()
  act = () => null
  for (let count = 0; count < 5; count++) expect((await call(`${name}-good`)).status).toBe(502)
  // It shows as failing before its check is done, and is closed for all only afterwards.
  await until(async () => (await show(name)).state_reason?.includes('free check') === true)
  act = () => fine
  expect((await call(`${name}-good`, keys[1])).code).toBe('provider_not_ready')
})

it('failures of one key close it for that key alone when its check passes', async () => {
  const name = await addProvider()
  act = (path) => (path === '/v1/models' ? listed : { status: 500 })
  for (let count = 0; count < 5; count++) expect((await call(`${name}-good`)).status).toBe(500)
  await until(async () => checks > 0)
  const shown = await show(name)
  expect(shown).toMatchObject({ state: 'ready', targets: [{ upstream_model: 'good', state: 'failing' }] })
  expect(shown.targets[0]?.state_reason).toContain('500')
  expect(Date.parse(shown.targets[0]?.state_since ?? '')).toBeGreaterThan(Date.now() - 60_000)
  act = () => fine
  expect((await call(`${name}-good`)).code).toBe('provider_not_ready')
  expect((await call(`${name}-good`, keys[1])).status).toBe(200)
  expect(await show(name)).toMatchObject({ targets: [{ upstream_model: 'good', state: 'ready' }] })
})

it('one overloaded model is failing, and neither its provider nor the route of another is', async () => {
  const name = await addProvider(['good', 'busy'])
  act = (path, model) => (path === '/v1/models' ? listed : model === 'busy' ? { status: 529 } : fine)
  for (const key of keys) for (let count = 0; count < 2; count++) await call(`${name}-busy`, key)
  expect(await show(name)).toMatchObject({
    state: 'ready',
    targets: [
      { upstream_model: 'busy', state: 'failing', state_reason: expect.stringContaining('529') },
      { upstream_model: 'good', state: 'ready' },
    ],
  })
  const route = (model: string) => gateway.admin.routes.show({ model: `${name}-${model}` })
  expect(await route('busy')).toMatchObject({ targets: [{ provider: name, upstream_model: 'busy', state: 'failing' }] })
  expect(await route('good')).toMatchObject({ targets: [{ provider: name, upstream_model: 'good', state: 'ready' }] })
  expect((await call(`${name}-good`)).status).toBe(200)
  const explained = await gateway.admin.routes.explain({ model: `${name}-busy` })
  expect(explained.skipped[0]?.reason).toContain('overloaded (529)')
})

it('calls that name no model have a state of their own, and say what they are', async () => {
  const name = await addProvider()
  expect((await call(`${name}-good`)).status).toBe(200)
  expect(await show(name)).toMatchObject({ targets: [{ upstream_model: 'good' }], calls_without_model: null })
  act = (path) => (path === '/v1/models' ? listed : path === '/v1/files' ? { status: 500 } : fine)
  const upload = async (key = '') => {
    const form = new FormData()
    form.set('purpose', 'user_data')
    form.set('file', new Blob(['one']), 'one.txt')
    const headers = { authorization: `Bearer ${key}`, 'x-sp-provider': name }
    return (await fetch(`${gateway.baseUrl}/v1/files`, { method: 'POST', headers, body: form })).status
  }
  for (const key of keys) for (let count = 0; count < 2; count++) await upload(key)
  expect(await upload(keys[0])).toBe(503)
  expect(await show(name)).toMatchObject({
    state: 'ready',
    targets: [{ upstream_model: 'good', state: 'ready' }],
    calls_without_model: {
      concerns: expect.stringContaining('files'),
      state: 'failing',
      state_reason: expect.stringContaining('500'),
    },
  })
  const { stdout } = await gateway.spgw(['providers', 'show', name])
  expect(stdout).toMatch(/Calls without a model +failing \(files, .*\): \d calls in a row failed: it answers 500/)
  expect((await gateway.spgw(['doctor'])).stdout).toContain(`calls of ${name} without a model (files, `)
  expect((await call(`${name}-good`)).status).toBe(200)
})

it('a provider that was never checked is ready with its first answer', async () => {
  const name = await addProvider(['good'], true)
  expect((await show(name)).state).toBe('unchecked')
  expect((await call(`${name}-good`)).status).toBe(200)
  await until(() => stateIs(name, 'ready'))
  expect(checks).toBe(0)
})

it('a provider that was never checked is checked as soon as its calls fail repeatedly', async () => {
  const name = await addProvider(['good'], true)
  act = (path) => (path === '/v1/models' ? listed : { status: 500 })
  for (let count = 0; count < 5; count++) await call(`${name}-good`)
  await until(() => stateIs(name, 'ready'))
  expect(await show(name)).toMatchObject({ targets: [{ state: 'failing' }], models: [{ name: 'good' }] })
})

it('a handshake that is refused with 401 decides nothing', async () => {
  const name = await addProvider()
  await gateway.addRoute(`${name}-realtime`, [`${name}:realtime`], { retries: 0 })
  act = (path) => (path === '/v1/models' ? listed : path.startsWith('/v1/realtime') ? rejected : fine)
  const headers: [string, string][] = [
    ['authorization', `Bearer ${keys[0]}`],
    ['connection', 'upgrade'],
    ['upgrade', 'websocket'],
    ['sec-websocket-version', '13'],
    ['sec-websocket-key', 'dGhlIHNhbXBsZSBub25jZQ=='],
  ]
  const answer = await send(`${gateway.baseUrl}/v1/realtime?model=${name}-realtime`, { method: 'GET', headers })
  expect(answer.headers.get('x-sp-error')).toBe('provider_credential_rejected')
  await until(async () => checks > 0)
  expect(await show(name)).toMatchObject({ state: 'ready' })
  expect((await call(`${name}-good`)).status).toBe(200)
})
