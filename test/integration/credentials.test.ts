import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ErrorCode } from '../../src/core/errors.ts'
import { mintGatewayKey } from '../../src/core/secrets/gateway-key.ts'
import { type LaneCall, laneCalls } from '../support/lane-calls.ts'
import { expectLaneError } from '../support/lane-errors.ts'
import { type RawAnswer, send } from '../support/raw-http.ts'
import { type Stage, setStage } from '../support/stage.ts'

let stage: Stage
let revoked: string
let expired: string

beforeAll(async () => {
  stage = await setStage()
  const key = await stage.gateway.createKey('revoked')
  await stage.gateway.admin.keys.revoke({ key: key.id })
  revoked = key.key
  expired = (await stage.gateway.createKey('expired', { expires: '1ms' })).key
})
afterAll(() => stage.close())

/** Headers and query of every way to hand over a key. Source: wire/lanes.md section 0. */
const forms: [string, (key: string) => { headers: [string, string][]; query?: string }][] = [
  ['Authorization: Bearer', (key) => ({ headers: [['authorization', `Bearer ${key}`]] })],
  ['authorization: bearer', (key) => ({ headers: [['Authorization', `bearer ${key}`]] })],
  ['x-api-key', (key) => ({ headers: [['X-Api-Key', key]] })],
  ['api-key', (key) => ({ headers: [['api-key', key]] })],
  ['x-goog-api-key', (key) => ({ headers: [['x-goog-api-key', key]] })],
  ['?key=', (key) => ({ headers: [], query: `key=${key}` })],
]

interface Credential {
  headers: [string, string][]
  query?: string
}

function call(lane: LaneCall, credential: Credential): Promise<RawAnswer> {
  const { path, body } = lane.call(stage.models[lane.lane])
  const query = credential.query === undefined ? '' : `${path.includes('?') ? '&' : '?'}${credential.query}`
  const headers: [string, string][] = [['content-type', 'application/json'], ...credential.headers]
  return send(stage.gateway.baseUrl + path + query, { headers, body })
}

describe.each(laneCalls)('credentials on the $lane lane', (lane) => {
  async function expectRefused(credential: Credential, code: ErrorCode, secret?: string): Promise<string> {
    const before = stage.mocks[lane.lane].requests.length
    const answer = await call(lane, credential)
    expectLaneError(lane.lane, answer, code)
    expect(stage.mocks[lane.lane].requests.length).toBe(before)
    const record = await stage.gateway.record(answer.requestId)
    expect(record).toMatchObject({ status: 401, error: { code, origin: 'client' }, lane: lane.lane, attempts: [] })
    if (secret) expect(answer.body.toString() + JSON.stringify(record)).not.toContain(secret)
    return record.error?.message ?? ''
  }

  it.each(forms)('%s carries the gateway key, and only to the gateway', async (_name, form) => {
    const answer = await call(lane, form(stage.key))
    expect([answer.status, answer.body.toString()]).toEqual([200, expect.any(String)])
    const { target } = stage.mocks[lane.lane].last
    expect(target).not.toContain('key=')
    stage.assertClean()
    const record = await stage.gateway.record(answer.requestId)
    expect(JSON.stringify(record)).not.toContain(stage.key)
  })

  it('the same key twice is no conflict', async () => {
    const headers: [string, string][] = [
      ['authorization', `Bearer ${stage.key}`],
      ['x-api-key', stage.key],
      ['x-goog-api-key', stage.key],
    ]
    expect((await call(lane, { headers, query: `key=${stage.key}` })).status).toBe(200)
    stage.assertClean()
  })

  it('no credential', async () => {
    await expectRefused({ headers: [] }, 'missing_key')
    await expectRefused({ headers: [['authorization', 'Bearer ']] }, 'missing_key')
  })

  it('two different credentials, wherever they stand', async () => {
    const other = mintGatewayKey()
    const bearer: [string, string] = ['authorization', `Bearer ${stage.key}`]
    await expectRefused({ headers: [bearer, ['x-api-key', other]] }, 'conflicting_credentials', other)
    await expectRefused({ headers: [bearer, ['x-goog-api-key', other]] }, 'conflicting_credentials', other)
    await expectRefused({ headers: [bearer], query: `key=${other}` }, 'conflicting_credentials', other)
    await expectRefused(
      { headers: [bearer, ['x-api-key', 'sk-ant-abcdef']] },
      'conflicting_credentials',
      'sk-ant-abcdef',
    )
  })

  it.each(['sk-proj-abc123def456', 'sk-ant-api03-abc123def456', 'AIzaSyabc123def456'])(
    'a provider’s own key is told so, and kept nowhere: %s',
    async (own) => {
      await expectRefused({ headers: [lane.credential(own)] }, 'provider_key_rejected', own)
      await expectRefused({ headers: [['authorization', `Bearer ${own}`]] }, 'provider_key_rejected', own)
    },
  )

  it('mistyped, unknown, revoked and expired keys each have their own message', async () => {
    const unknown = mintGatewayKey()
    const mistyped = stage.key.slice(0, -1) + (stage.key.endsWith('a') ? 'b' : 'a')
    const messages: string[] = []
    for (const key of [mistyped, stage.key.slice(0, -5), unknown, revoked, expired]) {
      messages.push(await expectRefused({ headers: [lane.credential(key)] }, 'invalid_key', key))
    }
    const [typing, cut, ...others] = messages
    expect(cut).toBe(typing)
    expect(new Set([typing, ...others]).size).toBe(4)
    expect(messages[3]).toMatch(/revoked/i)
    expect(messages[4]).toMatch(/expired/i)
  })

  it('the paths below /v1 tell nothing to whoever has no key', async () => {
    for (const path of ['/v1/nothing/here', `${lane.prefix}/nothing/here`]) {
      const answer = await send(stage.gateway.baseUrl + path, { headers: [] })
      expect([path, answer.status, answer.headers.get('x-sp-error')]).toEqual([path, 401, 'missing_key'])
    }
  })
})

describe('a key’s life', () => {
  it('revocation holds for the next request after the command', async () => {
    const key = await stage.gateway.createKey('short-lived')
    for (const lane of laneCalls) expect((await call(lane, { headers: [lane.credential(key.key)] })).status).toBe(200)
    await stage.gateway.admin.keys.revoke({ key: key.id })
    for (const lane of laneCalls) expect((await call(lane, { headers: [lane.credential(key.key)] })).status).toBe(401)
  })

  it('rotation: both secrets work for the grace, and only the new one without', async () => {
    const first = await stage.gateway.createKey('turning')
    const rotate = (grace = '24h') => stage.gateway.admin.keys.rotate({ key: first.id, grace })
    const [lane] = laneCalls
    if (lane === undefined) throw new Error('no lane')
    const status = async (key: string) => (await call(lane, { headers: [lane.credential(key)] })).status
    const second = await rotate()
    expect(second.id).toBe(first.id)
    expect([await status(first.key), await status(second.key)]).toEqual([200, 200])
    const third = await rotate('0s')
    expect([await status(second.key), await status(third.key)]).toEqual([401, 200])
  })
})
