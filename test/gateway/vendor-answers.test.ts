import http, { type ServerResponse } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
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
  const origin = await listen(provider)
  const more = { kind: 'openai-compatible', baseUrl: `${origin}/v1` }
  plane = await startDataPlane({
    providers: [
      { kind: 'openai', baseUrl: `${origin}/v1` },
      { kind: 'anthropic', baseUrl: origin },
      { kind: 'gemini', baseUrl: origin },
      { ...more, name: 'moonshot', settings: { preset: 'moonshot' } },
      { ...more, name: 'spare' },
      { kind: 'openai-compatible', name: 'dead', baseUrl: 'http://127.0.0.1:1/v1' },
      { ...more, name: 'deepseek', settings: { preset: 'deepseek' } },
    ],
    routes: [
      makeRoute('two', [makeTarget('openai'), makeTarget('spare')], { retries: 0 }),
      makeRoute('then-dead', [makeTarget('spare'), makeTarget('dead')], { retries: 0 }),
    ],
  })
})

afterAll(async () => {
  await plane.stop()
  closeServer(provider)
})

const data = (chunk: object) => `data: ${JSON.stringify(chunk)}\n\n`
const chunk = (delta: object, finish_reason: string | null = null) =>
  data({ id: 'c', object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason }] })
const named = (type: string, more: object = {}) => `event: ${type}\n${data({ type, ...more })}`

function stream(...events: string[]) {
  turns.push((response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'x-request-id': 'prov_1' })
    response.end(events.join(''))
  })
}

async function ask(path: string, body: object) {
  const response = await fetch(`${plane.baseUrl}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${plane.key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const text = await response.text()
  const record: RequestRecord = await plane.record(response.headers.get('x-sp-request-id'))
  return { response, text, record }
}

const chat = (model: string) => ask('/v1/chat/completions', { model, messages: [], stream: true })

describe('a stream that ended whole without usage', () => {
  const estimated = (output: number) => ({ output, source: 'estimated' })

  it('is estimated by its content on every lane', async () => {
    stream(chunk({ content: 'Hi' }), chunk({ content: ' there' }), chunk({}, 'stop'), 'data: [DONE]\n\n')
    const openai = await chat('openai-model')
    expect(openai.record).toMatchObject({ error: null, tokens: estimated(3) })
    expect(openai.record.tokens?.input).toBeGreaterThan(0)

    const delta = { type: 'response.output_text.delta', delta: 'Hi' }
    const response = { id: 'resp_1', object: 'response', status: 'completed', output: [] }
    stream(named(delta.type, delta), named('response.completed', { response }))
    const responses = await ask('/v1/responses', { model: 'openai-model', input: 'Hi', stream: true })
    expect(responses.record).toMatchObject({ error: null, tokens: estimated(1) })

    stream(
      named('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
      named('content_block_delta', { index: 0, delta: { type: 'text_delta', text: 'Hi' } }),
      named('message_stop'),
    )
    const message = { model: 'anthropic-model', max_tokens: 9, messages: [], stream: true }
    expect((await ask('/v1/anthropic/v1/messages', message)).record).toMatchObject({ tokens: estimated(2) })

    stream(data({ candidates: [{ content: { parts: [{ text: 'Hi' }] }, finishReason: 'STOP' }] }))
    const path = '/v1/gemini/v1beta/models/gemini-model:streamGenerateContent?alt=sse'
    expect((await ask(path, { contents: [] })).record).toMatchObject({ tokens: estimated(1) })
  })

  it('is not where it had no content, or where nobody counts its events as tokens', async () => {
    stream(chunk({}, 'stop'), 'data: [DONE]\n\n')
    expect((await chat('openai-model')).record.tokens).toBeNull()
    stream(named('speech.audio.delta', { audio: 'AAAA' }), named('speech.audio.done'))
    const speech = { model: 'openai-model', input: 'x', voice: 'alloy', stream_format: 'sse' }
    expect((await ask('/v1/audio/speech', speech)).record).toMatchObject({ error: null, tokens: null })
  })
})

describe('an error in a stream', () => {
  it('beside choices is the error of the record', async () => {
    const error = { code: 502, message: 'Upstream went away' }
    stream(
      chunk({ content: 'Hi' }),
      data({ id: 'c', error, choices: [{ index: 0, delta: { content: '' }, finish_reason: 'error' }] }),
      'data: [DONE]\n\n',
    )
    const { text, record } = await chat('openai-model')
    expect(text).toContain('Upstream went away')
    expect(text).toMatch(/data: \[DONE\]\n\n$/)
    expect(record.error).toEqual({ code: 'provider_error', origin: 'provider', message: 'Upstream went away' })
  })

  it('that says the account is empty is answered like an empty account, and harms no breaker', async () => {
    const exhausted = [
      ['openai-model', { type: 'insufficient_quota', code: 'insufficient_quota', message: 'You exceeded your quota' }],
      ['moonshot-model', { type: 'exceeded_current_quota_error', message: 'Your account is suspended' }],
    ] as const
    for (const [model, error] of exhausted) {
      stream(data({ error }))
      const { response, text, record } = await chat(model)
      expect([response.status, response.headers.get('x-should-retry')]).toEqual([503, 'false'])
      expect(JSON.parse(text)).toMatchObject({ error: { code: 'provider_quota_exhausted' } })
      expect(record).toMatchObject({ error: { code: 'provider_quota_exhausted' }, provider_request_id: 'prov_1' })
      expect(record.attempts).toMatchObject([{ outcome: 'provider_quota_exhausted' }])
    }
    for (const slot of [0, 3]) expect(plane.health(slot, 1)).toMatchObject({ state: 'cooling-down' })
  })

  it('that says so goes on to the next target', async () => {
    stream(chunk({ content: 'Hi' }), chunk({}, 'stop'), 'data: [DONE]\n\n')
    const { response, record } = await chat('two')
    expect(response.status).toBe(200)
    expect(record.provider).toBe('spare')
  })
})

describe("the provider's id for the call", () => {
  it('is on the record where the gateway answers in its place', async () => {
    turns.push((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream', 'x-request-id': 'prov_2' })
      response.flushHeaders()
      setImmediate(() => response.destroy())
    })
    const broken = await chat('spare-model')
    expect(broken.record).toMatchObject({ error: { code: 'provider_bad_response' }, provider_request_id: 'prov_2' })
  })

  it("is not another provider's", async () => {
    turns.push((response) => response.writeHead(500, { 'x-request-id': 'prov_3' }).end('{}'))
    const { record } = await ask('/v1/chat/completions', { model: 'then-dead', messages: [] })
    expect(record).toMatchObject({ provider: 'dead', provider_request_id: null })
  })
})

describe('probabilities of tokens', () => {
  const asked = { input: 'Hi', include: ['message.output_text.logprobs'] }

  it('are asked of vendors whose preset knows them', async () => {
    const token = { token: 'Hi', logprob: -0.5, bytes: [72, 105], top_logprobs: [] }
    const message = { role: 'assistant', content: 'Hi' }
    turns.push((response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      const choice = { index: 0, message, logprobs: { content: [token] }, finish_reason: 'stop' }
      response.end(JSON.stringify({ id: 'c', object: 'chat.completion', choices: [choice] }))
    })
    const { text, record } = await ask('/v1/responses', { model: 'deepseek-model', ...asked })
    expect(JSON.parse(text).output[0].content[0].logprobs).toEqual([token])
    expect(record).toMatchObject({ error: null, losses: [] })
  })

  it('refuse those that may not', async () => {
    const { response, record } = await ask('/v1/responses', { model: 'spare-model', ...asked })
    expect(response.status).toBe(400)
    expect(record).toMatchObject({ error: { code: 'not_translatable' }, attempts: [] })
  })
})
