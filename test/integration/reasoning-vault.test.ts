import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import OpenAI from 'openai'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { listen } from '../support/listen.ts'

/**
 * A provider that signs what its model thinks, and refuses a turn with a call whose signature is missing or changed: each turn calls
 * the tool once more, the third says that it is done.
 */
class SigningProvider {
  readonly server: Server
  /** As the newest models do where anything before a signature has changed. */
  refusesSigned = false
  /** As where the model is not asked to think. */
  takesBare = false
  /** What each request brought back, by turn. */
  readonly brought: string[] = []

  constructor() {
    this.server = createServer((request, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => {
        const body = JSON.parse(Buffer.concat(chunks).toString())
        const answer = this.#answer(body)
        response.writeHead(answer.status, {
          'content-type': body.stream && answer.status === 200 ? 'text/event-stream' : 'application/json',
        })
        response.end(body.stream && answer.status === 200 ? streamed(answer.message) : JSON.stringify(answer.message))
      })
    })
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`
  }

  #answer({ messages, model, tools: offered }: Asked) {
    const turns = messages.filter(({ role }) => role === 'assistant')
    if (this.refusesSigned) {
      const message = 'messages.1.content.0: Invalid `signature` in `thinking` block'
      if (JSON.stringify(turns).includes('"signature"'))
        return { status: 400, message: { type: 'error', error: { type: 'invalid_request_error', message } } }
      turns.length = 2
    }
    for (const [turn, { content }] of this.refusesSigned ? [] : turns.entries()) {
      const [first] = Array.isArray(content) ? content : []
      this.brought.push(`${first?.type} ${first?.signature}`)
      // Before texts it may be left out.
      if (offered === undefined || this.takesBare) continue
      if (first?.type !== 'thinking' || first.signature !== sign(turn) || first.thinking !== thought(turn))
        return {
          status: 400,
          message: { type: 'error', error: { type: 'invalid_request_error', message: 'thinking must be as it was' } },
        }
    }
    const turn = turns.length
    const call = { type: 'tool_use', id: `toolu_${turn}`, name: 'look', input: { turn } }
    const speaks = offered === undefined || turn === 2
    const last = speaks ? { type: 'text', text: offered === undefined ? `Turn ${turn}.` : 'done' } : call
    const content = [{ type: 'thinking', thinking: thought(turn), signature: sign(turn) }, last]
    const usage = { input_tokens: 5, output_tokens: 3 }
    const stop = { stop_reason: speaks ? 'end_turn' : 'tool_use', stop_sequence: null }
    return {
      status: 200,
      message: { id: `msg_${turn}`, type: 'message', role: 'assistant', model, content, ...stop, usage },
    }
  }
}

interface Asked {
  messages: { role: string; content: unknown }[]
  model: string
  tools?: unknown
}

const thought = (turn: number) => `I think about ${turn}.`
const sign = (turn: number) => Buffer.from(`signature of ${turn}`).toString('base64')

interface Block {
  type: string
  thinking?: string
  signature?: string
  text?: string
  input?: object
}

/** As the provider would stream it. */
function streamed(message: object): string {
  const { content, stop_reason, usage } = message as { content: Block[]; stop_reason: string; usage: object }
  const events: object[] = [{ type: 'message_start', message: { ...message, content: [], stop_reason: null } }]
  for (const [index, block] of content.entries()) {
    const shell = {
      ...block,
      ...(block.type === 'thinking'
        ? { thinking: '', signature: '' }
        : block.type === 'text'
          ? { text: '' }
          : { input: {} }),
    }
    events.push({ type: 'content_block_start', index, content_block: shell })
    const deltas =
      block.type === 'thinking'
        ? [
            { type: 'thinking_delta', thinking: block.thinking },
            { type: 'signature_delta', signature: block.signature },
          ]
        : block.type === 'text'
          ? [{ type: 'text_delta', text: block.text }]
          : [{ type: 'input_json_delta', partial_json: JSON.stringify(block.input) }]
    for (const delta of deltas) events.push({ type: 'content_block_delta', index, delta })
    events.push({ type: 'content_block_stop', index })
  }
  events.push({ type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage }, { type: 'message_stop' })
  return events.map((event) => `event: ${Reflect.get(event, 'type')}\ndata: ${JSON.stringify(event)}\n\n`).join('')
}

let dataDirectory: string
let provider: SigningProvider

beforeEach(async () => {
  dataDirectory = mkdtempSync(join(tmpdir(), 'vault-'))
  provider = new SigningProvider()
  await listen(provider.server)
})
afterEach(() => {
  provider.server.closeAllConnections()
  provider.server.close()
  rmSync(dataDirectory, { recursive: true, force: true })
})

const options = () => ({ dataDirectory, config: 'gateway:\n  workers: 2\n' })
const tools: OpenAI.ChatCompletionTool[] = [
  { type: 'function', function: { name: 'look', parameters: { type: 'object' } } },
]
type Message = OpenAI.ChatCompletionMessageParam

/** One turn as clients keep it: without anything that only the provider can read. */
async function turn(
  gateway: TestGateway,
  key: string,
  messages: Message[],
  stream: boolean,
  more: Pick<OpenAI.ChatCompletionCreateParams, 'tools' | 'reasoning_effort'> = { tools },
) {
  const client = new OpenAI({ apiKey: key, baseURL: `${gateway.baseUrl}/v1`, maxRetries: 0 })
  const body = { model: 'thinker', messages, reasoning_effort: 'low' as const, ...more }
  const completion = stream
    ? await client.chat.completions.stream(body).finalChatCompletion()
    : await client.chat.completions.create(body)
  const message = completion.choices[0]?.message
  const calls = message?.tool_calls ?? []
  messages.push({
    role: 'assistant',
    content: message?.content ?? null,
    ...(calls.length > 0 && { tool_calls: calls }),
  })
  for (const { id } of calls) messages.push({ role: 'tool', tool_call_id: id, content: 'blue' })
  return { text: message?.content ?? null, messages }
}

async function addSigner({ admin, addRoute }: TestGateway): Promise<void> {
  const place = { name: 'signer', kind: 'anthropic', baseUrl: provider.origin } as const
  await admin.providers.add({ ...place, credential: 'sk-ant-x', skipCheck: true })
  await addRoute('thinker', ['signer:claude-sonnet-4-5-20250929'])
}

it.each([false, true])(
  'brings signed reasoning back over three turns, a kill and a restart between them (streamed: %s)',
  async (stream) => {
    const first = await startGateway(options())
    await addSigner(first)
    const { key } = await first.createKey('ci')
    await first.admin.projects.add({ name: 'other' })
    await first.admin.environments.add({ project: 'other', name: 'production' })
    await first.admin.routes.add({ model: 'thinker', project: 'other', targets: ['signer:claude-sonnet-4-5-20250929'] })
    const stranger = await first.createKey('stranger', { project: 'other' })
    const messages: Message[] = [{ role: 'user', content: 'look around' }]
    await turn(first, key, messages, stream)
    await first.kill('SIGKILL')

    const second = await startGateway(options())
    try {
      await turn(second, key, messages, stream)
      // Whoever has another project's call id gets nothing of it.
      await expect(turn(second, stranger.key, structuredClone(messages), stream)).rejects.toMatchObject({ status: 400 })
      const [refused] = await second.admin.requests.list({ limit: 1 })
      expect((await second.record(refused?.id ?? '')).reasoning).toBe('missing')
      expect(provider.brought.at(-1)).not.toContain(sign(0))
      const { text } = await turn(second, key, messages, stream)
      expect(text).toBe('done')
      expect(provider.brought.slice(-2)).toEqual([`thinking ${sign(0)}`, `thinking ${sign(1)}`])
      const [newest] = await second.admin.requests.list({ limit: 1 })
      const record = await second.record(newest?.id ?? '')
      expect(record).toMatchObject({ reasoning: 'attached', attempts: [{ reasoning: 'attached' }] })
      // A model that is not asked to think gets none back, and the client has lost nothing.
      provider.takesBare = true
      const asked = messages.slice(0, -1)
      expect((await turn(second, key, asked, stream, { tools, reasoning_effort: 'none' })).text).toBe('done')
      const [unasked] = await second.admin.requests.list({ limit: 1 })
      expect(await second.record(unasked?.id ?? '')).toMatchObject({ reasoning: null, losses: [] })
    } finally {
      await second.stop()
    }
  },
)

it.each([false, true])(
  'brings signed reasoning of texts back, a kill and a restart between them (streamed: %s)',
  async (stream) => {
    const first = await startGateway(options())
    await addSigner(first)
    const { key } = await first.createKey('ci')
    await first.admin.environments.add({ project: 'default', name: 'staging' })
    await first.admin.routes.add({
      model: 'thinker',
      environment: 'staging',
      targets: ['signer:claude-sonnet-4-5-20250929'],
    })
    const { key: elsewhere } = await first.createKey('elsewhere', { environment: 'staging' })
    const messages: Message[] = []
    const say = (gateway: TestGateway, words: string) => {
      messages.push({ role: 'user', content: words })
      return turn(gateway, key, messages, stream, {})
    }
    expect((await say(first, 'first')).text).toBe('Turn 0.')
    await first.kill('SIGKILL')

    const second = await startGateway(options())
    const broughtBy = async (asked: Message[], as = key) => {
      provider.brought.length = 0
      await turn(second, as, [...asked, { role: 'user', content: 'third' }], stream, {})
      return [...provider.brought]
    }
    try {
      expect((await say(second, 'second')).text).toBe('Turn 1.')
      // A request does not wait long for them.
      await expect.poll(() => broughtBy(messages)).toEqual([`thinking ${sign(0)}`, `thinking ${sign(1)}`])
      const [newest] = await second.admin.requests.list({ limit: 1 })
      const record = await second.record(newest?.id ?? '')
      expect(record).toMatchObject({ reasoning: 'attached', attempts: [{ reasoning: 'attached' }] })
      // Neither another environment nor another conversation with the same words gets any of it.
      const nothing = ['text undefined', 'text undefined']
      expect(await broughtBy(messages, elsewhere)).toEqual(nothing)
      expect(await broughtBy([{ role: 'system', content: 'Be brief.' }, ...messages])).toEqual(nothing)
    } finally {
      await second.stop()
    }
  },
)

it.each([false, true])(
  'asks once more without signatures that their provider refuses (streamed: %s)',
  async (stream) => {
    // What a provider refused is known to the thread that asked.
    const gateway = await startGateway({ ...options(), config: 'gateway:\n  workers: 1\n' })
    try {
      const place = { name: 'signer', kind: 'anthropic', baseUrl: provider.origin, credential: 'sk-ant-x' }
      await gateway.admin.providers.add({ ...place, budgetUsdMonth: 100, skipCheck: true })
      await gateway.addRoute('thinker', ['signer:claude-opus-4-7'])
      const { key } = await gateway.createKey('ci')
      const messages: Message[] = [{ role: 'user', content: 'look around' }]
      const spent = async () => (await gateway.admin.providers.show({ name: 'signer' })).limits[0]?.used ?? 0
      await turn(gateway, key, messages, stream)
      const before = await spent()
      provider.refusesSigned = true
      expect((await turn(gateway, key, messages, stream)).text).toBe('done')
      const [newest] = await gateway.admin.requests.list({ limit: 1 })
      const record = await gateway.record(newest?.id ?? '')
      expect(record.attempts.map(({ status, outcome, reasoning }) => [status, outcome, reasoning])).toEqual([
        [400, 'retry', 'attached'],
        [200, 'answered', 'stripped'],
      ])
      expect(record.routing_signals.map(({ text }) => text).join('\n')).toContain('was stripped')
      expect(record.losses.length).toBeGreaterThan(0)
      // Its account is charged for the request that was answered.
      expect(record.cost?.usd).toBeGreaterThan(0)
      expect(await spent()).toBeCloseTo(before + (record.cost?.usd ?? 0), 9)
      // The conversation pays for the refusal once, and not with each of its turns.
      messages.push({ role: 'user', content: 'and again' })
      await turn(gateway, key, messages, stream)
      const [later] = await gateway.admin.requests.list({ limit: 1 })
      const { attempts } = await gateway.record(later?.id ?? '')
      expect(attempts.map(({ status, reasoning }) => [status, reasoning])).toEqual([[200, 'stripped']])
    } finally {
      await gateway.stop()
    }
  },
)
