import http from 'node:http'
import { GoogleGenAI } from '@google/genai'
import { GoogleGenAI as GoogleGenAI1 } from 'genai-1'
import OpenAI from 'openai'
import OpenAI6 from 'openai-6'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ClientTokens } from '../../src/sealing/client-token.ts'
import { type DataPlane, startDataPlane } from '../support/data-plane.ts'
import { closeServer, listen } from '../support/listen.ts'
import { makeRoute, makeTarget } from '../support/snapshot.ts'
import { dial, Refused, type SocketProvider, startSocketProvider } from '../support/sockets.ts'

let sockets: SocketProvider
let mint: http.Server
let plane: DataPlane
let answer = ''
const asked: { url: string; authorization: string; body: string }[] = []

beforeAll(async () => {
  sockets = await startSocketProvider()
  mint = http.createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    const { authorization = '', 'x-goog-api-key': key } = request.headers
    asked.push({ url: request.url ?? '', authorization: authorization || String(key), body })
    response.setHeader('content-type', 'application/json').end(answer)
  })
  // Its upgrades are the other server's: one address, as at a provider.
  mint.on('upgrade', (...upgrade) => sockets.take(...upgrade))
  const origin = await listen(mint)
  plane = await startDataPlane({
    providers: [
      { kind: 'openai', baseUrl: `${origin}/v1`, credentials: ['sk-first', 'sk-second'] },
      { kind: 'gemini', baseUrl: origin, credentials: ['AIza-stored'] },
    ],
    routes: [makeRoute('voice', [makeTarget('openai:gpt-realtime')]), makeRoute('talk', [makeTarget('gemini:live-1')])],
  })
})
afterAll(async () => {
  await plane.stop()
  await sockets.stop()
  closeServer(mint)
})

async function post(path: string, body: object, key = plane.key) {
  const response = await fetch(`${plane.baseUrl}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return { status: response.status, text: await response.text(), code: response.headers.get('x-sp-error') }
}

const seconds = () => Math.floor(Date.now() / 1000) + 600
const secret = 'ek_the_providers_own_secret'

async function refusal(run: Promise<unknown>): Promise<Refused> {
  const error = await run.catch((reason: unknown) => reason)
  expect(error).toBeInstanceOf(Refused)
  return error as Refused
}

const live = '/v1/gemini/ws/google.ai.generativelanguage.v1alpha.GenerativeService.BidiGenerateContentConstrained'

describe('a credential for clients', () => {
  it.each([
    [
      '/realtime/client_secrets',
      { session: { type: 'realtime', model: 'voice' } },
      (value: string) => ({ value, expires_at: seconds(), session: { id: 's' } }),
    ],
    [
      '/realtime/translations/client_secrets',
      { session: { model: 'voice' } },
      (value: string) => ({ value, expires_at: seconds() }),
    ],
    [
      '/realtime/sessions',
      { model: 'voice' },
      (value: string) => ({ id: 's', client_secret: { value, expires_at: seconds() } }),
    ],
    [
      '/realtime/transcription_sessions',
      {},
      (value: string) => ({ client_secret: { value, expires_at: seconds() }, note: value }),
    ],
  ])('of %s never is the provider’s, and opens a session with it', async (path, body, minted) => {
    answer = JSON.stringify(minted(secret))
    const { status, text } = await post(`/v1${path}`, body)
    expect(status).toBe(200)
    expect(text).not.toContain(secret)
    const given = JSON.parse(text)
    const token: string = given.value ?? given.client_secret.value
    expect(token).toMatch(/^ek_sp_[\w-]+$/)
    const call = asked.at(-1)
    if ('model' in body || 'session' in body) expect(call?.body).toContain('"gpt-realtime"')

    const way = { protocols: ['realtime', `openai-insecure-api-key.${token}`] }
    const [client, { end, request }] = await Promise.all([
      dial(`${plane.baseUrl}/v1/realtime?model=voice`, way),
      sockets.accepted(),
    ])
    expect(request.headers.authorization).toBe(`Bearer ${secret}`)
    expect(request.url).toBe('/v1/realtime?model=gpt-realtime')
    client.socket.close(1000)
    await end.closed
    const record = await plane.record(client.requestId)
    expect(record).toMatchObject({ key: { id: 'key_1' }, provider: 'openai', error: null })
    for (const hidden of [secret, token]) expect(JSON.stringify(plane.records())).not.toContain(hidden)
  })

  it('of Gemini is a token whose model the setup need not name again', async () => {
    answer = JSON.stringify({ name: 'auth_tokens/of-the-provider' })
    const { text } = await post('/v1/gemini/v1alpha/auth_tokens', {
      uses: 1,
      bidiGenerateContentSetup: { model: 'models/talk' },
    })
    expect(asked.at(-1)).toMatchObject({ url: '/v1alpha/auth_tokens', authorization: 'AIza-stored' })
    expect(asked.at(-1)?.body).toContain('"models/live-1"')
    const { name } = JSON.parse(text)
    expect(name).toMatch(/^auth_tokens\/sp_[\w-]+$/)
    const client = await dial(`${plane.baseUrl}${live}?access_token=${name}`)
    client.send({ setup: {} })
    const { end, request } = await sockets.accepted()
    expect(request.url).toMatch(/BidiGenerateContentConstrained\?access_token=auth_tokens\/of-the-provider$/)
    expect((await end.next()).text).toBe('{"setup":{}}')
    client.socket.close(1000)
    await end.closed
    expect(await plane.record(client.requestId)).toMatchObject({ model: 'talk', upstream_model: 'live-1' })
  })

  it.each([
    ['openai 7', OpenAI],
    ['openai 6', OpenAI6 as unknown as typeof OpenAI],
  ])('is made by %s as at the provider', async (_name, Client) => {
    const client = new Client({ apiKey: plane.key, baseURL: `${plane.baseUrl}/v1`, maxRetries: 0 })
    answer = JSON.stringify({
      value: secret,
      expires_at: seconds(),
      session: { type: 'realtime', model: 'gpt-realtime' },
    })
    const made = await client.realtime.clientSecrets.create({ session: { type: 'realtime', model: 'voice' } })
    expect(made.value).toMatch(/^ek_sp_/)
    expect(made.session).toMatchObject({ model: 'gpt-realtime' })
  })

  it.each([
    ['@google/genai 3', GoogleGenAI],
    ['@google/genai 1', GoogleGenAI1 as unknown as typeof GoogleGenAI],
  ])('is made and used by %s as at the provider', async (_name, Client) => {
    const httpOptions = { baseUrl: `${plane.baseUrl}/v1/gemini`, apiVersion: 'v1alpha' }
    answer = JSON.stringify({ name: 'auth_tokens/of-the-provider' })
    const maker = new Client({ apiKey: plane.key, httpOptions })
    const liveConnectConstraints = { model: 'talk' }
    const { name } = await maker.authTokens.create({ config: { uses: 1, liveConnectConstraints } })
    expect(name).toMatch(/^auth_tokens\/sp_/)
    const holder = new Client({ apiKey: name ?? '', httpOptions })
    const far = sockets.accepted().then(async ({ end, request }) => {
      const setup = (await end.next()).text
      end.send({ setupComplete: {} })
      return { end, setup, url: request.url }
    })
    const session = await holder.live.connect({ model: 'talk', callbacks: { onmessage: () => {} } })
    const { end, setup, url } = await far
    expect(url).toMatch(/BidiGenerateContentConstrained\?access_token=auth_tokens\/of-the-provider$/)
    expect(JSON.parse(setup).setup.model).toBe('models/live-1')
    session.close()
    await end.closed
  })

  it('is found however it is spelled', async () => {
    const spelled = [...secret].map((each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')
    answer = `{ "value": "${spelled}", "again": "${secret}", "kept": 1.50 }`
    const { text } = await post('/v1/realtime/client_secrets', { session: { model: 'voice' } })
    expect(JSON.stringify(JSON.parse(text))).not.toContain(secret)
    expect(JSON.parse(text)).toMatchObject({ value: expect.stringMatching(/^ek_sp_/), kept: 1.5 })
    answer = `{ "value": "${secret}", "kept": 1.50 }`
    expect((await post('/v1/realtime/client_secrets', { session: { model: 'voice' } })).text).toContain(
      '"kept": 1.50 }',
    )
  })

  it('whose answer is not understood does not pass at all', async () => {
    for (const odd of [JSON.stringify({ hidden: secret }), `"${secret}"`, `{"value":"${secret}"`]) {
      answer = odd
      const { status, text, code } = await post('/v1/realtime/client_secrets', { session: { model: 'voice' } })
      expect([status, code]).toEqual([502, 'provider_bad_response'])
      expect(text).not.toContain(secret)
    }
  })

  it('opens nothing else, for nobody else, and not for ever', async () => {
    answer = JSON.stringify({ value: secret, expires_at: seconds() })
    const token: string = JSON.parse(
      (await post('/v1/realtime/client_secrets', { session: { model: 'voice' } })).text,
    ).value
    const bearer = (text: string) => ({ headers: { authorization: `Bearer ${text}` } })
    const open = (text: string) => refusal(dial(`${plane.baseUrl}/v1/realtime?model=voice`, bearer(text)))
    expect(await post('/v1/chat/completions', { model: 'voice', messages: [] }, token)).toMatchObject({
      ...{ status: 401, code: 'invalid_key' },
    })
    expect(await refusal(dial(`${plane.baseUrl}/v1/responses`, bearer(token)))).toMatchObject({ status: 401 })
    expect(await open(`${token}x`)).toMatchObject({ status: 401 })
    expect(await open(secret)).toMatchObject({ status: 401, headers: { 'x-sp-error': 'provider_key_rejected' } })
    const foreign = new ClientTokens(new Uint8Array(32).fill(1)).seal('client-secret', '{}', Date.now() + 1000)
    expect(await open(`ek_sp_${foreign}`)).toMatchObject({ status: 401 })
    const past = new ClientTokens(new Uint8Array(32)).seal('client-secret', '{}', 1)
    expect((await open(`ek_sp_${past}`)).body).toContain('expired')
    sockets.refuse(() => ({ status: 401, headers: {}, body: '{}' }))
    expect(await open(token)).toMatchObject({ status: 401, headers: { 'x-sp-error': 'invalid_key' } })
    sockets.refuse(null)
    expect(plane.health(0, 2).state).toBe('ready')
    await plane.changeKey({ revokedAt: 1 })
    expect((await open(token)).body).toContain('revoked')
    await plane.changeKey({ revokedAt: null })
  })
})
