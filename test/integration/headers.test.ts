import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { laneCalls } from '../support/lane-calls.ts'
import { type RawAnswer, send } from '../support/raw-http.ts'
import { type Stage, setStage } from '../support/stage.ts'

let stage: Stage

beforeAll(async () => {
  stage = await setStage()
})
afterAll(() => stage.close())

/** Belong to one connection, or to the gateway. Source: RFC 9110 section 7.6.1, wire/lanes.md. */
const neverUp: [string, string][] = [
  ['connection', 'keep-alive, x-named-by-connection'],
  ['keep-alive', 'timeout=5'],
  ['proxy-connection', 'keep-alive'],
  ['proxy-authorization', 'Basic Y2FuYXJ5'],
  ['te', 'trailers'],
  ['x-named-by-connection', 'hop'],
  ['x-sp-tag', 'team=red'],
  ['cookie', 'session=canary'],
]

const passUp: [string, string][] = [
  ['anthropic-beta', 'context-1m-2025-08-07,tomorrow'],
  ['openai-beta', 'assistants=v2'],
  ['x-stainless-retry-count', '1'],
  ['x-client-request-id', 'mine'],
  ['x-nobody-knows', 'Grüße'],
  ['traceparent', '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'],
]

/** Tell who the provider's account or machinery is. */
const neverDown: [string, string][] = [
  ['openai-organization', 'org-canary'],
  ['openai-project', 'proj_canary'],
  ['anthropic-organization-id', 'canary'],
  ['anthropic-workspace-id', 'canary'],
  ['set-cookie', 'canary=1'],
  ['cf-ray', 'canary'],
  ['cf-cache-status', 'canary'],
  ['server', 'canary'],
  ['via', '1.1 canary'],
  ['x-envoy-upstream-service-time', 'canary'],
  ['alt-svc', 'h3="canary:443"'],
  ['strict-transport-security', 'max-age=1'],
  ['clear-site-data', '"cookies", "canary"'],
  ['reporting-endpoints', 'default="https://canary"'],
  ['proxy-authenticate', 'Basic realm=canary'],
  ['x-hop-down', 'canary'],
]

const passDown: [string, string][] = [
  ['x-request-id', 'req_theirs'],
  ['request-id', 'req_theirs'],
  ['x-ratelimit-remaining-requests', '7'],
  ['anthropic-ratelimit-requests-remaining', '7'],
  ['x-tomorrow', 'kept'],
]

describe.each(laneCalls)('headers on the $lane lane', (lane) => {
  function call(more: [string, string][], stream: boolean): Promise<RawAnswer> {
    const { path, body } = lane.call(stage.models[lane.lane], { stream })
    const headers: [string, string][] = [['content-type', 'application/json'], lane.credential(stage.key), ...more]
    return send(stage.gateway.baseUrl + path, { headers, body })
  }

  it('what belongs to one connection or to the gateway never goes up', async () => {
    const answer = await call(neverUp, false)
    expect(answer.status).toBe(200)
    const seen = stage.mocks[lane.lane].last
    const names = neverUp.map(([name]) => name).filter((name) => name !== 'connection')
    expect(names.filter((name) => seen.headers.has(name))).toEqual([])
    expect(seen.headers.get('connection') ?? 'keep-alive').toBe('keep-alive')
    expect([...seen.headers.keys()].filter((name) => name.startsWith('x-sp-'))).toEqual([])
    stage.assertClean()
  })

  it.each([
    ['as a parameter of another name', (key: string) => [`token=${key}&api_key=Bearer+${key}`, []]],
    ['as the name of a parameter', (key: string) => [`${key}`, []]],
    ['encoded', (key: string) => [`x=%73%70_live_${key.slice(8)}&y=%2573p_live_${key.slice(8)}`, []]],
    ['as the name of a header', (key: string) => ['', [[key, '1']]]],
    ['in the value of a header', (key: string) => ['', [['x-note', `my key is ${key}`]]]],
  ] as [string, (key: string) => [string, [string, string][]]][])(
    'the gateway key never goes up %s',
    async (_how, place) => {
      const [query, more] = place(stage.key)
      const { path, body } = lane.call(stage.models[lane.lane])
      const headers: [string, string][] = [['content-type', 'application/json'], lane.credential(stage.key), ...more]
      const url = `${stage.gateway.baseUrl}${path}${path.includes('?') ? '&' : '?'}${query}`
      expect((await send(url, { headers, body })).status).toBe(200)
      const seen = stage.mocks[lane.lane].last
      const carried = `${seen.target} ${decodeURIComponent(decodeURIComponent(seen.target))} ${seen.rawHeaders.join(' ')}`
      expect(carried.toLowerCase()).not.toContain(stage.key.toLowerCase())
      stage.assertClean()
    },
  )

  it('what nobody knows passes up, once and unchanged', async () => {
    const sent = passUp.map(([name, value]): [string, string] => [name, Buffer.from(value, 'utf8').toString('latin1')])
    await call(sent, false)
    const seen = stage.mocks[lane.lane].last
    expect(sent.map(([name]) => [name, seen.headers.get(name)])).toEqual(sent)
    const counted = seen.rawHeaders.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase())
    expect(new Set(counted).size).toBe(counted.length)
    expect(seen.headers.get('content-length')).toBe(String(seen.body.length))
    expect(seen.headers.has('transfer-encoding')).toBe(false)
  })

  it('what names an account at the provider stays here', async () => {
    await call(
      [
        ['openai-organization', 'org-client'],
        ['openai-project', 'proj_client'],
        ['x-goog-user-project', 'client'],
      ],
      false,
    )
    const seen = stage.mocks[lane.lane].last
    expect(seen.rawHeaders.join('\n')).not.toMatch(/org-client|proj_client|x-goog-user-project/i)
  })

  it.each([false, true])(
    'who the provider is never comes down, its ids for support do (streamed: %s)',
    async (stream) => {
      const headers = Object.fromEntries([...neverDown, ...passDown])
      stage.mocks[lane.lane].next({ headers: { ...headers, connection: 'x-hop-down' } })
      const answer = await call([], stream)
      expect(answer.status).toBe(200)
      expect(neverDown.filter(([name]) => answer.headers.has(name))).toEqual([])
      expect(answer.rawHeaders.join('\n')).not.toContain('canary')
      expect(passDown.map(([name]) => [name, answer.headers.get(name)])).toEqual(passDown)
      const record = await stage.gateway.record(answer.requestId)
      if (lane.lane !== 'gemini') expect(record.provider_request_id).toBe('req_theirs')
    },
  )

  it.each([false, true])('the usual headers of the mock are clean too (streamed: %s)', async (stream) => {
    const answer = await call([], stream)
    expect(answer.rawHeaders.join('\n')).not.toContain('canary')
    expect(answer.headers.get('x-sp-request-id')).toMatch(/^req_[0-9a-z]{26}$/)
    expect(answer.headers.has('x-sp-error')).toBe(false)
    if (stream) {
      expect(answer.headers.get('cache-control')).toBe('no-cache')
      expect(answer.headers.get('x-accel-buffering')).toBe('no')
      expect(answer.headers.has('content-length')).toBe(false)
      expect(answer.headers.get('content-type')).toMatch(/^text\/event-stream/)
    } else {
      expect(answer.headers.get('content-length')).toBe(String(answer.body.length))
    }
  })

  it('a client that can read gzip gets the same answer, and its usage is read', async () => {
    const url = stage.gateway.baseUrl + lane.call(stage.models[lane.lane]).path
    const [name, value] = lane.credential(stage.key)
    const { body } = lane.call(stage.models[lane.lane])
    const answer = await fetch(url, {
      method: 'POST',
      headers: { [name]: value, 'content-type': 'application/json', 'accept-encoding': 'gzip' },
      body,
    })
    const seen = stage.mocks[lane.lane].last
    expect(Buffer.from(await answer.arrayBuffer()).toString()).toBe(seen.answerBody.toString())
    await stage.expectRecord(answer.headers.get('x-sp-request-id'), seen, lane.lane)
  })

  it('account ids in a provider’s error are scrubbed, and nothing else', async () => {
    const message = 'Rate limit reached for gpt-4o in organization org-AbCdEf0123456789AbCdEf01 on requests per min.'
    const body = `{ "error" : { "message" : "${message}" , "type":"requests" } }\n`
    if (lane.lane !== 'openai') return
    stage.mocks.openai.next({ status: 400, body })
    const answer = await call([], false)
    expect(answer.body.toString()).not.toContain('org-AbCdEf')
    expect(answer.body.toString().replace(/organization \S+ on/, 'X')).toBe(body.replace(/organization \S+ on/, 'X'))
    stage.mocks.openai.next({ status: 400, body: body.replace(/in organization \S+/, '') })
    expect((await call([], false)).body.toString()).toBe(body.replace(/in organization \S+/, ''))
  })
})

describe('the listener', () => {
  it('health and readiness carry no secret and need no key', async () => {
    for (const path of ['/healthz', '/readyz']) {
      const answer = await send(stage.gateway.baseUrl + path, { method: 'GET' })
      expect([path, answer.status]).toEqual([path, 200])
    }
    const ready = await send(`${stage.gateway.baseUrl}/readyz`, { method: 'GET' })
    expect(ready.body.toString()).toContain('openai')
  })

  it.each([
    ['no HTTP at all', 'hello there\r\n\r\n', 400],
    ['two lengths', 'POST /v1/models HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab', 400],
  ])('%s is answered with a status and an id', async (_what, bytes, status) => {
    const { hostname, port } = new URL(stage.gateway.baseUrl)
    const socket = connect(Number(port), hostname).on('error', () => {})
    socket.write(bytes)
    let text = ''
    for await (const chunk of socket) text += chunk
    expect(text).toContain(`HTTP/1.1 ${status} `)
    const requestId = /x-sp-request-id: (req_[0-9a-z]{26})/i.exec(text)?.[1]
    const code = status === 413 ? 'request_too_large' : 'invalid_request'
    expect(await stage.gateway.record(requestId ?? '')).toMatchObject({ error: { code } })
  })

  it('tags land on the record', async () => {
    const [lane] = laneCalls
    const { path, body } = lane?.call(stage.models.openai) ?? { path: '', body: '' }
    const headers: [string, string][] = [
      ['authorization', `Bearer ${stage.key}`],
      ['content-type', 'application/json'],
      ['x-sp-tag', 'team=red'],
      ['user-agent', 'test-agent/1'],
    ]
    const answer = await send(stage.gateway.baseUrl + path, { headers, body })
    const record = await stage.gateway.record(answer.requestId)
    expect(record).toMatchObject({
      tags: { team: 'red' },
      client: { address: '127.0.0.1', user_agent: 'test-agent/1' },
    })
  })
})
