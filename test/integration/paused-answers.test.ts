import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { GoogleGenAI } from '@google/genai'
import OpenAI from 'openai'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { listen } from '../support/listen.ts'
import { type RecordingFetch, recordingFetch } from '../support/recording-fetch.ts'

interface Asked {
  messages: { role: string; content: unknown }[]
  max_tokens: number
  stream?: boolean
}

/** A provider that searches the web, and pauses so often before it comes to an end. It goes on only with what it has written. */
class PausingProvider {
  readonly server: Server
  pauses = 0
  readonly asked: Asked[] = []
  /** What is to be answered in place of this part. */
  fails: { part: number; status: number } | null = null
  /** This part is never answered; resolves when its caller has hung up. */
  hangs: { part: number; began: () => void; closed: () => void } | null = null

  constructor() {
    this.server = createServer((request, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => this.#answer(JSON.parse(Buffer.concat(chunks).toString()), response))
    })
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`
  }

  #answer(body: Asked, response: ServerResponse): void {
    this.asked.push(body)
    const last = body.messages.at(-1)
    const before = last?.role === 'assistant' && Array.isArray(last.content) ? last.content : []
    const part = before.length / 4
    if (this.hangs?.part === part) {
      response.on('close', this.hangs.closed)
      return this.hangs.began()
    }
    const expected = Array.from({ length: part }, (_, earlier) => blocksOf(earlier, true)).flat()
    if (JSON.stringify(before) !== JSON.stringify(expected)) return refuse(response, 400, 'content must be as it was')
    if (this.fails?.part === part) return refuse(response, this.fails.status, 'not now')
    const pauses = part < this.pauses
    const message = {
      ...{ id: `msg_${part}`, type: 'message', role: 'assistant', model: 'claude-sonnet-4-5' },
      ...{ content: blocksOf(part, pauses), stop_reason: pauses ? 'pause_turn' : 'end_turn', stop_sequence: null },
      usage: { input_tokens: 100 * (part + 1), output_tokens: 10, server_tool_use: { web_search_requests: 1 } },
    }
    response.writeHead(200, { 'content-type': body.stream === true ? 'text/event-stream' : 'application/json' })
    response.end(body.stream === true ? streamed(message) : JSON.stringify(message))
  }
}

function refuse(response: ServerResponse, status: number, message: string): void {
  const type = status === 400 ? 'invalid_request_error' : 'overloaded_error'
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify({ type: 'error', error: { type, message } }))
}

function blocksOf(part: number, pauses: boolean): { type: string; [member: string]: unknown }[] {
  if (!pauses) return [{ type: 'text', text: 'done', citations: null }]
  const id = `srvtoolu_${part}`
  const found = { type: 'web_search_result', url: 'https://a.example', title: 'A', encrypted_content: `sealed ${part}` }
  return [
    { type: 'thinking', thinking: `thought ${part}`, signature: `signed ${part}` },
    { type: 'text', text: `part ${part}, ` },
    { type: 'server_tool_use', id, name: 'web_search', input: { query: `what is ${part}` } },
    { type: 'web_search_tool_result', tool_use_id: id, content: [found] },
  ]
}

/** As Anthropic streams it: texts and inputs in pieces, results whole. */
function streamed(message: { content: ReturnType<typeof blocksOf>; stop_reason: string; usage: object }): string {
  const { content, stop_reason, usage } = message
  const events: object[] = [{ type: 'message_start', message: { ...message, content: [], stop_reason: null } }]
  for (const [index, block] of content.entries()) {
    const shells: Record<string, object> = {
      text: { text: '' },
      thinking: { thinking: '', signature: '' },
      server_tool_use: { input: {} },
    }
    events.push({ type: 'content_block_start', index, content_block: { ...block, ...shells[block.type] } })
    for (const delta of deltasOf(block)) events.push({ type: 'content_block_delta', index, delta })
    events.push({ type: 'content_block_stop', index })
  }
  events.push({ type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage }, { type: 'message_stop' })
  return events.map((event) => `event: ${Reflect.get(event, 'type')}\ndata: ${JSON.stringify(event)}\n\n`).join('')
}

function deltasOf(block: ReturnType<typeof blocksOf>[number]): object[] {
  const halves = (text: string) => [text.slice(0, 3), text.slice(3)]
  if (block.type === 'text') return halves(String(block.text)).map((text) => ({ type: 'text_delta', text }))
  if (block.type === 'thinking')
    return [
      ...halves(String(block.thinking)).map((thinking) => ({ type: 'thinking_delta', thinking })),
      { type: 'signature_delta', signature: block.signature },
    ]
  if (block.type !== 'server_tool_use') return []
  return halves(JSON.stringify(block.input)).map((partial_json) => ({ type: 'input_json_delta', partial_json }))
}

let gateway: TestGateway
let provider: PausingProvider
let wire: RecordingFetch
let openai: OpenAI
let key: string

beforeAll(async () => {
  provider = new PausingProvider()
  await listen(provider.server)
  gateway = await startGateway()
  const place = { name: 'searcher', kind: 'anthropic', baseUrl: provider.origin, credential: 'sk-ant-x' }
  await gateway.admin.providers.add({ ...place, skipCheck: true })
  await gateway.addRoute('searching', ['searcher:claude-sonnet-4-5'])
  key = (await gateway.createKey('ci')).key
})
afterAll(async () => {
  await gateway.stop()
  provider.server.closeAllConnections()
  provider.server.close()
})
beforeEach(() => {
  wire = recordingFetch()
  openai = new OpenAI({ apiKey: key, baseURL: `${gateway.baseUrl}/v1`, maxRetries: 0, fetch: wire.fetch })
})
afterEach(() => {
  provider.asked.length = 0
  provider.pauses = 0
  provider.fails = null
  provider.hangs = null
})

const record = async () => gateway.record(wire.last().headers.get('x-sp-request-id') ?? '')
const pauseSignals = (all: { rule: string; verdict: string }[]) =>
  all.filter(({ rule }) => rule === 'pause').map(({ verdict }) => verdict)

interface Said {
  text: string | null | undefined
  finish: string | null | undefined
  used: (number | null | undefined)[]
}

type ChatBody = OpenAI.Chat.ChatCompletionCreateParams

async function askChat(stream: boolean, more: Partial<Pick<ChatBody, 'max_tokens' | 'messages'>> = {}): Promise<Said> {
  const messages = [{ role: 'user' as const, content: 'search' }]
  const body = { model: 'searching', messages, web_search_options: {}, ...more }
  const { choices, usage } = stream
    ? await openai.chat.completions.stream({ ...body, stream_options: { include_usage: true } }).finalChatCompletion()
    : await openai.chat.completions.create(body)
  const [choice] = choices
  const used = [usage?.prompt_tokens, usage?.completion_tokens]
  return { text: choice?.message.content, finish: choice?.finish_reason, used }
}

async function askResponses(stream: boolean): Promise<Said> {
  const body = { model: 'searching', input: 'search', tools: [{ type: 'web_search' as const }] }
  const response = stream ? await openai.responses.stream(body).finalResponse() : await openai.responses.create(body)
  const { usage, status, output_text: text } = response
  return { text, finish: status, used: [usage?.input_tokens, usage?.output_tokens] }
}

async function askGenerate(stream: boolean): Promise<Said> {
  const client = new GoogleGenAI({
    apiKey: key,
    httpOptions: { baseUrl: `${gateway.baseUrl}/v1/gemini`, retryOptions: { attempts: 1 } },
  })
  const body = { model: 'searching', contents: 'search', config: { tools: [{ googleSearch: {} }] } }
  const answers = []
  if (stream) for await (const chunk of await client.models.generateContentStream(body)) answers.push(chunk)
  else answers.push(await client.models.generateContent(body))
  const last = answers.at(-1)
  const text = answers.map((each) => each.text ?? '').join('')
  const { promptTokenCount, candidatesTokenCount, thoughtsTokenCount } = last?.usageMetadata ?? {}
  const used = [promptTokenCount, (candidatesTokenCount ?? 0) + (thoughtsTokenCount ?? 0)]
  return { text, finish: last?.candidates?.[0]?.finishReason, used }
}

describe.each([
  ['chat', askChat, 'stop', 'length'],
  ['responses', askResponses, 'completed', 'incomplete'],
  ['generate', askGenerate, 'STOP', 'MAX_TOKENS'],
] as const)('a %s client of a provider that pauses', (_, ask, done, cut) => {
  it.each([false, true])('gets one answer of all its parts (streamed: %s)', async (stream) => {
    provider.pauses = 2
    expect(await ask(stream)).toEqual({ text: 'part 0, part 1, done', finish: done, used: [600, 30] })
    expect(provider.asked.map(({ max_tokens }) => max_tokens)).toEqual([64_000, 63_990, 63_980])
  })

  it.each([false, true])(
    'gets an answer that is not whole where the pauses have no end (streamed: %s)',
    async (stream) => {
      provider.pauses = Number.POSITIVE_INFINITY
      const { text, finish } = await ask(stream)
      expect([text, finish]).toEqual(['part 0, part 1, part 2, part 3, part 4, part 5, ', cut])
      expect(provider.asked.length).toBe(6)
    },
  )
})

describe.each([false, true])('an answer in parts (streamed: %s)', (stream) => {
  it('is one attempt, whose tokens and cost are those of all parts', async () => {
    provider.pauses = 2
    await askChat(stream)
    const { attempts, tokens, usage_detail, cost, routing_signals } = await record()
    expect(attempts.map(({ outcome, status }) => [outcome, status])).toEqual([['answered', 200]])
    expect(tokens).toMatchObject({ input: 600, output: 30, source: 'reported' })
    expect(usage_detail).toMatchObject({ searches: 3 })
    // $3 and $15 a million tokens, and a cent a search.
    expect(cost?.usd).toBeCloseTo((600 * 3 + 30 * 15) / 1e6 + 0.03, 9)
    expect(attempts[0]?.cost).toEqual(cost)
    expect(pauseSignals(routing_signals)).toEqual(['note', 'note'])
  })

  it('ends at the client’s own limit of tokens', async () => {
    provider.pauses = 2
    const { text, finish } = await askChat(stream, { max_tokens: 15 })
    expect([text, finish]).toEqual(['part 0, part 1, ', 'length'])
    expect(provider.asked.map(({ max_tokens }) => max_tokens)).toEqual([15, 5])
    const { routing_signals, tokens } = await record()
    expect(pauseSignals(routing_signals)).toEqual(['note', 'skipped'])
    expect(tokens).toMatchObject({ input: 300, output: 20 })
  })

  it('ends where the budgets have no room for the rest', async () => {
    const name = `small-${stream}`
    // A part costs a cent and a little.
    await gateway.admin.policies.add({ name, budgetUsdMonth: 0.0218 })
    const { key: bounded, id } = await gateway.createKey(name, { policy: name })
    openai = new OpenAI({ apiKey: bounded, baseURL: `${gateway.baseUrl}/v1`, maxRetries: 0, fetch: wire.fetch })
    provider.pauses = 4
    const { text, finish } = await askChat(stream, { max_tokens: 50 })
    expect([text, finish]).toEqual(['part 0, part 1, ', 'length'])
    const { routing_signals, cost } = await record()
    expect(pauseSignals(routing_signals)).toEqual(['note', 'skipped'])
    const [usage] = await gateway.admin.keys.usage({ key: id })
    expect(usage?.periods[0]?.used).toBeCloseTo(cost?.usd ?? 0, 9)
  })

  it('has room for the rest in a budget that is large enough, whatever the limit of the answer', async () => {
    const name = `large-${stream}`
    await gateway.admin.policies.add({ name, budgetUsdMonth: 5 })
    const { key: bounded } = await gateway.createKey(name, { policy: name })
    openai = new OpenAI({ apiKey: bounded, baseURL: `${gateway.baseUrl}/v1`, maxRetries: 0, fetch: wire.fetch })
    provider.pauses = 2
    expect(await askChat(stream)).toMatchObject({ text: 'part 0, part 1, done', finish: 'stop' })
  })

  it('holds what an image comes to for the rest too, and not its length', async () => {
    const name = `image-${stream}`
    await gateway.admin.policies.add({ name, budgetUsdMonth: 0.2 })
    const { key: bounded } = await gateway.createKey(name, { policy: name })
    openai = new OpenAI({ apiKey: bounded, baseURL: `${gateway.baseUrl}/v1`, maxRetries: 0, fetch: wire.fetch })
    provider.pauses = 1
    const url = `data:image/png;base64,iVBORw0KGgoA${'A'.repeat(400_000)}`
    const messages = [{ role: 'user' as const, content: [{ type: 'image_url' as const, image_url: { url } }] }]
    const { text, finish } = await askChat(stream, { messages, max_tokens: 50 })
    expect([text, finish]).toEqual(['part 0, done', 'stop'])
  })

  it('is charged for the parts that came before one that failed', async () => {
    provider.pauses = 2
    provider.fails = { part: 1, status: 529 }
    await expect(askChat(stream)).rejects.toThrow()
    const { attempts, tokens, cost, error } = await record()
    const part = 0.01045
    // A stream has begun by then; a whole answer is asked for once more, from its beginning.
    expect(attempts.map(({ cost: own }) => own?.usd)).toEqual(stream ? [part] : [part, part])
    expect(cost?.usd).toBeCloseTo(part * attempts.length, 9)
    expect(tokens).toMatchObject({ input: 100, output: 10 })
    expect(error?.message).toMatch(/529|503/)
  })

  it('is asked for no more when its client has left', async () => {
    provider.pauses = 2
    const [began, closed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    provider.hangs = { part: 1, began: began.resolve, closed: closed.resolve }
    const leaving = new AbortController()
    const body = { model: 'searching', messages: [{ role: 'user' as const, content: 'search' }], stream }
    const asking = openai.chat.completions
      .create({ ...body, web_search_options: {} }, { signal: leaving.signal })
      .then(async (answer) => {
        if (Symbol.asyncIterator in answer) for await (const _ of answer);
      })
      .catch(() => 'left')
    await began.promise
    leaving.abort()
    await closed.promise
    await asking
    expect(provider.asked.length).toBe(2)
    const settled = async () => (await gateway.admin.requests.list({ limit: 1 }))[0]
    await expect.poll(async () => (await settled())?.status).toBe(499)
    const { attempts, tokens } = await gateway.record((await settled())?.id ?? '')
    expect(attempts.map(({ outcome }) => outcome)).toEqual(['aborted'])
    // What the first part came to, and the input of the second, which was sent.
    expect(tokens).toMatchObject({ output: 10, source: 'estimated' })
    expect(tokens?.input).toBeGreaterThan(100)
  })
})

it('is neither hedged nor sent to a shadow target, since its tools would run twice', async () => {
  provider.pauses = 2
  const options = { hedgeAfter: '50ms', hedgeShare: 100, shadow: 'searcher:claude-sonnet-4-5' }
  await gateway.addRoute('twice', ['searcher:claude-sonnet-4-5'], options)
  const body = { messages: [{ role: 'user' as const, content: 'search' }], web_search_options: {} }
  const { choices } = await openai.chat.completions.create({ ...body, model: 'twice' })
  expect(choices[0]?.message.content).toBe('part 0, part 1, done')
  const { id, attempts, tokens } = await record()
  expect(attempts.length).toBe(1)
  expect(tokens).toMatchObject({ input: 600, output: 30 })
  expect(provider.asked.length).toBe(3)
  expect((await gateway.admin.requests.list({})).filter(({ shadow_of }) => shadow_of === id)).toEqual([])
})
