import { once } from 'node:events'
import http from 'node:http'
import { afterEach, describe, expect, it } from 'vitest'
import { laneNames } from '../../src/core/lane.ts'
import type { Limit, LimitRules } from '../../src/core/policies/policy-limits.ts'
import { type DataPlane, startDataPlane } from '../support/data-plane.ts'
import { laneCall } from '../support/lane-calls.ts'
import { expectLaneError } from '../support/lane-errors.ts'
import { listen } from '../support/listen.ts'
import { type RawAnswer, send } from '../support/raw-http.ts'
import { makePolicy, makeRoute, makeTarget } from '../support/snapshot.ts'
import { dial, startSocketProvider } from '../support/sockets.ts'

const scope = { projectId: 'prj_1', project: 'default' }
const opened: { stop(): Promise<unknown> }[] = []
afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each.stop()
})

async function start(rules: LimitRules, providers: { kind: string; baseUrl: string }[] = []): Promise<DataPlane> {
  const plane = await startDataPlane({
    providers: [{ kind: 'demo', baseUrl: 'demo:', credentials: [] }, ...providers],
    policies: [makePolicy('team', rules)],
    routes: ['demo-slow', 'demo-error-429'].map((model) => makeRoute(model, [makeTarget(`demo:${model}`)], scope)),
  })
  opened.push(plane)
  return plane
}

function ask(plane: DataPlane, lane: (typeof laneNames)[number] = 'openai', more = {}): Promise<RawAnswer> {
  const { path, body } = laneCall(lane).call('demo-model', more)
  const headers: [string, string][] = [laneCall(lane).credential(plane.key), ['content-type', 'application/json']]
  return send(plane.baseUrl + path, { headers, body })
}

const bearer = (plane: DataPlane): [string, string][] => [
  ['authorization', `Bearer ${plane.key}`],
  ['content-type', 'application/json'],
]

const limit = (kind: Limit['kind'], most: number): Limit => ({
  counter: `pol_team workspace ${kind} minute`,
  ...{ policy: 'team', scope: 'workspace', kind, period: null, limit: most, warns: false, perUser: false },
})

describe('requests a minute', () => {
  it.each(laneNames)('over the limit are refused in the words and headers of the lane: %s', async (lane) => {
    const plane = await start({ rpm: 2, tpm: 100_000 })
    const passed = [await ask(plane, lane), await ask(plane, lane)]
    expect(passed.map(({ status }) => status)).toEqual([200, 200])
    const refused = await ask(plane, lane)
    expectLaneError(lane, refused, 'rate_limited')
    const wait = Number(refused.headers.get('retry-after'))
    expect(wait).toBeGreaterThan(50)
    expect(wait).toBeLessThanOrEqual(62)
    expect(refused.headers.get('x-should-retry')).toBeUndefined()
    const remaining = { openai: 'x-ratelimit-remaining-requests', anthropic: 'anthropic-ratelimit-requests-remaining' }
    if (lane !== 'gemini')
      expect([...passed, refused].map(({ headers }) => headers.get(remaining[lane]))).toEqual(['1', '0', '0'])
    if (lane === 'openai')
      expect(passed[0]?.headers.get('x-ratelimit-reset-requests')).toMatch(/^1m(0|1|1\.\d|2)(\.\d)?s$/)
    if (lane === 'anthropic')
      expect(passed[0]?.headers.get('anthropic-ratelimit-requests-reset')).toMatch(/^20\d\d-[\d-]+T[\d:]+Z$/)
    if (lane === 'gemini') expect(refused.body.toString()).toContain(`"retryDelay":"${wait}s"`)
    expect(await plane.record(refused.requestId)).toMatchObject({
      status: 429,
      attempts: [],
      policy_signals: [
        { rule: 'key' },
        { rule: 'limits', verdict: 'deny', data: { policy: 'team', limit: 2, used: 2 } },
      ],
    })
    expect(await plane.record(passed[1]!.requestId)).toMatchObject({
      policy_signals: [{ rule: 'key' }, { rule: 'limits', verdict: 'pass', data: { requests_left: 0 } }],
    })
  })

  it('count model lists too, and no request that is malformed or without a key', async () => {
    const plane = await start({ rpm: 2 })
    const headers = bearer(plane)
    const list = { method: 'GET', headers }
    await send(`${plane.baseUrl}/v1/models`, { method: 'GET' })
    await send(`${plane.baseUrl}/v1/chat/completions`, { headers, body: '{"model":' })
    expect(plane.limits.used(limit('requests', 2))).toBe(0)
    expect((await send(`${plane.baseUrl}/v1/models`, list)).status).toBe(200)
    expect((await send(`${plane.baseUrl}/v1/models/none`, list)).status).toBe(404)
    expect(await send(`${plane.baseUrl}/v1/models`, list)).toMatchObject({ status: 429 })
  })

  it('count nothing that a budget refuses', async () => {
    const plane = await start({ rpm: 2, tpm: 100_000, budgetTokensDay: 1 })
    const refused = await ask(plane)
    expectLaneError('openai', refused, 'budget_exceeded')
    await expect.poll(() => plane.limits.used(limit('requests', 2))).toBe(0)
    expect(plane.limits.used(limit('tokens', 100_000))).toBe(0)
  })

  it('of 0 let nothing pass, and tell the client not to try again', async () => {
    const plane = await start({ rpm: 0 })
    const refused = await ask(plane)
    expectLaneError('openai', refused, 'rate_limited')
    expect(refused.headers.get('x-should-retry')).toBe('false')
    expect(refused.headers.get('retry-after')).toBeUndefined()
  })
})

describe('tokens a minute', () => {
  it('refuse a request that alone is larger than the limit, for good', async () => {
    const plane = await start({ tpm: 100 })
    const refused = await ask(plane, 'openai', { more: { max_tokens: 500 } })
    expectLaneError('openai', refused, 'rate_limited')
    expect(refused.headers.get('x-should-retry')).toBe('false')
    expect(refused.headers.get('retry-after')).toBeUndefined()
    expect(refused.headers.get('x-ratelimit-remaining-tokens')).toBe('100')
  })

  it.each([false, true])('litellm 41610: are what the answer reports, streamed: %s', async (stream) => {
    const plane = await start({ tpm: 100_000 })
    const answer = await ask(plane, 'openai', { stream, more: { max_tokens: 5000 } })
    const { tokens } = await plane.record(answer.requestId)
    expect(plane.limits.used(limit('tokens', 100_000))).toBe(tokens!.input + tokens!.output)
  })

  it('are none where the provider refuses', async () => {
    const plane = await start({ tpm: 100_000 })
    const { path } = laneCall('openai').call('demo')
    const body = JSON.stringify({ model: 'demo-error-429', messages: [{ role: 'user', content: 'x' }] })
    const headers: [string, string][] = [
      ['authorization', `Bearer ${plane.key}`],
      ['content-type', 'application/json'],
    ]
    expect((await send(plane.baseUrl + path, { headers, body })).status).not.toBe(200)
    expect(plane.limits.used(limit('tokens', 100_000))).toBe(0)
  })
})

describe("a provider's own figures", () => {
  it.each([
    [{ rpm: 100 }, '99', undefined],
    [{ concurrency: 9 }, undefined, undefined],
    [{}, '1', '2'],
  ])('are replaced where the key has limits: %o', async (rules, requests, tokens) => {
    const server = http.createServer((request, response) => {
      const figures = { 'x-ratelimit-remaining-requests': '1', 'x-ratelimit-remaining-tokens': '2' }
      request
        .resume()
        .on('end', () => response.writeHead(200, { 'content-type': 'application/json', ...figures }).end('{}'))
    })
    opened.push({ stop: async () => server.close() })
    const plane = await start(rules, [{ kind: 'openai', baseUrl: `${await listen(server)}/v1` }])
    const { path, body } = laneCall('openai').call('openai-model')
    const answer = await send(plane.baseUrl + path, { headers: bearer(plane), body })
    expect(answer.status).toBe(200)
    expect(answer.headers.get('x-ratelimit-remaining-requests')).toBe(requests)
    expect(answer.headers.get('x-ratelimit-remaining-tokens')).toBe(tokens)
  })
})

describe('requests at once', () => {
  it.each(laneNames)('over the limit are refused at once, and take turns: %s', async (lane) => {
    const plane = await start({ concurrency: 1 })
    const slow = laneCall(lane).call('demo-slow', { stream: true })
    const headers: [string, string][] = [laneCall(lane).credential(plane.key), ['content-type', 'application/json']]
    const first = await fetch(plane.baseUrl + slow.path, { method: 'POST', headers, body: slow.body })
    const refused = await ask(plane, lane)
    expectLaneError(lane, refused, 'rate_limited')
    expect(refused.headers.get('retry-after')).toBe('1')
    await first.body?.cancel()
    await plane.record(first.headers.get('x-sp-request-id'))
    await expect.poll(() => plane.limits.used(limit('concurrency', 1))).toBe(0)
    expect((await ask(plane, lane)).status).toBe(200)
    // Whoever waits for an answer before asking again is never refused.
    for (let count = 0; count < 20; count++) expect((await ask(plane, lane)).status).toBe(200)
  })
})

describe('a WebSocket', () => {
  it('litellm 38674: counts one, and each of its turns one more; a turn over the limit leaves it open', async () => {
    const provider = await startSocketProvider()
    opened.push(provider)
    const plane = await start({ rpm: 2, concurrency: 1 }, [{ kind: 'openai', baseUrl: `${provider.baseUrl}/v1` }])
    const url = `${plane.baseUrl}/v1/realtime?model=openai-model`
    const [client, { end: far }] = await Promise.all([
      dial(url, { headers: { authorization: `Bearer ${plane.key}` } }),
      provider.accepted(),
    ])
    expect(client.headers['x-ratelimit-remaining-requests']).toBe('1')
    client.send({ type: 'response.create' })
    expect((await far.next()).text).toContain('response.create')
    client.send({ type: 'response.create' })
    expect(await client.nextJson()).toMatchObject({ type: 'error', error: { code: 'rate_limited' } })
    client.send({ type: 'input_audio_buffer.clear' })
    expect((await far.next()).text).toContain('input_audio_buffer.clear')
    expect(plane.limits.used(limit('concurrency', 1))).toBe(1)
    client.socket.close(1000)
    await once(far.socket, 'close')
    await expect.poll(() => plane.limits.used(limit('concurrency', 1))).toBe(0)
  })
})
