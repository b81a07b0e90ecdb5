import http from 'node:http'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type DataPlane, startDataPlane } from '../support/data-plane.ts'
import { closeServer, listen } from '../support/listen.ts'
import { makeRoute, makeTarget } from '../support/snapshot.ts'
import { until } from '../support/until.ts'

interface Answer {
  status?: number
  body?: object
  events?: readonly object[]
}

let provider: http.Server
let plane: DataPlane
/** Of the first target; the second answers well. */
let first: Answer
let closed = 0

const fine: Record<string, Answer> = {
  openai: { body: { id: 'second', choices: [] } },
  anthropic: { body: { id: 'second', type: 'message', content: [] } },
  gemini: { body: { responseId: 'second', candidates: [] } },
}
const conditions = { filter: ['default', 'content_filter'], length: ['context_length'], plain: [] }

beforeAll(async () => {
  provider = http.createServer(async (request, response) => {
    let text = request.url ?? ''
    for await (const chunk of request) text += chunk
    const lane = /messages\?|\/v1\/messages/.test(text)
      ? 'anthropic'
      : /:(stream)?[gG]enerate/.test(text)
        ? 'gemini'
        : 'openai'
    const { status = 200, body = {}, events } = text.includes('first') ? first : (fine[lane] ?? {})
    response.on('close', () => closed++)
    response.writeHead(status, { 'content-type': events ? 'text/event-stream' : 'application/json' })
    if (events === undefined) return void response.end(JSON.stringify(body))
    // It stays open: whoever wants no more of it must end it.
    for (const event of events) response.write(`data: ${JSON.stringify(event)}\n\n`)
    if (lane === 'openai') response.write('data: [DONE]\n\n')
  })
  const origin = await listen(provider)
  const kinds = ['openai', 'anthropic', 'gemini']
  plane = await startDataPlane({
    providers: kinds.map((kind) => ({ kind, baseUrl: kind === 'openai' ? `${origin}/v1` : origin })),
    routes: kinds.flatMap((kind) =>
      Object.entries(conditions).map(([name, fallbackOn]) =>
        makeRoute(`${kind}-${name}`, [makeTarget(`${kind}:first`), makeTarget(`${kind}:second`)], {
          retries: 0,
          fallbackOn,
        }),
      ),
    ),
  })
})
afterAll(async () => {
  await plane.stop()
  closeServer(provider)
})
beforeEach(() => {
  closed = 0
})

async function call(lane: string, route: keyof typeof conditions, answer: Answer) {
  first = answer
  const model = `${lane}-${route}`
  const stream = answer.events !== undefined
  const paths: Record<string, string> = {
    openai: '/chat/completions',
    anthropic: '/anthropic/v1/messages',
    gemini: `/gemini/v1beta/models/${model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
  }
  const aborting = new AbortController()
  const response = await fetch(`${plane.baseUrl}/v1${paths[lane]}`, {
    method: 'POST',
    signal: aborting.signal,
    headers: { authorization: `Bearer ${plane.key}`, 'content-type': 'application/json' },
    body: JSON.stringify(lane === 'gemini' ? { contents: [] } : { model, max_tokens: 9, messages: [], stream }),
  })
  const text = response.headers.get('content-type') === 'text/event-stream' ? '' : await response.text()
  aborting.abort()
  const { attempts } = await plane.record(response.headers.get('x-sp-request-id'))
  return { status: response.status, text, tried: attempts.map((each) => `${each.upstream_model} ${each.outcome}`) }
}

const refusals: [what: string, lane: string, answer: Answer][] = [
  ['a chat', 'openai', { body: { choices: [{ finish_reason: 'content_filter', message: { content: '' } }] } }],
  ['a stream of chat', 'openai', { events: [{ choices: [{ delta: {}, finish_reason: 'content_filter' }] }] }],
  ['a message', 'anthropic', { body: { type: 'message', content: [], stop_reason: 'refusal' } }],
  ['a generation', 'gemini', { body: { promptFeedback: { blockReason: 'SAFETY' } } }],
  ['a stream of generation', 'gemini', { events: [{ promptFeedback: { blockReason: 'PROHIBITED_CONTENT' } }] }],
  [
    'an error',
    'openai',
    { status: 400, body: { error: { code: 'content_filter', message: 'The response was filtered' } } },
  ],
]

describe('a route that falls back on content_filter', () => {
  it.each(refusals)('does so where it ended %s', async (_what, lane, answer) => {
    const { status, text, tried } = await call(lane, 'filter', answer)
    expect(status).toBe(200)
    expect(text).toContain('second')
    expect(tried).toEqual(['first fallback', 'second answered'])
    await until(() => closed >= 2)
  })

  it.each(refusals.filter(([, , { events }]) => events === undefined))(
    'is the only one: without it %s passes as it came',
    async (_what, lane, answer) => {
      const { status, text, tried } = await call(lane, 'plain', answer)
      expect([status, text]).toEqual([answer.status ?? 200, JSON.stringify(answer.body)])
      expect(tried).toHaveLength(1)
    },
  )

  it('keeps the built-in list where it names default, and else replaces it', async () => {
    const down = { status: 503, body: { error: { message: 'down' } } }
    expect((await call('openai', 'filter', down)).tried).toEqual(['first fallback', 'second answered'])
    expect((await call('openai', 'length', down)).tried).toEqual(['first passed'])
    expect((await call('openai', 'plain', down)).tried).toEqual(['first fallback', 'second answered'])
  })
})

describe('a route that falls back on context_length', () => {
  it.each([
    ['openai', { error: { code: 'context_length_exceeded', message: 'too long' } }],
    ['openai', { error: { message: "This model's maximum context length is 4096 tokens." } }],
    [
      'anthropic',
      { error: { type: 'invalid_request_error', message: 'prompt is too long: 210000 tokens > 200000 maximum' } },
    ],
    [
      'gemini',
      { error: { message: 'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).' } },
    ],
  ])('does so where the request is too long (%s)', async (lane, body) => {
    expect((await call(lane, 'length', { status: 400, body })).tried).toEqual(['first fallback', 'second answered'])
    expect((await call(lane, 'filter', { status: 400, body })).tried).toEqual(['first passed'])
  })

  it('lets other mistakes of the client pass', async () => {
    const body = { error: { message: 'Unknown parameter: temperatur' } }
    expect((await call('openai', 'length', { status: 400, body })).tried).toEqual(['first passed'])
  })
})
