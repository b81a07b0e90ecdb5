import http, { type ServerResponse } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { describeRecord } from '../../src/admin/contract/requests/what-happened.ts'
import type { RequestRecord } from '../../src/core/record.ts'
import { type DataPlane, startDataPlane } from '../support/data-plane.ts'
import { closeServer, listen } from '../support/listen.ts'
import { makeRoute, makeTarget } from '../support/snapshot.ts'

let provider: http.Server
let plane: DataPlane
/** What the provider does with its next calls, in order. */
const turns: ((response: ServerResponse) => void)[] = []

beforeAll(async () => {
  provider = http.createServer((request, response) => {
    request.resume().on('end', () => turns.shift()?.(response))
  })
  const baseUrl = `${await listen(provider)}/v1`
  plane = await startDataPlane({
    providers: [
      { kind: 'openai', baseUrl },
      { kind: 'openai-compatible', baseUrl },
    ],
    routes: [
      makeRoute('retried', [makeTarget('openai')], { retries: 1 }),
      makeRoute('paused', [makeTarget('openai-compatible')], { retries: 1 }),
      makeRoute('two', [makeTarget('openai'), makeTarget('openai-compatible')], { retries: 0 }),
    ],
  })
})

afterAll(async () => {
  await plane.stop()
  closeServer(provider)
})

const whole = (response: ServerResponse) =>
  response
    .writeHead(200, { 'content-type': 'application/json' })
    .end('{"id":"c","object":"chat.completion","choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2}}')
const content = 'data: {"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"hi"}}]}\n\n'
const beginStream = (response: ServerResponse) => response.writeHead(200, { 'content-type': 'text/event-stream' })
const busy = (response: ServerResponse) =>
  response.writeHead(503, { 'content-type': 'application/json' }).end('{"error":{"message":"busy"}}')

function ask(body: object, signal: AbortSignal | null = null, more: Record<string, string> = {}): Promise<Response> {
  return fetch(`${plane.baseUrl}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${plane.key}`, 'content-type': 'application/json', ...more },
    body: JSON.stringify({ messages: [], ...body }),
    signal,
  })
}

async function recordOf(response: Response): Promise<RequestRecord> {
  await response.text()
  return plane.record(response.headers.get('x-sp-request-id'))
}

const eventsOf = ({ timeline }: RequestRecord) => timeline.map(({ event }) => event)

/** What holds of every record: moments come in order, none after the end, and the attempts' own agree with them. */
function expectTrue(record: RequestRecord): void {
  const moments = record.timeline.map(({ at_ms }) => at_ms)
  expect(moments).toEqual(moments.toSorted((one, other) => one - other))
  expect(record.timeline[0]).toEqual({ event: 'received', at_ms: 0 })
  expect(record.timeline.at(-1)?.event).toBe('done')
  expect(record.duration_ms).toBeGreaterThanOrEqual(moments.at(-1) ?? 0)
  for (const attempt of record.attempts) {
    const order = [attempt.started_ms, attempt.connected_ms, attempt.first_byte_ms, attempt.ended_ms]
    const known = order.filter((moment) => moment !== null)
    expect(known).toEqual(known.toSorted((one, other) => one - other))
  }
}

describe('the times on the record', () => {
  it('of a whole answer', async () => {
    turns.push(whole)
    const record = await recordOf(await ask({ model: 'openai-model' }))
    expect(eventsOf(record)).toEqual([
      'received',
      'admitted',
      'attempt',
      'connected',
      'first_byte',
      'last_byte',
      'done',
    ])
    expect(record.first_byte_ms).toBe(record.attempts[0]?.first_byte_ms)
    expect(record.first_byte_ms).not.toBeNull()
    expectTrue(record)
  })

  it('of a stream', async () => {
    turns.push((response) => beginStream(response).end(`${content}data: [DONE]\n\n`))
    const record = await recordOf(await ask({ model: 'openai-model', stream: true }))
    expect(eventsOf(record)).toEqual([
      'received',
      'admitted',
      'attempt',
      'connected',
      'first_byte',
      'content',
      'last_byte',
      'done',
    ])
    expect(record.first_byte_ms).toBe(record.attempts[0]?.first_byte_ms)
    expect(record.attempts[0]?.ended_ms).toBeGreaterThanOrEqual(record.first_byte_ms ?? Number.POSITIVE_INFINITY)
    expectTrue(record)
  })

  it('of a refusal: nobody was asked', async () => {
    const record = await recordOf(await ask({ model: 'nothing' }))
    expect(record).toMatchObject({ status: 404, first_byte_ms: null, attempts: [] })
    expect(eventsOf(record)).toEqual(['received', 'done'])
    expectTrue(record)
  })

  it('of a retried request: the first byte is that of the answer', async () => {
    turns.push(busy, whole)
    const record = await recordOf(await ask({ model: 'retried' }))
    expect(record.attempts.map(({ outcome, status }) => [outcome, status])).toEqual([
      ['retry', 503],
      ['answered', 200],
    ])
    expect(eventsOf(record).filter((event) => event === 'attempt')).toHaveLength(2)
    expect(eventsOf(record).filter((event) => event === 'first_byte')).toHaveLength(2)
    expect(record.first_byte_ms).toBe(record.attempts[1]?.first_byte_ms)
    expectTrue(record)
  })

  it('of a request that fell back', async () => {
    turns.push(busy, whole)
    const record = await recordOf(await ask({ model: 'two' }))
    expect(record.attempts.map(({ provider, outcome }) => [provider, outcome])).toEqual([
      ['openai', 'fallback'],
      ['openai-compatible', 'answered'],
    ])
    expect(record.first_byte_ms).toBe(record.attempts[1]?.first_byte_ms)
    expectTrue(record)
  })

  it("of a provider's error that passes", async () => {
    turns.push(busy)
    const record = await recordOf(await ask({ model: 'openai-model' }))
    expect(record).toMatchObject({ status: 503, error: { code: 'provider_error' } })
    expect(record.attempts).toMatchObject([{ status: 503, outcome: 'passed' }])
    expect(record.first_byte_ms).toBe(record.attempts[0]?.first_byte_ms)
    expectTrue(record)
  })

  it('of one whose client hung up before any byte', async () => {
    const hangUp = new AbortController()
    const asked = ask({ model: 'openai-model', stream: true }, hangUp.signal)
    const gone = new Promise<void>((resolve) => {
      turns.push((response) => {
        response.once('close', resolve)
        hangUp.abort()
      })
    })
    await expect(asked).rejects.toThrow()
    await gone
    const record = await newest((one) => one.status === 499)
    expect(record.attempts).toMatchObject([{ outcome: 'aborted', first_byte_ms: null }])
    expect(record.first_byte_ms).toBeNull()
    expect(eventsOf(record)).toEqual(['received', 'admitted', 'attempt', 'connected', 'done'])
    expectTrue(record)
  })

  it('of one whose client hung up within the stream', async () => {
    const hangUp = new AbortController()
    const gone = new Promise<void>((resolve) => {
      turns.push((response) => beginStream(response).once('close', resolve).write(content))
    })
    const response = await ask({ model: 'openai-model', stream: true }, hangUp.signal)
    await response.body?.getReader().read()
    hangUp.abort()
    await gone
    const record = await plane.record(response.headers.get('x-sp-request-id'))
    expect(record).toMatchObject({ status: 499, attempts: [{ outcome: 'aborted', status: 200 }] })
    expect(record.first_byte_ms).toBe(record.attempts[0]?.first_byte_ms)
    expect(eventsOf(record).slice(-2)).toEqual(['content', 'done'])
    expectTrue(record)
  })
})

describe('the tags on the record', () => {
  it("are the key's, the body's end user and the header's, the nearer the stronger", async () => {
    turns.push(whole, whole)
    const record = await recordOf(await ask({ model: 'openai-model', user: 'u-1' }))
    expect(record.tags).toEqual({ team: 'a', user: 'u-1' })
    const named = await recordOf(
      await ask({ model: 'openai-model', user: 'u-1' }, null, { 'x-sp-tag': 'user=me, team=b' }),
    )
    expect(named.tags).toEqual({ team: 'b', user: 'me' })
  })
})

describe('the streams of a revoked key', () => {
  it("end at once in the lane's error event, when that was asked for", async () => {
    const gone = new Promise<void>((resolve) => {
      turns.push((response) => beginStream(response).once('close', resolve).write(content))
    })
    const response = await ask({ model: 'openai-model', stream: true })
    plane.tell({ type: 'close-streams', keyId: 'key_other' })
    plane.tell({ type: 'close-streams', keyId: 'key_1' })
    const text = await response.text()
    expect(text.startsWith(content)).toBe(true)
    expect(text).toContain('invalid_key')
    await gone
    const record = await plane.record(response.headers.get('x-sp-request-id'))
    expect(record).toMatchObject({
      state: 'settled',
      status: 200,
      error: { code: 'invalid_key', message: expect.stringContaining('was revoked') },
      tokens: { source: 'estimated' },
      attempts: [{ outcome: 'aborted' }],
    })
    expect(record.policy_signals.filter(({ rule }) => rule === 'key').at(-1)).toMatchObject({ verdict: 'deny' })
    expectTrue(record)
  })

  it('are refused where nothing has gone out yet', async () => {
    const held = new Promise<ServerResponse>((resolve) => turns.push(resolve))
    const asked = ask({ model: 'openai-model' })
    await held
    plane.tell({ type: 'close-streams', keyId: 'key_1' })
    const response = await asked
    expect(response.status).toBe(401)
    expect(response.headers.get('x-sp-error')).toBe('invalid_key')
    const record = await recordOf(response)
    expect(record).toMatchObject({ status: 401, attempts: [{ outcome: 'aborted', status: null }] })
    expectTrue(record)
  })

  it("go on when another key's are ended", async () => {
    const held = new Promise<ServerResponse>((resolve) => turns.push((response) => resolve(beginStream(response))))
    const asked = ask({ model: 'openai-model', stream: true })
    const upstream = await held
    plane.tell({ type: 'close-streams', keyId: 'key_other' })
    upstream.end(`${content}data: [DONE]\n\n`)
    expect(await (await asked).text()).toBe(`${content}data: [DONE]\n\n`)
  })
})

async function newest(holds: (record: RequestRecord) => boolean): Promise<RequestRecord> {
  for (;;) {
    const record = plane.newest()
    if (record !== null && holds(record)) return record
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

describe('a target that fails until it is paused', () => {
  it('has its waits and the skip on the record, and the words for them', async () => {
    const records: RequestRecord[] = []
    // The breaker opens within the last of these: its retry finds the target paused.
    while (!records.at(-1)?.timeline.some(({ event }) => event === 'skipped')) {
      expect(records.length).toBeLessThan(5)
      turns.splice(0, turns.length, busy, busy)
      records.push(await recordOf(await ask({ model: 'paused' })))
    }
    const record = records.at(-1)
    if (record === undefined) throw new Error('no request was made')
    expect(record.attempts).toMatchObject([{ status: 503, outcome: 'passed' }])
    expect(eventsOf(record)).toEqual([
      ...['received', 'admitted', 'attempt', 'connected', 'first_byte', 'wait', 'skipped', 'last_byte', 'done'],
    ])
    expect(record.routing_signals.at(-1)).toMatchObject({
      rule: 'target',
      verdict: 'skipped',
      data: { provider: 'openai-compatible', at_ms: expect.any(Number) },
    })
    const [tried, waited] = describeRecord(record).slice(-3)
    expect(tried).toMatch(/^Tried openai-compatible: 503 after /)
    expect(waited).toMatch(/^Waited \d+ ms and skipped openai-compatible \(paused\): paused/)
  })
})
