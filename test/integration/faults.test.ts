import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { ErrorCode } from '../../src/core/errors.ts'
import type { LaneName } from '../../src/core/lane.ts'
import type { RequestRecord } from '../../src/core/record.ts'
import { type CallOptions, type LaneCall, laneCalls } from '../support/lane-calls.ts'
import { expectLaneError } from '../support/lane-errors.ts'
import { type MockProvider, startMockProvider } from '../support/mock-provider.ts'
import type { Script } from '../support/mock-script.ts'
import { open, type RawAnswer, type RawExchange } from '../support/raw-http.ts'
import { startSilentListener } from '../support/silent-listener.ts'
import { mintCredential, type Stage, setStage } from '../support/stage.ts'

let stage: Stage
/** The targets to fall back to. */
const spares: Partial<Record<LaneName, MockProvider>> = {}

beforeAll(async () => {
  stage = await setStage()
  for (const { lane } of laneCalls) {
    const credential = mintCredential(lane)
    const spare = await startMockProvider(lane, credential)
    spares[lane] = spare
    await stage.gateway.admin.providers.add({ name: `spare-${lane}`, kind: lane, baseUrl: spare.baseUrl, credential })
    await stage.gateway.addRoute(`pair-${lane}`, [lane, `spare-${lane}`], { retries: 0 })
    await stage.gateway.addRoute(`single-${lane}`, [lane], { retries: 0 })
    await stage.gateway.addRoute(`again-${lane}`, [lane], { retries: 1 })
    // One limit each: with several, another one may be over first where the machine stands still.
    await stage.gateway.addRoute(`unopened-${lane}`, [lane], { retries: 0, timeoutFirstByte: '300ms' })
    await stage.gateway.addRoute(`silent-${lane}`, [lane], { retries: 0, timeoutBetweenChunks: '300ms' })
    await stage.gateway.addRoute(`endless-${lane}`, [lane], { retries: 0, timeoutTotal: '900ms' })
  }
})
afterAll(async () => {
  await stage.close()
  for (const spare of Object.values(spares)) await spare.close()
})

function spareOf(lane: LaneName): MockProvider {
  const spare = spares[lane]
  if (spare === undefined) throw new Error(`no spare for ${lane}`)
  return spare
}

function start(lane: LaneCall, model: string, options: CallOptions = {}): RawExchange {
  const { path, body } = lane.call(model, options)
  const headers: [string, string][] = [lane.credential(stage.key), ['content-type', 'application/json']]
  return open(stage.gateway.baseUrl + path, { headers, body })
}

function call(lane: LaneCall, model: string, options: CallOptions = {}): Promise<RawAnswer> {
  return start(lane, model, options).whole
}

describe.each(laneCalls)('a provider of the $lane lane', (lane) => {
  const name = lane.lane
  let mock: MockProvider
  /** Successes keep the breakers of the shared models closed, whatever the last case did to them. */
  beforeEach(async () => {
    mock = stage.mocks[name]
    mock.reset()
    for (let round = 0; round < 3; round++)
      for (const model of ['single', 'pair', 'again']) await call(lane, `${model}-${name}`)
  })

  async function expectFailure(answer: RawAnswer, code: ErrorCode): Promise<RequestRecord> {
    expectLaneError(name, answer, code)
    const record = await stage.gateway.record(answer.requestId)
    expect(record).toMatchObject({ status: answer.status, error: { code } })
    return record
  }

  const before: [string, boolean, Script][] = [
    ['closes without an answer', true, { reset: 'before-headers' }],
    ['closes after the headers', true, { reset: 'after-headers' }],
    ['cuts the stream before content', true, { cutAfterEvents: lane.firstContent }],
    ['ends the stream before content', true, { endAfterEvents: lane.firstContent }],
    ['sends an error event before content', true, { errorEventAfter: lane.firstContent }],
    ['is down', true, { status: 503 }],
    ['is overloaded', true, { status: 529 }],
    ['has failed inside', true, { status: 500 }],
    ['answers a page of HTML instead of a stream', true, { html: true }],
    ['answers a page of HTML', false, { html: true }],
    ['answers half a JSON document', false, { body: '{"id":"x","choices":[{"ind' }],
    ['cuts its whole answer', false, { cutAfterBytes: 20 }],
    ['promises more bytes than it sends', false, { lieContentLength: 10 }],
    ['is down, whole', false, { status: 503 }],
  ]

  it.each(before)(
    '%s (streamed: %s): the next target answers, and the client sees nothing of it',
    async (_what, stream, script) => {
      const spare = spareOf(name)
      mock.next(script)
      const answer = await call(lane, `pair-${name}`, { stream })
      expect({ status: answer.status, ended: answer.ended, error: answer.headers.get('x-sp-error') }).toEqual({
        status: 200,
        ended: 'clean',
        error: undefined,
      })
      expect(answer.body.toString()).toBe(spare.last.answerBody.toString())
      expect(spare.last.sha256).toBe(mock.last.sha256)
      const record = await stage.gateway.record(answer.requestId)
      expect(record).toMatchObject({ status: 200, provider: `spare-${name}`, error: null, tokens: spare.last.usage })
      expect(record.attempts.map((attempt) => attempt.provider)).toEqual([name, `spare-${name}`])
      expect(record.routing_signals.length).toBeGreaterThan(1)
      mock.assertClean()
      spare.assertClean()
    },
  )

  const alone: [string, boolean, Script, ErrorCode][] = [
    ['closes without an answer', true, { reset: 'before-headers' }, 'provider_unreachable'],
    ['cuts the stream before content', true, { cutAfterEvents: lane.firstContent }, 'provider_bad_response'],
    ['answers HTML', false, { html: true }, 'provider_bad_response'],
    ['answers half a JSON document', false, { body: '{"a":' }, 'provider_bad_response'],
    ['answers JSON that is no object', false, { body: '[1,2]' }, 'provider_bad_response'],
    ['answers HTML to a streamed call', true, { html: true }, 'provider_bad_response'],
    ['cuts its whole answer', false, { cutAfterBytes: 20 }, 'provider_bad_response'],
  ]

  it.each(alone)('%s (streamed: %s) with none left: a clean status', async (_what, stream, script, code) => {
    mock.next(script)
    await expectFailure(await call(lane, `single-${name}`, { stream }), code)
  })

  /** The provider goes on to fail only when the client has seen content: before that, another target may still answer. */
  async function failAfterContent(script: Script): Promise<RawAnswer> {
    const { promise: until, resolve } = Promise.withResolvers<void>()
    mock.next({ ...script, hold: { before: lane.firstContent + 1, until } })
    const exchange = start(lane, `pair-${name}`, { stream: true })
    await exchange.received(lane.contentMark)
    resolve()
    return exchange.whole
  }

  const after: [string, Script][] = [
    ['cuts the stream', { cutAfterEvents: lane.firstContent + 1 }],
    ['ends the stream without its terminator', { endAfterEvents: lane.firstContent + 1 }],
  ]

  it.each(after)('%s after the first content: the lane’s error event, and no second target', async (_what, script) => {
    const spareCalls = spareOf(name).calls.length
    const answer = await failAfterContent(script)
    const text = answer.body.toString()
    expect(answer.status).toBe(200)
    expect(answer.ended).toBe('clean')
    expect(text.startsWith(mock.last.answerBody.subarray(0, 20).toString())).toBe(true)
    expect(text).toContain(lane.contentMark)
    expect(text).toContain(lane.errorMark)
    expect(text).not.toContain(lane.endMark)
    expect(text).toMatch(/\r?\n\r?\n$/)
    expect(spareOf(name).calls.length).toBe(spareCalls)
    const record = await stage.gateway.record(answer.requestId)
    expect(record).toMatchObject({ state: 'settled', error: { code: 'provider_bad_response' }, provider: name })
    expect(record.tokens).not.toBeNull()
    expect(record.attempts).toHaveLength(1)
  })

  it('sends its own error event after the first content: it passes, and is on the record', async () => {
    const answer = await failAfterContent({ errorEventAfter: lane.firstContent + 1 })
    expect(answer.body.toString()).toBe(mock.last.answerBody.toString())
    const record = await stage.gateway.record(answer.requestId)
    expect(record).toMatchObject({ error: { code: 'provider_error', origin: 'provider' }, provider: name })
  })

  it('misses the first-byte limit', async () => {
    mock.next({ hold: { before: 'headers' } })
    const record = await expectFailure(await call(lane, `unopened-${name}`, { stream: true }), 'provider_timeout')
    expect(record.error?.message).toMatch(/first.byte/i)
  })

  it('sends headers and then nothing: the first-byte limit holds all the same', async () => {
    mock.next({ hold: { before: 'first-byte' } })
    await expectFailure(await call(lane, `unopened-${name}`, { stream: true }), 'provider_timeout')
  })

  it('falls silent between chunks', async () => {
    const turn = mock.next({ hold: { before: lane.firstContent + 1 } })
    const answer = await call(lane, `silent-${name}`, { stream: true })
    expect(answer.body.toString()).toContain(lane.errorMark)
    expect(await turn.abort).toMatchObject({ phase: 'mid-stream' })
    const record = await stage.gateway.record(answer.requestId)
    expect(record).toMatchObject({ error: { code: 'provider_timeout' } })
    expect(record.error?.message).toMatch(/between/i)
  })

  it('thinks longer than the total limit of a call that is not streamed', async () => {
    const turn = mock.next({ hold: { before: 'headers' } })
    const record = await expectFailure(await call(lane, `endless-${name}`), 'provider_timeout')
    expect(record.error?.message).toMatch(/total/i)
    expect((await turn.abort).phase).toBe('before-headers')
  })

  it('asks to wait a little: the same target gets it again', async () => {
    const calls = mock.calls.length
    mock.next({ status: 429, headers: { 'retry-after': '0' } })
    const answer = await call(lane, `again-${name}`)
    expect(answer.status).toBe(200)
    expect(mock.calls.length).toBe(calls + 2)
    const record = await stage.gateway.record(answer.requestId)
    expect(record.attempts).toMatchObject([{ status: 429 }, { status: 200 }])
  })

  it('asks to wait too long: its own answer passes at once, byte for byte', async () => {
    const calls = mock.calls.length
    mock.next({ status: 429, headers: { 'retry-after': '3600' } })
    const answer = await call(lane, `again-${name}`)
    expect(mock.calls.length).toBe(calls + 1)
    expect(answer.status).toBe(429)
    expect(answer.body.toString()).toBe(mock.last.answerBody.toString())
    expect(answer.headers.get('retry-after')).toBe('60')
    expect(answer.headers.get('x-sp-error')).toBe('provider_error')
    expect(await stage.gateway.record(answer.requestId)).toMatchObject({
      status: 429,
      error: { code: 'provider_error' },
    })
  })

  it('stays down: its last answer passes after the retries', async () => {
    const calls = mock.calls.length
    mock.next({ status: 503, headers: { 'retry-after': '0' } })
    mock.next({ status: 503, headers: { 'retry-after': '0' } })
    const answer = await call(lane, `again-${name}`)
    expect(mock.calls.length).toBe(calls + 2)
    expect(answer.status).toBe(503)
    expect(answer.body.toString()).toBe(mock.last.answerBody.toString())
    expect(answer.headers.get('x-sp-error-origin')).toBe('provider')
  })

  it.each([400, 404, 422])(
    'says that the caller is wrong (%i): no retry, no other target, byte for byte',
    async (status) => {
      const calls = mock.calls.length
      const spareCalls = spareOf(name).calls.length
      mock.next({ status, body: '{ "error" : {"message":"your mistake"}}\n' })
      const answer = await call(lane, `pair-${name}`)
      expect([answer.status, answer.body.toString()]).toEqual([status, '{ "error" : {"message":"your mistake"}}\n'])
      expect([mock.calls.length, spareOf(name).calls.length]).toEqual([calls + 1, spareCalls])
    },
  )
})

describe.each(laneCalls)('credentials and accounts at the $lane lane’s providers', (lane) => {
  const name = lane.lane

  async function addFailing(suffix: string, credential: string): Promise<void> {
    const provider = `${suffix}-${name}`
    const { baseUrl } = stage.mocks[name]
    await stage.gateway.admin.providers.add({ name: provider, kind: name, baseUrl, credential, skipCheck: true })
    await stage.gateway.addRoute(provider, [provider, `spare-${name}`])
    await stage.gateway.addRoute(`only-${provider}`, [provider])
  }

  it('a rejected credential falls to the next target, and alone it is never the client’s 401', async () => {
    await addFailing('wrong', mintCredential(name))
    const answer = await call(lane, `only-wrong-${name}`)
    expectLaneError(name, answer, 'provider_credential_rejected')
    const next = await call(lane, `wrong-${name}`)
    expect([next.status, next.body.toString()]).toEqual([200, spareOf(name).last.answerBody.toString()])
  })

  it('an account out of quota falls to the next target, and alone says so', async () => {
    const [credential = ''] = stage.mocks[name].credentials
    await addFailing('poor', credential)
    const quota: Script =
      name === 'openai'
        ? {
            status: 429,
            body: '{"error":{"message":"no quota","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}',
          }
        : { status: 402 }
    stage.mocks[name].next(quota)
    expectLaneError(name, await call(lane, `only-poor-${name}`), 'provider_quota_exhausted')
    await addFailing('poorer', credential)
    stage.mocks[name].next(quota)
    const next = await call(lane, `poorer-${name}`)
    expect([next.status, next.body.toString()]).toEqual([200, spareOf(name).last.answerBody.toString()])
    stage.mocks[name].assertClean()
  })
})

describe('time to connect', () => {
  const [lane] = laneCalls
  if (lane === undefined) throw new Error('no lane')

  it('nobody listens', async () => {
    // A port that is given back may be somebody's by then.
    const baseUrl = 'http://127.0.0.1:1/v1'
    await stage.gateway.admin.providers.add({
      name: 'nobody',
      kind: 'openai',
      baseUrl,
      credential: 'sk-x',
      skipCheck: true,
    })
    await stage.gateway.addRoute('nobody', ['nobody'])
    const answer = await call(lane, 'nobody')
    expectLaneError('openai', answer, 'provider_unreachable')
    const record = await stage.gateway.record(answer.requestId)
    expect(record).toMatchObject({ error: { code: 'provider_unreachable', origin: 'network' } })
    expect(record.attempts.length).toBeGreaterThan(1)
  })

  it('nobody accepts', async () => {
    const silent = await startSilentListener()
    try {
      const baseUrl = `http://127.0.0.1:${silent.port}/v1`
      const provider = { name: 'silent', kind: 'openai', baseUrl, credential: 'sk-x', skipCheck: true }
      await stage.gateway.admin.providers.add({ ...provider, timeoutConnect: '300ms' })
      await stage.gateway.addRoute('silent', ['silent'], { retries: 0 })
      const answer = await call(lane, 'silent')
      expectLaneError('openai', answer, 'provider_timeout')
      expect((await stage.gateway.record(answer.requestId)).error?.message).toMatch(/connect/i)
    } finally {
      await silent.close()
    }
  })
})
