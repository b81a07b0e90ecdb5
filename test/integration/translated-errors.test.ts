import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { FormatName } from '../../src/core/format.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { chatClient } from '../support/matrix/clients/chat.ts'
import type { SceneClient } from '../support/matrix/clients/client.ts'
import { generateClient } from '../support/matrix/clients/generate.ts'
import { messagesClient } from '../support/matrix/clients/messages.ts'
import { responsesClient } from '../support/matrix/clients/responses.ts'
import { say, user } from '../support/matrix/scene.ts'
import { startUpstreams, type Upstream } from '../support/matrix/upstreams.ts'
import { WireWatch } from '../support/matrix/wire-watch.ts'

let gateway: TestGateway
let upstreams: readonly Upstream[]
let clients: Record<FormatName, SceneClient>
const wire = new WireWatch()
let uninstall: () => void

beforeAll(async () => {
  ;[gateway, upstreams] = await Promise.all([startGateway(), startUpstreams()])
  const { key } = await gateway.createKey('errors')
  const { baseUrl } = gateway
  uninstall = wire.install(baseUrl)
  clients = {
    chat: chatClient(baseUrl, key),
    responses: responsesClient(baseUrl, key),
    messages: messagesClient(baseUrl, key),
    generate: generateClient(baseUrl, key),
  }
})
afterAll(async () => {
  uninstall()
  await gateway.stop()
  for (const { mock } of upstreams) await mock.close()
})

interface Answer {
  status: number
  body: unknown
  headers?: Record<string, string>
}

const wait = { 'retry-after': '7' }
const openai = (status: number, code: string, message: string, headers = {}): Answer => {
  return { status, body: { error: { message, type: 'x', param: null, code } }, headers }
}
const anthropic = (status: number, type: string, message: string, headers = {}): Answer => {
  return { status, body: { type: 'error', error: { type, message }, request_id: 'r' }, headers }
}
const gemini = (code: number, status: string, message: string, details: object[] = []): Answer => {
  return { status: code, body: { error: { code, message, status, details } } }
}
const later = [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '7s' }]

let providers = 0

/** What the client's SDK throws. Each call has a provider of its own, so that no breaker stands before it. */
async function raise(name: string, client: FormatName, { status, body, headers = {} }: Answer, streamed = false) {
  const upstream = upstreams.find((one) => one.name === name)
  if (upstream === undefined) throw new Error(`no provider ${name}`)
  const { kind, format, mock, credential, models } = upstream
  const provider = `p-${providers++}`
  await gateway.admin.providers.add({ name: provider, kind, baseUrl: mock.baseUrl, credential })
  const target = `${provider}:${models.usual}${kind === 'openai' ? `,format=${format}` : ''}`
  await gateway.addRoute(`m-${provider}`, [target], { retries: 0 })
  mock.next({ status, body: typeof body === 'string' ? body : JSON.stringify(body), headers })
  const asked = clients[client].ask({
    model: `m-${provider}`,
    scene: { turns: [user(say('Hello.'))] },
    streamed,
    steps: [],
  })
  const error: unknown = await asked.then(
    () => null,
    (reason: unknown) => reason,
  )
  if (!(error instanceof Error)) throw new Error('the SDK took the error for an answer')
  return { error, name: error.constructor.name, headers: wire.last.headers, body: wire.last.body }
}

const errors: readonly (readonly [what: string, upstream: string, answer: Answer, chat: string, messages: string])[] = [
  ['429', 'anthropic', anthropic(429, 'rate_limit_error', 'Slow down', wait), 'RateLimitError 429', ''],
  ['429', 'openai responses', openai(429, 'rate_limit_exceeded', 'Slow down', wait), '', 'RateLimitError 429'],
  ['429', 'gemini', gemini(429, 'RESOURCE_EXHAUSTED', 'Slow down', later), 'RateLimitError 429', 'RateLimitError 429'],
  ['529', 'anthropic', anthropic(529, 'overloaded_error', 'Overloaded'), 'InternalServerError 503', ''],
  ['503', 'anthropic', anthropic(503, 'api_error', 'Unavailable'), 'InternalServerError 503', ''],
  ['503', 'gemini', gemini(503, 'UNAVAILABLE', 'Overloaded'), 'InternalServerError 503', 'OverloadedError 529'],
  ['403', 'openai chat', openai(403, 'denied', 'Not here'), '', 'PermissionDeniedError 403'],
  ['404', 'gemini', gemini(404, 'NOT_FOUND', 'No such model'), 'NotFoundError 404', 'NotFoundError 404'],
  ['413', 'anthropic', anthropic(413, 'request_too_large', 'Too large'), 'APIError 413', ''],
  ['413', 'openai chat', openai(413, '', 'Too large'), '', 'ContentTooLargeError 413'],
  ['504', 'gemini', gemini(504, 'DEADLINE_EXCEEDED', 'Late'), 'InternalServerError 504', 'GatewayTimeoutError 504'],
]

describe('an error of another vendor is of the class that the client knows', () => {
  it.each(errors)('%s of %s', async (_, upstream, answer, chat, messages) => {
    const said = /"message":"([^"]+)"/.exec(JSON.stringify(answer.body))?.[1] ?? ''
    for (const [client, expected] of [
      ['chat', chat],
      ['messages', messages],
    ] as const) {
      if (expected === '') continue
      for (const streamed of [false, true]) {
        const { error, name, headers } = await raise(upstream, client, answer, streamed)
        expect(`${name} ${Reflect.get(error, 'status')}`).toBe(expected)
        expect(error.message).toContain(said)
        if (answer.status === 429) expect(headers.get('retry-after')).toBe('7')
        // The record says what the provider answered, whatever status the client has.
        const record = await gateway.record(headers.get('x-sp-request-id') ?? '')
        expect(record.error?.message).toBe(`The provider answered ${answer.status}.`)
      }
    }
  })
})

it('a client of Gemini reads in the body how long to wait', async () => {
  const answer = anthropic(429, 'rate_limit_error', 'Slow down', wait)
  const { error, body } = await raise('anthropic', 'generate', answer)
  expect(error).toMatchObject({ name: 'ApiError', status: 429 })
  expect(JSON.parse(body).error).toMatchObject({ status: 'RESOURCE_EXHAUSTED', message: 'Slow down', details: later })
})

it("Gemini's errors in a list are read, and one without words has some", async () => {
  const { body } = gemini(429, 'RESOURCE_EXHAUSTED', 'In a list', later)
  const listed = await raise('gemini', 'chat', { status: 429, body: [body] })
  expect(listed).toMatchObject({ name: 'RateLimitError', error: { message: expect.stringContaining('In a list') } })
  for (const words of ['', '<html>Bad gateway</html>']) {
    const { error } = await raise('gemini', 'messages', { status: 500, body: words })
    expect(error.message).toContain('The provider answered with the status 500.')
  }
})

it('what a filter withholds is said in the word that OpenAI has for it', async () => {
  const answer = anthropic(400, 'invalid_request_error', 'Output blocked by content filtering policy')
  const { error } = await raise('anthropic', 'responses', answer)
  expect(error).toMatchObject({ status: 400, code: 'content_filter' })
})
