import http from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type DataPlane, startDataPlane } from '../support/data-plane.ts'
import { closeServer, listen } from '../support/listen.ts'
import { makeRoute, makeTarget } from '../support/snapshot.ts'

let provider: http.Server
let plane: DataPlane
/** What the provider sends, and as what. */
let sent: { type: string; text: string }

const json = (value: unknown) => ({ type: 'application/json', text: JSON.stringify(value) })
const chunks = (...values: object[]) => ({
  type: 'text/event-stream',
  text: `${values.map((value) => `data: ${JSON.stringify(value)}\n\n`).join('')}data: [DONE]\n\n`,
})
const events = (...values: { type: string }[]) => ({
  type: 'text/event-stream',
  text: values.map((value) => `event: ${value.type}\ndata: ${JSON.stringify(value)}\n\n`).join(''),
})

beforeAll(async () => {
  provider = http.createServer((request, response) => {
    request.resume().on('end', () => {
      response.writeHead(200, { 'content-type': sent.type })
      response.end(sent.text)
    })
  })
  const origin = await listen(provider)
  const kinds = ['openai', 'anthropic', 'gemini']
  plane = await startDataPlane({
    providers: kinds.map((kind) => ({ kind, baseUrl: kind === 'openai' ? `${origin}/v1` : origin })),
    routes: kinds.flatMap((kind) => [
      makeRoute(`mine-${kind}`, [makeTarget(`${kind}:theirs`)], { echoModel: true }),
      makeRoute(`plain-${kind}`, [makeTarget(`${kind}:theirs`)]),
    ]),
  })
})
afterAll(async () => {
  await plane.stop()
  closeServer(provider)
})

async function ask(path: string, body: object, answer: typeof sent) {
  sent = answer
  const response = await fetch(`${plane.baseUrl}/v1${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${plane.key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const text = await response.text()
  const { routing_signals } = await plane.record(response.headers.get('x-sp-request-id'))
  return { text, says: routing_signals.map((signal) => signal.text).join(' ') }
}

const messages = [{ role: 'user', content: 'hi' }]
const chunk = { model: 'theirs', choices: [{ index: 0, delta: { content: 'my "model": "theirs"' } }] }
const usage = { model: 'theirs', choices: [], usage: { prompt_tokens: 1, completion_tokens: 1 } }
const started = { type: 'message_start', message: { model: 'theirs', usage: { input_tokens: 1, output_tokens: 1 } } }
const said = { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '', model: 'theirs' } }
const created = { type: 'response.created', response: { id: 'resp_1', model: 'theirs', output: [] } }
const finished = { type: 'response.completed', response: { id: 'resp_1', model: 'theirs', output: [] } }

const cases: [what: string, path: string, body: object, answer: typeof sent, changed: number][] = [
  ['a chat', '/chat/completions', { messages }, json({ ...chunk, choices: [] }), 1],
  ['a streamed chat', '/chat/completions', { messages, stream: true }, chunks(chunk, chunk), 2],
  [
    'a streamed chat whose usage is hidden',
    '/chat/completions',
    { messages, stream: true },
    chunks({ ...chunk, usage: null }, usage),
    1,
  ],
  ['a response', '/responses', { input: 'hi' }, json({ ...created.response, status: 'completed' }), 1],
  ['a streamed response', '/responses', { input: 'hi', stream: true }, events(created, finished), 2],
  [
    'a message',
    '/anthropic/v1/messages',
    { messages, max_tokens: 9 },
    json({ type: 'message', model: 'theirs', content: [] }),
    1,
  ],
  [
    'a streamed message',
    '/anthropic/v1/messages',
    { messages, max_tokens: 9, stream: true },
    events(started, said, { type: 'message_stop' }),
    1,
  ],
  [
    'a generation',
    '/gemini/v1beta/models/MODEL:generateContent',
    { contents: [] },
    json({ modelVersion: 'theirs', candidates: [] }),
    1,
  ],
  [
    'a generation streamed as an array',
    '/gemini/v1beta/models/MODEL:streamGenerateContent',
    { contents: [] },
    json([
      { modelVersion: 'theirs', candidates: [{ content: { parts: [{ text: 'a' }] } }] },
      { modelVersion: 'theirs', candidates: [{ finishReason: 'STOP' }] },
    ]),
    2,
  ],
]

describe('a route with echo_model', () => {
  it.each(cases)(
    'shows the name that the client asked for in %s, and changes nothing else',
    async (_what, path, body, answer, changed) => {
      const lane = path.startsWith('/anthropic') ? 'anthropic' : path.startsWith('/gemini') ? 'gemini' : 'openai'
      const call = (model: string) =>
        ask(path.replace('MODEL', model), lane === 'gemini' ? body : { model, ...body }, answer)
      const [mine, plain] = [await call(`mine-${lane}`), await call(`plain-${lane}`)]
      const field = /"(model|modelVersion)":"theirs"/g
      expect(mine.text.match(new RegExp(`"mine-${lane}"`, 'g'))).toHaveLength(changed)
      let left = changed
      expect(mine.text).toBe(
        plain.text.replace(field, (found, name) => (left-- > 0 ? `"${name}":"mine-${lane}"` : found)),
      )
      expect(mine.says).toContain("The model's name in the answer was changed")
      expect(plain.says).not.toContain("The model's name in the answer was changed")
    },
  )
})
