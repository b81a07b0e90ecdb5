import { once } from 'node:events'
import http from 'node:http'
import net from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import type { TrafficEvent } from '../../src/gateway/gateway.ts'
import { type DataPlane, type DataPlaneOptions, startDataPlane } from '../support/data-plane.ts'
import { closeServer, listen, listenOnPort } from '../support/listen.ts'
import { makeRoute, makeTarget } from '../support/snapshot.ts'

interface Seen {
  model: string
  credential: string
}

/** What the provider answers with; null: it resets the connection. */
type Act = (seen: Seen) => { status: number; body?: object | string; headers?: Record<string, string> } | null

let provider: http.Server
let origin: string
let act: Act
const seen: Seen[] = []

const fine = { status: 200, body: { choices: [] } }
const secret = 'sk-canary-of-the-provider'

beforeAll(async () => {
  provider = http.createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += chunk
    const model = /"model":"([^"]*)"/.exec(text)?.[1] ?? ''
    const credential = String(request.headers.authorization ?? request.headers['x-api-key'])
    seen.push({ model, credential })
    const answer = act({ model, credential })
    if (answer === null) return void request.socket.resetAndDestroy()
    const { status, body = { error: { message: `status ${status}` } }, headers = {} } = answer
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    response.end(typeof body === 'string' ? body : JSON.stringify(body))
  })
  origin = await listen(provider)
})

afterAll(() => closeServer(provider))

beforeEach(() => {
  act = () => fine
  seen.length = 0
})

async function start(options: Partial<DataPlaneOptions> = {}): Promise<DataPlane> {
  const plane = await startDataPlane({
    twoKeys: true,
    providers: [{ kind: 'openai', baseUrl: `${origin}/v1`, credentials: [secret] }],
    ...options,
  })
  onTestFinished(() => plane.stop())
  return plane
}

async function call(plane: DataPlane, key: string, model = 'openai-model', lane = '', more: object = {}) {
  const answer = await fetch(`${plane.baseUrl}/v1${lane === '' ? '/chat/completions' : lane}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages: [], ...more }),
  })
  const text = await answer.text()
  const record = await plane.record(answer.headers.get('x-sp-request-id'))
  return { status: answer.status, code: answer.headers.get('x-sp-error'), text, record }
}

async function heard(plane: DataPlane, type: TrafficEvent['type']): Promise<TrafficEvent> {
  for (;;) {
    const message = await plane.hear('traffic')
    if (message.type === 'traffic' && message.event.type === type) return message.event
  }
}

describe('failures that one key alone meets', () => {
  it('keep that key from the provider, and nobody else', async () => {
    const plane = await start()
    act = () => ({ status: 500 })
    const failing = heard(plane, 'calls-failing')
    for (let count = 0; count < 5; count++) expect((await call(plane, plane.key)).status).toBe(500)
    expect(await failing).toMatchObject({ trip: 'caller' })
    act = () => fine
    const paused = await call(plane, plane.key)
    expect([paused.status, paused.code]).toEqual([503, 'provider_not_ready'])
    expect(paused.record.routing_signals.map(({ text }) => text).join(' ')).toContain('paused for this key')
    expect((await call(plane, plane.otherKey)).status).toBe(200)
  })

  it('keep it from the provider in a gateway with a single key as well', async () => {
    const plane = await start({ twoKeys: false })
    act = () => ({ status: 503 })
    for (let count = 0; count < 5; count++) await call(plane, plane.key)
    expect(plane.health(0, 1, 'openai-model')).toMatchObject({ state: 'open' })
    expect((await call(plane, plane.key)).code).toBe('provider_not_ready')
  })

  it('keep everybody away as soon as two keys meet them', async () => {
    const plane = await start()
    act = () => null
    for (let count = 0; count < 3; count++) await call(plane, plane.key)
    for (let count = 0; count < 2; count++) await call(plane, plane.otherKey)
    expect(plane.health(0, 1)).toMatchObject({ state: 'open' })
    expect((await call(plane, plane.otherKey)).code).toBe('provider_not_ready')
  })

  it.each([400, 404, 413, 422])('do not count where the provider rejects what was sent (%i)', async (status) => {
    const plane = await start({ twoKeys: false })
    act = () => ({ status })
    for (let count = 0; count < 25; count++) expect((await call(plane, plane.key)).status).toBe(status)
    expect(plane.health(0, 1, 'openai-model')).toEqual({ state: 'ready' })
  })
})

describe('an upload that stalls on the client’s side', () => {
  it('and is reset by the provider counts for nothing', async () => {
    const impatient = net.createServer((socket) => {
      socket.on('error', () => {})
      socket.once('data', () => setTimeout(() => socket.resetAndDestroy(), 100))
    })
    onTestFinished(() => void impatient.close())
    const port = await listenOnPort(impatient)
    const plane = await start({
      twoKeys: false,
      providers: [{ kind: 'openai', baseUrl: `http://127.0.0.1:${port}/v1`, credentials: [secret] }],
    })
    await Promise.all(Array.from({ length: 8 }, () => stallUpload(plane)))
    const uploads = plane.records().filter(({ operation }) => operation === 'audio.transcriptions')
    expect(uploads.map(({ error }) => error?.code)).toEqual(Array.from({ length: 8 }, () => 'provider_unreachable'))
    expect([plane.health(0, 1), plane.health(0, 1, 'openai-model')]).toEqual([{ state: 'ready' }, { state: 'ready' }])
  })
})

/** Sends the form's first fields and part of its file, and then nothing. */
async function stallUpload(plane: DataPlane): Promise<void> {
  const { hostname, port } = new URL(plane.baseUrl)
  const socket = net.connect({ port: Number(port), host: hostname })
  socket.on('error', () => {})
  const fields = '--x\r\ncontent-disposition: form-data; name="model"\r\n\r\nopenai-model\r\n'
  const file = '--x\r\ncontent-disposition: form-data; name="file"; filename="a.wav"\r\n\r\n'
  socket.write(
    `POST /v1/audio/transcriptions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${plane.key}\r\n` +
      `content-type: multipart/form-data; boundary=x\r\ncontent-length: 3000000\r\n\r\n${fields}${file}${'a'.repeat(1_500_000)}`,
  )
  await once(socket, 'data')
  socket.destroy()
}

describe('one overloaded model', () => {
  it('closes no other model of its provider', async () => {
    const plane = await start({
      routes: [makeRoute('busy', [makeTarget('openai:busy')], { retries: 0 })],
    })
    act = ({ model }) => (model === 'busy' ? { status: 529 } : fine)
    for (const key of [plane.key, plane.otherKey])
      for (let count = 0; count < 3; count++) await call(plane, key, 'busy')
    expect((await call(plane, plane.key, 'busy')).code).toBe('provider_not_ready')
    expect((await call(plane, plane.key)).status).toBe(200)
    expect(plane.health(0, 1)).toEqual({ state: 'ready' })
  })
})

it('the control plane is told of the first answer of a provider that nobody has checked', async () => {
  const plane = await start()
  const readiness = { state: 'unchecked', reason: null, since: null } as const
  const known = plane.hear('has')
  plane.configure(({ providers }) => ({ providers: providers.map((each) => ({ ...each, readiness })) }))
  await known
  const answered = heard(plane, 'provider-answered')
  expect((await call(plane, plane.key)).status).toBe(200)
  expect(await answered).toEqual({ type: 'provider-answered', providerId: 'prv_openai' })
})

describe('a credential that is rejected with one call', () => {
  const said = `Missing scopes: ${secret} of org-abcdef123456 may not do this`

  it('is told to the control plane, which proves it, and the client gets the provider’s words', async () => {
    const plane = await start()
    act = () => ({ status: 401, body: { error: { message: said } } })
    const suspect = heard(plane, 'credential-suspect')
    const { status, code, text } = await call(plane, plane.key)
    expect([status, code]).toEqual([502, 'provider_credential_rejected'])
    expect(text).toContain('Missing scopes')
    expect(text).not.toMatch(/canary|org-abcdef/)
    expect(await suspect).toMatchObject({ providerId: 'prv_openai', credentialId: 'cre_0' })
    act = () => fine
    expect((await call(plane, plane.otherKey)).status).toBe(200)
  })

  it('leaves the call to the next credential, then to the next target', async () => {
    const pool = { kind: 'openai', baseUrl: `${origin}/v1`, credentials: ['one', 'two'] }
    const plane = await start({
      providers: [pool, { ...pool, name: 'spare', credentials: ['spare'] }],
      routes: [makeRoute('pair', [makeTarget('openai'), makeTarget('spare')], { retries: 0 })],
    })
    act = ({ credential }) => (credential === 'Bearer spare' ? fine : { status: 401 })
    expect((await call(plane, plane.key, 'pair')).status).toBe(200)
    expect(seen.map(({ credential }) => credential).sort()).toEqual(['Bearer one', 'Bearer spare', 'Bearer two'])
  })

  it('cools down without a check where the provider has none, after two keys or five calls in a row', async () => {
    const settings = { preset: 'perplexity' }
    const plane = await start({
      providers: [{ kind: 'openai-compatible', baseUrl: origin, credentials: [secret], settings }],
    })
    act = () => ({ status: 401 })
    for (let count = 0; count < 4; count++) await call(plane, plane.key, 'openai-compatible-model')
    expect(plane.health(0, 1)).toEqual({ state: 'ready' })
    await call(plane, plane.otherKey, 'openai-compatible-model')
    expect(plane.health(0, 1)).toMatchObject({ state: 'cooling-down' })
  })

  it('is trusted again after an answer', async () => {
    const settings = { preset: 'perplexity' }
    const plane = await start({
      providers: [{ kind: 'openai-compatible', baseUrl: origin, credentials: [secret], settings }],
    })
    act = () => ({ status: 401 })
    for (let count = 0; count < 4; count++) await call(plane, plane.key, 'openai-compatible-model')
    act = () => fine
    expect((await call(plane, plane.key, 'openai-compatible-model')).status).toBe(200)
    act = () => ({ status: 401 })
    await call(plane, plane.otherKey, 'openai-compatible-model')
    expect(plane.health(0, 1)).toEqual({ state: 'ready' })
  })
})

describe('a pool', () => {
  const pool = (credentials: string[]) => [{ kind: 'openai', baseUrl: `${origin}/v1`, credentials }]
  const limited = { status: 429 }

  it('whose credentials have all met their limits answers with the last, and waits for nothing', async () => {
    const plane = await start({
      providers: pool(['one', 'two']),
      routes: [makeRoute('again', [makeTarget('openai')], { retries: 3 })],
    })
    act = () => limited
    const { status, record } = await call(plane, plane.key, 'again')
    expect(status).toBe(429)
    expect(record.attempts).toHaveLength(2)
    expect(record.routing_signals.filter(({ rule }) => rule === 'retry')).toEqual([])
    // The next request tries all the same: nothing else can serve.
    act = () => fine
    expect((await call(plane, plane.key, 'again')).status).toBe(200)
  })

  it('is tried again where the provider says when its limit ends', async () => {
    const plane = await start({
      providers: pool(['one', 'two']),
      routes: [makeRoute('again', [makeTarget('openai')], { retries: 1 })],
    })
    let calls = 0
    act = () => (++calls < 3 ? { ...limited, headers: { 'retry-after': '0' } } : fine)
    const { status, record } = await call(plane, plane.key, 'again')
    expect([status, record.attempts.length]).toEqual([200, 3])
  })

  it('counts the credentials that were tried, not the attempts at the provider', async () => {
    const plane = await start({
      providers: pool(['one', 'two', 'three']),
      routes: [makeRoute('both', [makeTarget('openai:slow'), makeTarget('openai:fast')], { retries: 1 })],
    })
    act = ({ model, credential }) => {
      if (model === 'slow') return { status: 503 }
      return credential === 'Bearer three' ? fine : { status: 401 }
    }
    for (let count = 0; count < 3; count++) expect((await call(plane, plane.key, 'both')).status).toBe(200)
  })
})

describe('an account without credit', () => {
  it('is known by Anthropic’s 400, and by an error in the stream before any content', async () => {
    const plane = await start({
      providers: [
        { kind: 'anthropic', baseUrl: origin, credentials: ['a'] },
        { kind: 'openai', baseUrl: `${origin}/v1`, credentials: ['b'] },
      ],
    })
    const message = 'Your credit balance is too low to access the Anthropic API.'
    act = () => ({ status: 400, body: { type: 'error', error: { type: 'invalid_request_error', message } } })
    expect((await call(plane, plane.key, 'anthropic-model', '/anthropic/v1/messages', { max_tokens: 1 })).code).toBe(
      'provider_quota_exhausted',
    )
    const error = {
      message: 'You exceeded your current quota.',
      type: 'insufficient_quota',
      code: 'insufficient_quota',
    }
    act = () => ({
      status: 200,
      headers: { 'content-type': 'text/event-stream' },
      body: `data: ${JSON.stringify({ error })}\n\n`,
    })
    const inBand = await call(plane, plane.key, 'openai-model', '', { stream: true })
    expect([inBand.status, inBand.code]).toEqual([503, 'provider_quota_exhausted'])
    expect([plane.health(0, 1).state, plane.health(1, 1).state]).toEqual(['cooling-down', 'cooling-down'])
    // Whoever asks next is told the same.
    const next = await call(plane, plane.key, 'openai-model')
    expect([next.status, next.code, next.record.attempts]).toEqual([503, 'provider_quota_exhausted', []])
    expect(next.record.routing_signals.map(({ text }) => text).join()).toContain('out of quota')
  })
})
