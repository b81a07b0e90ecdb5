import http from 'node:http'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { minuteOfWeek } from '../../src/policy/calendar.ts'
import { type DataPlane, startDataPlane } from '../support/data-plane.ts'
import { makePolicy } from '../support/snapshot.ts'

let plane: DataPlane

beforeAll(async () => {
  plane = await startDataPlane({
    providers: [{ kind: 'demo', baseUrl: 'demo:', credentials: [] }],
    policies: [makePolicy('office', { addresses: ['10.0.0.0/8'] })],
    trustedProxies: ['127.0.0.1'],
  })
})
afterAll(() => plane.stop())

interface Sent {
  path?: string
  headers?: Record<string, string>
  body?: string | null
}

/** Resolves with the head of the answer. `body` null: it is announced and never sent. */
async function send(to: DataPlane, { path = '/v1/chat/completions', headers = {}, body = chat }: Sent = {}) {
  const { promise, resolve, reject } = Promise.withResolvers<http.IncomingMessage>()
  const length = { 'content-type': 'application/json', 'content-length': String(chat.length) }
  const request = http.request(to.baseUrl + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${to.key}`, ...length, ...headers },
  })
  request.on('response', resolve).on('upgrade', resolve).on('error', reject)
  if (body === null) request.flushHeaders()
  else request.end(body)
  const response = await promise
  response.resume()
  request.destroy()
  return {
    status: response.statusCode,
    code: response.headers['x-sp-error'],
    id: String(response.headers['x-sp-request-id']),
  }
}

const chat = JSON.stringify({ model: 'demo-model', messages: [{ role: 'user', content: 'x' }] })

it('is the address behind the trusted proxies', async () => {
  const behind = (address: string) => send(plane, { headers: { 'x-forwarded-for': address } })
  expect(await behind('10.1.2.3')).toMatchObject({ status: 200 })
  const refused = await behind('10.1.2.3, 192.0.2.1')
  expect(refused).toMatchObject({ status: 403, code: 'policy_denied' })
  expect(await plane.record(refused.id)).toMatchObject({
    attempts: [],
    policy_signals: [{ rule: 'key' }, { rule: 'address', verdict: 'deny', data: { policy: 'office' } }],
  })
})

it('is checked before any of the body comes, on every endpoint', async () => {
  expect(await send(plane, { body: null })).toMatchObject({ status: 403, code: 'policy_denied' })
  const form = { 'content-type': 'multipart/form-data; boundary=x' }
  expect(await send(plane, { path: '/v1/files', headers: form, body: null })).toMatchObject({ status: 403 })
  expect(await send(plane, { path: '/v1/gemini/upload/v1beta/files', body: null })).toMatchObject({ status: 403 })
})

it('is checked when a WebSocket opens', async () => {
  const url = `${plane.baseUrl}/v1/realtime?model=demo-model`
  const { promise, resolve } = Promise.withResolvers<http.IncomingMessage>()
  const handshake = { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' }
  const headers = {
    ...handshake,
    'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
    authorization: `Bearer ${plane.key}`,
  }
  http.get(url, { headers }).on('response', resolve).on('upgrade', resolve)
  const answer = await promise
  answer.resume()
  expect([answer.statusCode, answer.headers['x-sp-error']]).toEqual([403, 'policy_denied'])
})

it('is the hour by the clock of the workspace', async () => {
  // Two hours from now, whatever the minute in which the test runs.
  const later = (hours: number) => {
    const minute = (minuteOfWeek('UTC', Date.now()) + hours * 60) % (24 * 60)
    return `${String(Math.floor(minute / 60)).padStart(2, '0')}:00`
  }
  const policies = [makePolicy('later', { hours: [`${later(2)}-${later(4)}`] })]
  const shut = await startDataPlane({ providers: [{ kind: 'demo', baseUrl: 'demo:', credentials: [] }], policies })
  const answer = await send(shut)
  expect(answer).toMatchObject({ status: 403, code: 'policy_denied' })
  expect((await shut.record(answer.id)).error?.message).toContain('allows no requests at this hour')
  await shut.stop()
})
