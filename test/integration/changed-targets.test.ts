import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { FormatName } from '../../src/core/format.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { chatClient } from '../support/matrix/clients/chat.ts'
import type { SceneClient, Step } from '../support/matrix/clients/client.ts'
import { generateClient } from '../support/matrix/clients/generate.ts'
import { messagesClient } from '../support/matrix/clients/messages.ts'
import { responsesClient } from '../support/matrix/clients/responses.ts'
import { Refused } from '../support/matrix/refused.ts'
import { routeName } from '../support/matrix/run.ts'
import { type Reply, type Scene, say, system, textOf, user } from '../support/matrix/scene.ts'
import { startUpstreams, type Upstream } from '../support/matrix/upstreams.ts'
import {
  isObject,
  type JsonObject,
  type MockAnswer,
  reported,
  streamAnswer,
  wholeAnswer,
} from '../support/mock-format.ts'

// One conversation of an agent, each turn of which another provider answers, as routes and fallbacks come to. Each SDK
// sends back what it was given, and each provider refuses what the real one does.

let gateway: TestGateway
let upstreams: Upstream[]
let clients: Record<FormatName, SceneClient>
let key = ''
beforeAll(async () => {
  ;[gateway, upstreams] = await Promise.all([startGateway(), startUpstreams()])
  for (const { name, kind, format, mock, credential, settings, models } of upstreams) {
    const provider = name.replace(' ', '-')
    await gateway.admin.providers.add({ name: provider, kind, baseUrl: mock.baseUrl, credential, ...settings })
    const target = `${provider}:${models.reasoning}${kind === 'openai' ? `,format=${format}` : ''}`
    await gateway.addRoute(routeName(name, 'reasoning'), [target], { retries: 0 })
  }
  key = (await gateway.createKey('changing')).key
  clients = {
    chat: chatClient(gateway.baseUrl, key),
    responses: responsesClient(gateway.baseUrl, key),
    messages: messagesClient(gateway.baseUrl, key),
    generate: generateClient(gateway.baseUrl, key),
  }
})
afterAll(async () => {
  for (const { mock } of upstreams) mock.assertClean()
  await gateway.stop()
  for (const { mock } of upstreams) await mock.close()
})

const tools = [
  { name: 'look_up', description: 'Looks.', schema: { type: 'object', properties: { q: { type: 'string' } } } },
  { name: 'now', description: 'Tells the time.', schema: { type: 'object', properties: {} } },
]
const scene: Scene = { turns: [system(say('Be brief.')), user(say('Do it.'))], tools, effort: 'high' }
const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

/** It thinks, says something, and makes two calls, one of them without arguments. */
function replyOf(turn: number): Reply {
  const calls = [
    { kind: 'call', name: 'look_up', input: { q: `${turn} 💥` } },
    { kind: 'call', name: 'now', input: {} },
  ] as const
  return {
    pieces: [{ kind: 'thought', text: 'I think 🤔.', seal: '' }, say(`Step ${turn}: ünï 🌍.`), ...calls],
    finish: 'calls',
  }
}

/** Ids of each turn are their own, as real providers' are. */
function answerOf({ provider, format, mock }: Upstream, turn: string, bodies: JsonObject[]) {
  return (call: { path: string; number: number }, body: JsonObject): MockAnswer => {
    bodies.push(body)
    try {
      provider.read(body)
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      return mock.format.error(400, error.message, call.number)
    }
    const used = { input: 190, output: 70, cacheRead: 50, cacheWrite: 0, reasoning: 30 }
    const own = (text: string) => text.replaceAll('_scene', `_${turn}x`)
    const reply = replyOf(Number(/\d+$/.exec(turn)?.[0]))
    const streamed = format === 'generate' ? call.path.includes('streamGenerate') : body.stream === true
    const type = (value: string): [string, string][] => [['Content-Type', value]]
    if (streamed)
      return streamAnswer(type('text/event-stream'), provider.events(reply, body, used).map(own), reported(used))
    return wholeAnswer(
      200,
      type('application/json'),
      own(JSON.stringify(provider.whole(reply, body, used))),
      reported(used),
    )
  }
}

/** What helpers of OpenAI's SDK add to an answer is no member of the format. */
function withoutParsed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutParsed)
  if (!isObject(value)) return value
  const entries = Object.entries(value).filter(([name]) => name !== 'parsed' && name !== 'parsed_arguments')
  return Object.fromEntries(entries.map(([name, each]) => [name, withoutParsed(each)]))
}

/** Each provider's prompt of one turn begins like that of the turn before, so that its cache is of use. */
function expectPrefixes(bodies: readonly JsonObject[]): void {
  const turnsOf = (body: JsonObject) => (body.messages ?? body.input ?? body.contents) as unknown[]
  for (const [index, body] of bodies.entries()) {
    const before = bodies[index - 1]
    if (before === undefined) continue
    expect(turnsOf(body).slice(0, turnsOf(before).length)).toEqual(turnsOf(before))
    for (const name of ['system', 'systemInstruction', 'tools', 'instructions'])
      expect(body[name]).toEqual(before[name])
  }
}

const forth = ['anthropic', 'anthropic', 'openai responses', 'gemini', 'other vendor', 'anthropic', 'openai chat']
const back = ['gemini', 'openai responses', 'bedrock', 'other vendor', 'vertex', 'openai chat', 'gemini', 'anthropic']

describe.each(['chat', 'responses', 'messages', 'generate'] as const)('an agent that speaks %s', (format) => {
  it.each([false, true])('is answered in turn by providers of all kinds (streamed: %s)', async (streamed) => {
    const steps: Step[] = []
    const bodies = new Map<string, JsonObject[]>()
    for (const [turn, name] of [...forth, ...back].entries()) {
      const upstream = upstreams.find((each) => each.name === name)
      if (upstream === undefined) throw new Error(name)
      const asked: JsonObject[] = []
      const answerWith = answerOf(upstream, `${format}${streamed ? 's' : ''}${turn}`, asked)
      upstream.mock.next({ ...upstream.path, answerWith })
      // A vendor that refuses what earlier models thought is asked once more.
      if (format === 'chat' && name === 'openai chat') upstream.mock.next({ ...upstream.path, answerWith })
      const { got, raw } = await clients[format].ask({ model: routeName(name, 'reasoning'), scene, streamed, steps })
      expect(textOf(got.pieces)).toBe(`Step ${turn}: ünï 🌍.`)
      expect(got).toMatchObject({ finish: 'calls' })
      upstream.mock.reset()
      bodies.set(name, [...(bodies.get(name) ?? []), ...asked.slice(-1)])
      const image = turn % 3 === 0 ? { image: png } : {}
      const found = { kind: 'result', text: `found ${turn}`, failed: false, ...image } as const
      const failure = { kind: 'result', text: 'no clock', failed: true } as const
      steps.push({ raw: format === 'responses' ? withoutParsed(raw) : raw, results: [found, failure] })
    }
    for (const asked of bodies.values()) expectPrefixes(asked)
  })
})

describe('a vendor that refuses what earlier models thought', () => {
  const groq = `'messages.1' : for 'role:assistant' the following must be satisfied[('messages.1' : property 'reasoning_content' is unsupported)]`
  const missing = 'The `reasoning_content` in the thinking mode must be passed back to the API.'

  const vendor = () => upstreams.find(({ name }) => name === 'other vendor')?.mock

  async function ask(
    model = routeName('other vendor', 'reasoning'),
    thought: object = { reasoning_content: 'They say hi.' },
  ): Promise<{ status: number; bodies: JsonObject[]; id: string }> {
    const mock = vendor()
    const before = mock?.calls.length ?? 0
    const messages = [
      { role: 'user', content: 'Hi.' },
      { role: 'assistant', content: 'Hello.', ...thought },
      { role: 'user', content: 'Bye.' },
    ]
    const response = await fetch(`${gateway.baseUrl}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model, messages }),
    })
    await response.text()
    const bodies = (mock?.calls.slice(before) ?? []).map(({ body }) => JSON.parse(body.toString()))
    return { status: response.status, bodies, id: response.headers.get('x-sp-request-id') ?? '' }
  }

  const refuse = (message: string) => {
    const mock = vendor()
    mock?.next({ answerWith: (call) => mock.format.error(400, message, call.number) })
  }
  const shows = (body: JsonObject | undefined) => JSON.stringify(body).includes('reasoning_content')

  it('gets it as it came until then, and is asked once more without it', async () => {
    refuse(missing)
    const passed = await ask()
    expect([passed.status, passed.bodies.map(shows)]).toEqual([400, [true]])
    refuse(groq)
    const again = await ask()
    expect([again.status, again.bodies.map(shows)]).toEqual([200, [true, false]])
    const record = await gateway.record(again.id)
    expect(record.attempts.map(({ outcome, reasoning }) => ({ outcome, reasoning }))).toEqual([
      { outcome: 'retry' },
      { outcome: 'answered', reasoning: 'stripped' },
    ])
    expect(record.routing_signals.map(({ text }) => text).join('\n')).toContain('asked once more')
  })

  it('keeps that to the model that has refused it, once it has answered without', async () => {
    const other = 'another model of that vendor'
    const target = upstreams.find(({ name }) => name === 'other vendor')?.models.plain
    await gateway.addRoute(other, [`other-vendor:${target}`], { retries: 0 })
    const known = await ask()
    expect([known.status, known.bodies.map(shows)]).toEqual([200, [false]])
    const quoting =
      'property "seed" is unsupported in {"reasoning_content":"They say hi."}; reasoning_content is unexpected'
    for (let time = 0; time < 2; time++) {
      refuse(quoting)
      refuse(quoting)
      const refused = await ask(other)
      expect([refused.status, refused.bodies.map(shows)]).toEqual([400, [true, false]])
    }
    const passed = await ask(other)
    expect([passed.status, passed.bodies.map(shows)]).toEqual([200, [true]])
  })

  it('is asked once more without what OpenRouter calls otherwise', async () => {
    const thought = { reasoning: 'They say hi.', reasoning_details: [{ type: 'reasoning.text', text: 'They say hi.' }] }
    for (const name of Object.keys(thought)) {
      await gateway.addRoute(name, [`other-vendor:refuses-${name}`], { retries: 0 })
      refuse(groq.replace('reasoning_content', name))
      const { status, bodies } = await ask(name, thought)
      expect(status).toBe(200)
      expect(bodies.map((body) => JSON.stringify(body).includes('They say hi.'))).toEqual([true, false])
    }
  })
})

it('does not ask an older Claude to think in a turn with calls that another model began', async () => {
  await gateway.addRoute('older claude', ['anthropic:claude-sonnet-4-5'], { retries: 0 })
  const mock = upstreams.find(({ name }) => name === 'anthropic')?.mock
  const call = { type: 'tool_use', id: 'toolu_1', name: 'now', input: {} }
  const messages = [
    { role: 'user', content: 'When?' },
    { role: 'assistant', content: [{ type: 'thinking', thinking: 'A clock.', signature: '' }, call] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'noon' }] },
  ]
  const thinking = { type: 'enabled', budget_tokens: 1024 }
  const response = await fetch(`${gateway.baseUrl}/v1/anthropic/v1/messages`, {
    method: 'POST',
    headers: { 'x-api-key': key, 'anthropic-version': '2023-06-01', 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'older claude', max_tokens: 2048, thinking, messages, tools: [] }),
  })
  expect(response.status).toBe(200)
  await response.text()
  const sent = JSON.parse(mock?.calls.at(-1)?.body.toString() ?? '')
  expect(sent).toMatchObject({ max_tokens: 2048, messages: [{}, { content: [call] }, {}] })
  expect(sent).not.toHaveProperty('thinking')
  const record = await gateway.record(response.headers.get('x-sp-request-id') ?? '')
  expect(record.routing_signals.map(({ text }) => text).join(' ')).toContain('not asked to think')
})

it('asks an older Claude once more without thinking, where it refuses an answer that a model without any began', async () => {
  await gateway.addRoute('old claude', ['anthropic:claude-sonnet-4-5'], { retries: 0 })
  const mock = upstreams.find(({ name }) => name === 'anthropic')?.mock
  const text =
    'messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is enabled, a final `assistant` message must start with a thinking block.'
  mock?.next({ answerWith: (call) => mock.format.error(400, text, call.number) })
  const call = { type: 'tool_use', id: 'call_1', name: 'now', input: {} }
  const messages = [
    { role: 'user', content: 'When?' },
    { role: 'assistant', content: [call] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_1', content: 'noon' }] },
  ]
  const thinking = { type: 'enabled', budget_tokens: 1024 }
  const response = await fetch(`${gateway.baseUrl}/v1/anthropic/v1/messages`, {
    method: 'POST',
    headers: { 'x-api-key': key, 'anthropic-version': '2023-06-01', 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'old claude', max_tokens: 2048, thinking, messages, tools: [] }),
  })
  expect(response.status).toBe(200)
  await response.text()
  const sent = JSON.parse(mock?.calls.at(-1)?.body.toString() ?? '')
  expect(sent).toEqual({ model: 'claude-sonnet-4-5', max_tokens: 2048, messages, tools: [] })
  const record = await gateway.record(response.headers.get('x-sp-request-id') ?? '')
  expect(record.attempts.map(({ outcome }) => outcome)).toEqual(['retry', 'answered'])
  expect(record.routing_signals.map(({ text }) => text).join('\n')).toContain('It was not asked to think')
})
