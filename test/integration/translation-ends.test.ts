import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { spokenText } from '../support/mock-format.ts'
import { type RecordingFetch, recordingFetch } from '../support/recording-fetch.ts'
import { type Stage, setStage, stageModels } from '../support/stage.ts'

let stage: Stage
let wire: RecordingFetch
let openai: OpenAI
let anthropic: Anthropic

const toClaude = `anthropic:${stageModels.anthropic}`
const toGpt = `openai:${stageModels.openai}`
const messages = [{ role: 'user' as const, content: 'hello' }]

beforeAll(async () => {
  stage = await setStage({ config: 'gateway:\n  translate_limit: 64KB\n' })
  const { gateway } = stage
  await gateway.addRoute('claude', [toClaude])
  await gateway.addRoute('gpt', [toGpt])
  await gateway.addRoute('strict', [toClaude], { strict: true })
  await gateway.addRoute('strict-then-own', [toClaude, toGpt], { strict: true })
  await gateway.addRoute('own-then-claude', [toGpt, toClaude], { retries: 0 })
  await gateway.addRoute('answers', [`${toGpt},format=responses`])
  await gateway.addRoute('echoed', [toClaude], { echoModel: true })
})
afterAll(() => stage.close())
beforeEach(() => {
  wire = recordingFetch()
  const place = { apiKey: stage.key, fetch: wire.fetch, maxRetries: 0 }
  openai = new OpenAI({ ...place, baseURL: `${stage.gateway.baseUrl}/v1` })
  anthropic = new Anthropic({ ...place, baseURL: `${stage.gateway.baseUrl}/v1/anthropic` })
})
afterEach(() => {
  stage.assertClean()
})

const record = () => stage.gateway.record(wire.last().headers.get('x-sp-request-id') ?? '')

async function chunksOf<Chunk>(stream: AsyncIterable<Chunk>): Promise<Chunk[]> {
  const chunks: Chunk[] = []
  for await (const chunk of stream) chunks.push(chunk)
  return chunks
}

describe('what is lost', () => {
  it('is named to the client before the first byte, and on the record', async () => {
    await openai.chat.completions.create({ model: 'claude', messages, seed: 7, logit_bias: { 1: 2 } })
    const named = wire.last().headers.get('x-sp-lossy')?.split(', ') ?? []
    expect(named).toEqual(expect.arrayContaining(['seed', 'logit_bias']))
    expect((await record()).losses).toEqual(expect.arrayContaining(['seed', 'logit_bias']))
  })

  it('has no header where nothing is', async () => {
    await openai.chat.completions.create({ model: 'claude', messages })
    expect(wire.last().headers.get('x-sp-lossy')).toBeNull()
    expect((await record()).losses).toEqual([])
  })

  it('is refused on a strict route before any call', async () => {
    const calls = stage.mocks.anthropic.calls.length
    const asked = openai.chat.completions.create({ model: 'strict', messages, seed: 7 })
    await expect(asked).rejects.toMatchObject({ status: 400, code: 'not_translatable', param: 'seed' })
    expect(stage.mocks.anthropic.calls.length).toBe(calls)
    expect((await record()).routing_signals.map(({ text }) => text).join('\n')).toMatch(/seed would be lost/)
    await openai.chat.completions.create({ model: 'strict', messages })
  })

  it('makes a strict route pass over the target, where another one loses nothing', async () => {
    const { usage } = await openai.chat.completions.create({ model: 'strict-then-own', messages, seed: 7 })
    expect(usage?.prompt_tokens).toBe(stage.mocks.openai.usage.input)
    expect(stage.mocks.openai.last.path).toBe('/v1/chat/completions')
    expect((await record()).provider).toBe('openai')
  })

  it('is refused by name whatever the route, where it would change the answer', async () => {
    const asked = openai.chat.completions.create({ model: 'claude', messages, n: 2 })
    await expect(asked).rejects.toMatchObject({ status: 400, code: 'not_translatable', param: 'n' })
  })
})

describe('the way up', () => {
  it('has none of the client’s own vendor', async () => {
    const { response } = await anthropic.messages
      .create(
        { model: 'gpt', max_tokens: 9, messages },
        { headers: { 'anthropic-beta': 'claude-code-20250219,x-1', 'x-own': 'kept' } },
      )
      .withResponse()
    expect(response.headers.get('x-sp-lossy')).toBe('headers.anthropic-beta.x-1')
    const { headers } = stage.mocks.openai.last
    expect([...headers.keys()].filter((name) => /^(anthropic|x-stainless|x-api-key)/.test(name))).toEqual([])
    expect(headers.get('x-own')).toBe('kept')
    expect(headers.get('content-type')).toBe('application/json')
  })

  it('has what the provider’s own vendor tries out', async () => {
    const { response } = await openai.chat.completions
      .create({ model: 'claude', messages }, { headers: { 'anthropic-beta': 'x-1', 'openai-beta': 'x=2' } })
      .withResponse()
    expect(stage.mocks.anthropic.last.headers.get('anthropic-beta')).toBe('x-1')
    expect(response.headers.get('x-sp-lossy')).toBe('headers.openai-beta.x=2')
  })

  it('ends at a body that is larger than what is translated', async () => {
    const long = [{ role: 'user' as const, content: 'x'.repeat(70_000) }]
    const asked = openai.chat.completions.create({ model: 'claude', messages: long })
    await expect(asked).rejects.toMatchObject({ status: 413, code: 'request_too_large' })
    await openai.chat.completions.create({ model: 'gpt', messages: long })
  })

  it('is an own request for each provider that is asked', async () => {
    const turn = stage.mocks.openai.next({ status: 503 })
    const { choices } = await openai.chat.completions.create({ model: 'own-then-claude', messages })
    await turn.call
    expect(choices[0]?.message.content).toBe(spokenText)
    expect(stage.mocks.anthropic.last.path).toBe('/v1/messages')
    expect((await record()).attempts.map(({ provider, outcome }) => [provider, outcome])).toEqual([
      ['openai', 'fallback'],
      ['anthropic', 'answered'],
    ])
  })
})

describe('an answer that nobody can read', () => {
  it('fails for its client, and is charged all the same', async () => {
    const priced = { model: stageModels.anthropic, input: 1, output: 2 }
    await stage.gateway.admin.prices.set(priced)
    const body = JSON.stringify({ type: 'message', content: 'no list', usage: { input_tokens: 9, output_tokens: 3 } })
    for (let tries = 0; tries < 2; tries++) stage.mocks.anthropic.next({ body })
    await expect(openai.chat.completions.create({ model: 'claude', messages })).rejects.toMatchObject({ status: 502 })
    const { attempts, cost, error } = await record()
    expect(error).toMatchObject({ code: 'provider_bad_response' })
    expect(attempts.map((each) => each.cost?.usd ?? 0)).toEqual([expect.any(Number), expect.any(Number)])
    for (const { cost: charged } of attempts) expect(charged?.usd).toBeGreaterThan(0)
    expect(cost?.usd).toBeCloseTo(
      attempts.reduce((sum, each) => sum + (each.cost?.usd ?? 0), 0),
      9,
    )
  })
})

describe('a provider’s error', () => {
  it('comes in the client’s shape, with the status that this has for it', async () => {
    stage.mocks.anthropic.next({
      status: 400,
      body: JSON.stringify({ type: 'error', error: { type: 'invalid_request_error', message: 'bad thing' } }),
    })
    const asked = openai.chat.completions.create({ model: 'claude', messages })
    await expect(asked).rejects.toMatchObject({
      status: 400,
      type: 'invalid_request_error',
      message: expect.stringContaining('bad thing'),
    })
    const { headers } = wire.last()
    expect(headers.get('x-sp-error')).toBe('provider_error')
    expect(headers.get('x-sp-error-origin')).toBe('provider')
    expect((await record()).error).toMatchObject({ code: 'provider_error' })
  })

  it('keeps what its own status was on the record', async () => {
    for (let tries = 0; tries < 2; tries++) stage.mocks.anthropic.next({ status: 529 })
    await expect(openai.chat.completions.create({ model: 'claude', messages })).rejects.toMatchObject({ status: 503 })
    const { attempts, status } = await record()
    expect([status, ...attempts.map((each) => each.status)]).toEqual([503, 529, 529])
  })

  it('in a stream before any content is one with a status', async () => {
    const error = { type: 'error', error: { type: 'invalid_request_error', message: 'no such thing' } }
    stage.mocks.anthropic.next({ events: [`event: error\ndata: ${JSON.stringify(error)}\n\n`] })
    const asked = openai.chat.completions.create({ model: 'claude', messages, stream: true })
    await expect(asked).rejects.toMatchObject({ status: 400, message: expect.stringContaining('no such thing') })
  })

  it('in the midst of a stream is the client’s own error event', async () => {
    stage.mocks.anthropic.next({ errorEventAfter: 5 })
    const stream = await openai.chat.completions.create({ model: 'claude', messages, stream: true })
    await expect(chunksOf(stream)).rejects.toThrow(/scripted/)
    expect((await record()).error).toMatchObject({ code: 'provider_error' })
  })

  it.each(['answers', stageModels.openai])(
    'in the midst of a stream of responses is an event of its own (%s)',
    async (model) => {
      stage.mocks.openai.next({ errorEventAfter: 6 })
      const asked =
        model === 'answers'
          ? chunksOf(await anthropic.messages.create({ model, max_tokens: 9, messages, stream: true }))
          : chunksOf(await openai.responses.create({ model, input: 'hello', stream: true }))
      await expect(asked).rejects.toThrow(/scripted/)
      expect(stage.mocks.openai.last.answerBody.toString()).toContain('event: error')
      expect((await record()).error).toMatchObject({
        code: 'provider_error',
        message: expect.stringContaining('scripted'),
      })
    },
  )

  it('that is a stream without its end is the client’s own error event too', async () => {
    stage.mocks.openai.next({ endAfterEvents: 3 })
    const stream = anthropic.messages.stream({ model: 'gpt', max_tokens: 9, messages })
    await expect(stream.finalMessage()).rejects.toThrow()
    expect((await record()).error).toMatchObject({ code: 'provider_bad_response' })
  })
})

describe('an answer', () => {
  it('that is none in its format falls back, or is a bad response', async () => {
    for (let tries = 0; tries < 2; tries++) stage.mocks.anthropic.next({ body: '["no message"]' })
    const asked = openai.chat.completions.create({ model: 'claude', messages })
    await expect(asked).rejects.toMatchObject({ status: 502, code: 'provider_bad_response' })
  })

  it('shows the client’s name for the model where the route says so, whole and streamed', async () => {
    expect((await openai.chat.completions.create({ model: 'echoed', messages })).model).toBe('echoed')
    const chunks = await chunksOf(
      await openai.chat.completions.create({
        model: 'echoed',
        messages,
        stream: true,
        stream_options: { include_usage: true },
      }),
    )
    expect(new Set(chunks.map(({ model }) => model))).toEqual(new Set(['echoed']))
    expect(chunks.at(-1)?.usage?.completion_tokens).toBe(stage.mocks.anthropic.usage.output)
  })

  it('has the gateway’s id, and none of the provider’s headers', async () => {
    const { response } = await openai.chat.completions.create({ model: 'claude', messages }).withResponse()
    expect(response.headers.get('x-request-id')).toBe(response.headers.get('x-sp-request-id'))
    expect([...response.headers.keys()].filter((name) => /^(anthropic|request-id|cf-)/.test(name))).toEqual([])
    expect((await record()).provider_request_id).toMatch(/^req_anthropic_/)
  })

  it('runs through the SDK’s own loop of tools', async () => {
    const looked: unknown[] = []
    const look = {
      name: 'look',
      description: 'Looks.',
      parameters: { type: 'object' },
      parse: JSON.parse,
      function: (input: object) => {
        looked.push(input)
        return 'blue'
      },
    }
    const tools = [{ type: 'function' as const, function: look }]
    await openai.chat.completions.runTools({ model: 'claude', messages, tools }, { maxChatCompletions: 2 }).done()
    expect(looked).toEqual([{ at: 'the sky' }, { at: 'the sky' }])
    const sent = JSON.parse(stage.mocks.anthropic.last.body.toString())
    expect(sent.messages.map(({ role }: { role: string }) => role)).toEqual(['user', 'assistant', 'user'])
    expect(sent.messages[2].content[0]).toMatchObject({ type: 'tool_result', tool_use_id: 'toolu_mock' })
  })
})

describe('content rules', () => {
  const secret = 'sk-proj-Abc123Def456Ghi789'
  const asked = [{ role: 'user' as const, content: 'Write to jane@example.com, please.' }]
  let client: OpenAI

  beforeAll(async () => {
    const { admin } = stage.gateway
    const rules = [
      { name: 'mail', detector: 'email-addresses', action: 'redact', on: ['prompt'], reversible: true },
      { name: 'secret', detector: 'secrets', action: 'redact', on: ['answer'] },
    ]
    await admin.policies.add({ name: 'content', contentRules: { 'rules.json': JSON.stringify({ rules }) } })
    const { key } = await stage.gateway.createKey('ruled', { policy: 'content' })
    client = new OpenAI({ apiKey: key, baseURL: `${stage.gateway.baseUrl}/v1`, maxRetries: 0 })
  })

  const event = (value: { type: string; [member: string]: unknown }) =>
    `event: ${value.type}\ndata: ${JSON.stringify(value)}\n\n`
  const usage = { input_tokens: 3, output_tokens: 4 }
  const delta = (text: string) => event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })

  it('redact the prompt before it is translated, and put back in the translated answer what was', async () => {
    const content = [{ type: 'text', text: `to [EMAIL_1]: ${secret}` }]
    const message = {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'm',
      content,
      stop_reason: 'end_turn',
      usage,
    }
    stage.mocks.anthropic.next({ body: JSON.stringify(message) })
    const { choices } = await client.chat.completions.create({ model: 'claude', messages: asked })
    expect(stage.mocks.anthropic.last.body.toString()).toContain('[EMAIL_1]')
    expect(stage.mocks.anthropic.last.body.toString()).not.toContain('jane@example.com')
    expect(choices[0]?.message.content).toContain('to jane@example.com: ')
    expect(choices[0]?.message.content).not.toContain(secret)
  })

  it('see a translated stream in the client’s format, over its events', async () => {
    const message = { id: 'msg_2', type: 'message', role: 'assistant', model: 'm', content: [], usage }
    const events = [
      event({ type: 'message_start', message }),
      event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
      delta('to [EMA'),
      delta('IL_1]: sk-proj-Abc123'),
      delta('Def456Ghi789'),
      event({ type: 'content_block_stop', index: 0 }),
      event({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage }),
      event({ type: 'message_stop' }),
    ]
    stage.mocks.anthropic.next({ events })
    const chunks = await chunksOf(
      await client.chat.completions.create({ model: 'claude', messages: asked, stream: true }),
    )
    const text = chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('')
    expect(text).toMatch(/^to jane@example\.com: /)
    expect(text).not.toContain('Def456')
    expect(chunks.at(-1)?.choices[0]?.finish_reason).toBe('stop')
  })
})

// Last, since both providers fail in it.
it('litellm 38610: the error of a fallback that fails as well is one with a status, and no stream', async () => {
  const error = { type: 'error', error: { type: 'api_error', message: 'broken inside' } }
  const broken = { events: [`event: error\ndata: ${JSON.stringify(error)}\n\n`] }
  stage.mocks.openai.next({ status: 500 })
  stage.mocks.anthropic.next(broken)
  const asked = openai.chat.completions.create({ model: 'own-then-claude', messages, stream: true })
  await expect(asked).rejects.toMatchObject({ status: expect.any(Number) })
  expect(wire.last().status).toBeGreaterThanOrEqual(500)
  expect(wire.last().headers.get('content-type')).toContain('application/json')
})

it('a call that the model broke is no failure of its provider', async () => {
  const { gateway, mocks } = stage
  await gateway.addRoute('to-gemini', [`gemini:${stageModels.gemini}`], { retries: 0 })
  const candidate = { finishReason: 'MALFORMED_FUNCTION_CALL', finishMessage: 'Malformed function call: f(' }
  const body = JSON.stringify({ candidates: [candidate], modelVersion: 'gemini', responseId: 'r' })
  for (let attempt = 0; attempt < 12; attempt++) {
    mocks.gemini.next({ body })
    const ask = openai.chat.completions.create({ model: 'to-gemini', messages })
    await expect(ask).rejects.toMatchObject({ status: 502, code: 'provider_bad_response' })
  }
  const { choices } = await openai.chat.completions.create({ model: 'to-gemini', messages })
  expect(choices[0]?.message.content).toBe(spokenText)
})
