import http from 'node:http'
import OpenAI from 'openai'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type DataPlane, startDataPlane } from '../support/data-plane.ts'
import { listen } from '../support/listen.ts'
import { makeRoute, makeTarget } from '../support/snapshot.ts'

let provider: http.Server
let plane: DataPlane
const got: { url: string; headers: http.IncomingHttpHeaders; body: string }[] = []
const sdp = 'v=0\r\no=- 1 1 IN IP4 0.0.0.0\r\ns=-\r\n'

beforeAll(async () => {
  provider = http.createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    const url = request.url ?? ''
    got.push({ url, headers: request.headers, body })
    if (url.endsWith('/client_secrets')) {
      const secret = { value: 'ek_provider_0123456789', expires_at: Math.floor(Date.now() / 1000) + 600 }
      return void response.setHeader('content-type', 'application/json').end(JSON.stringify(secret))
    }
    if (body.startsWith('refuse')) {
      const message = `Not with ${request.headers.authorization}`
      return void response
        .writeHead(400, { 'content-type': 'application/json' })
        .end(JSON.stringify({ error: { message } }))
    }
    response.writeHead(201, {
      'content-type': 'application/sdp',
      location: 'https://x.example/v1/realtime/calls/rtc_1',
    })
    response.end(sdp)
  })
  const baseUrl = `${await listen(provider)}/v1`
  plane = await startDataPlane({
    providers: [{ kind: 'openai', baseUrl }],
    routes: [
      makeRoute('renamed', [makeTarget('openai:gpt-realtime')]),
      makeRoute('heard', [makeTarget('openai:gpt-4o-transcribe')]),
    ],
    webrtc: true,
  })
})

afterAll(async () => {
  await plane.stop()
  provider.close()
})

beforeEach(() => {
  got.length = 0
})

const boundary = 'the-boundary'
const part = (name: string, value: string, more = '') =>
  `--${boundary}\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\n${value}\r\n`
const form = (...parts: string[]) => `${parts.join('')}--${boundary}--\r\n`

async function post(
  body: string,
  { type = `multipart/form-data; boundary=${boundary}`, key = plane.key, path = '/realtime/calls', at = plane } = {},
) {
  const headers = { authorization: `Bearer ${key}`, 'content-type': type }
  const answer = await fetch(`${at.baseUrl}/v1${path}`, { method: 'POST', headers, body })
  const text = await answer.text()
  const record = await at.record(answer.headers.get('x-sp-request-id'))
  return { status: answer.status, text, location: answer.headers.get('location'), record }
}

const session = (model: string, more: object = {}) => JSON.stringify({ type: 'realtime', model, ...more })

describe('a call by WebRTC', () => {
  it('is begun through the SDK, under the model that the route gives it, and recorded as what it is', async () => {
    const client = new OpenAI({ apiKey: plane.key, baseURL: `${plane.baseUrl}/v1`, maxRetries: 0 })
    const transcription = { model: 'heard' }
    const answer = await client.realtime.calls.create({
      sdp,
      session: {
        type: 'realtime',
        model: 'renamed',
        audio: { input: { transcription } },
        instructions: 'x'.repeat(9000),
      },
    })
    expect([answer.status, await answer.text()]).toEqual([201, sdp])
    expect(answer.headers.get('location')).toBe('/v1/realtime/calls/rtc_1')
    expect(got[0]?.headers.authorization).toBe('Bearer provider-credential')
    expect(got[0]?.body).toContain('"model":"gpt-realtime"')
    expect(got[0]?.body).toContain('"transcription":{"model":"gpt-4o-transcribe"}')
    const record = await plane.record(answer.headers.get('x-sp-request-id'))
    expect(record).toMatchObject({ operation: 'realtime.calls.create', model: 'renamed', status: 201, tokens: null })
    expect(record.routing_signals).toContainEqual(expect.objectContaining({ rule: 'webrtc' }))
  })

  it("is begun by a browser with its token, for the token's model", async () => {
    const minted = await post(JSON.stringify({ session: { type: 'realtime', model: 'renamed' } }), {
      path: '/realtime/client_secrets',
      type: 'application/json',
    })
    const { value } = JSON.parse(minted.text) as { value: string }
    const begun = await post(sdp, { type: 'application/sdp', key: value })
    expect(begun).toMatchObject({ status: 201, text: sdp, location: '/v1/realtime/calls/rtc_1' })
    expect(begun.record.model).toBe('renamed')
    expect(begun.record.routing_signals.map(({ rule }) => rule)).not.toContain('patch')
    expect(got[1]).toMatchObject({ body: sdp, headers: { authorization: 'Bearer ek_provider_0123456789' } })
    const refused = await post('refuse', { type: 'application/sdp', key: value })
    expect([refused.status, refused.text]).toEqual([400, expect.stringContaining('Not with Bearer ***')])
  })

  const good = part('session', session('renamed'))
  it.each([
    ['SDP without a model', sdp, /session.model/, 'application/sdp'],
    ['JSON', '{"sdp":"v=0"}', /application\/sdp, or a form/, 'application/json'],
    ['a form without a session', form(part('sdp', sdp)), /session.model/],
    ['two sessions', form(part('sdp', sdp), good, part('session', session('other'))), /twice/],
    ['another field', form(part('sdp', sdp), good, part('session[model]', 'other')), /no others/],
    ['an encoded session', form(part('session', 'e30=', '\r\nContent-Transfer-Encoding: base64')), /unencoded/],
    ['a session that is no JSON', form(part('session', '{"model":NaN}')), /valid JSON/],
    ['two models', form(part('session', '{"model":"renamed","model":"other"}')), /twice/],
    ['another boundary', form(part('sdp', sdp), good).replaceAll(boundary, 'another'), /is not a form/],
    ['a model that nobody routes', form(part('sdp', sdp), part('session', session('other'))), /other/],
  ])('with %s is not begun', async (_what, body, words, type = `multipart/form-data; boundary=${boundary}`) => {
    const { status, text } = await post(body, { type })
    expect([400, 404]).toContain(status)
    expect(text).toMatch(words)
    expect(got).toEqual([])
  })

  it('whose model stands in the query is not begun', async () => {
    expect((await post(sdp, { type: 'application/sdp', path: '/realtime/calls?model=renamed' })).status).toBe(400)
    expect(got).toEqual([])
  })
})

describe('a session', () => {
  it.each([
    ['/live/sessions', { transport: { type: 'webrtc', sdp } }, /session.model/],
    ['/live/sessions', { session: { model: 'renamed' }, model: 'other' }, /twice/],
    ['/realtime/sessions', { model: 'other', session: { model: 'renamed' } }, /twice/],
    [
      '/realtime/client_secrets',
      { session: { model: 'renamed', audio: { input: { transcription: { model: 'other' } } } } },
      /other/,
    ],
  ])('at %s with %j is not begun', async (path, body, words) => {
    const { status, text } = await post(JSON.stringify(body), { path, type: 'application/json' })
    expect([400, 404]).toContain(status)
    expect(text).toMatch(words)
    expect(got).toEqual([])
  })
})

describe('where the operator does not allow it', () => {
  it.each(['/realtime/calls', '/live/sessions', '/live/sessions/live_1/fork'])(
    '%s is refused with the reason',
    async (path) => {
      const strict = await startDataPlane({ providers: [{ kind: 'openai', baseUrl: 'http://127.0.0.1:1/v1' }] })
      const { status, text, record } = await post('{}', { path, at: strict, key: strict.key, type: 'application/json' })
      await strict.stop()
      expect([status, record.error?.code]).toEqual([403, 'policy_denied'])
      expect(text).toContain('gateway.webrtc')
    },
  )
})
