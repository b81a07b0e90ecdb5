import OpenAI from 'openai'
import OpenAI6 from 'openai-6'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { parseObject, spokenText } from '../support/mock-format.ts'
import { type MockProvider, sha256 } from '../support/mock-provider.ts'
import { type RecordingFetch, recordingFetch } from '../support/recording-fetch.ts'
import { type Stage, setStage, stageModels } from '../support/stage.ts'

let stage: Stage
let mock: MockProvider
let wire: RecordingFetch
const model = 'gpt-4o-mini'

beforeAll(async () => {
  stage = await setStage()
  mock = stage.mocks.openai
  for (const other of ['text-embedding-3-small', 'omni-moderation-latest', 'gpt-3.5-turbo-instruct']) {
    await stage.gateway.addRoute(other, ['openai'])
  }
})
afterAll(() => stage.close())
beforeEach(() => {
  wire = recordingFetch()
})

// The calls used here are the same in both majors, whose classes TypeScript tells apart by their private members.
const majors: [string, typeof OpenAI][] = [
  ['openai 7', OpenAI],
  ['openai 6', OpenAI6 as unknown as typeof OpenAI],
]

describe.each(majors)('%s', (_name, Client) => {
  let client: OpenAI
  beforeEach(() => {
    client = new Client({ apiKey: stage.key, baseURL: `${stage.gateway.baseUrl}/v1`, fetch: wire.fetch, maxRetries: 0 })
  })

  /** The bytes that left the SDK reached the provider, the provider's reached the SDK, and the record says so. */
  async function expectPassed(): Promise<void> {
    const seen = mock.last
    const exchange = wire.last()
    expect(seen.sha256).toBe(exchange.requestSha256)
    expect(sha256(await exchange.body)).toBe(seen.answerSha256)
    expect(exchange.headers.get('x-request-id')).toBe(`req_openai_${seen.number}`)
    const record = await stage.expectRecord(exchange.headers.get('x-sp-request-id'), seen, 'openai')
    expect(record.provider_request_id).toBe(`req_openai_${seen.number}`)
    stage.assertClean()
  }

  const messages = [{ role: 'user' as const, content: 'hello' }]

  it('chat completions', async () => {
    const { data, request_id } = await client.chat.completions.create({ model, messages }).withResponse()
    expect(data.choices[0]?.message.content).toBe(spokenText)
    expect(data.usage?.total_tokens).toBe(mock.usage.input + mock.usage.output)
    expect(request_id).toBe(`req_openai_${mock.last.number}`)
    await expectPassed()
  })

  it('chat completions with a tool', async () => {
    const tools = [{ type: 'function' as const, function: { name: 'look', parameters: { type: 'object' } } }]
    const data = await client.chat.completions.create({ model, messages, tools })
    expect(data.choices[0]?.finish_reason).toBe('tool_calls')
    await expectPassed()
  })

  it('streamed chat completions with usage asked for', async () => {
    const stream = await client.chat.completions.create({
      model,
      messages,
      stream: true,
      stream_options: { include_usage: true },
    })
    let text = ''
    let total: number | undefined
    for await (const chunk of stream) {
      text += chunk.choices[0]?.delta.content ?? ''
      total = chunk.usage?.total_tokens ?? total
    }
    expect(text).toBe(spokenText)
    expect(total).toBe(mock.usage.input + mock.usage.output)
    await expectPassed()
  })

  it('streamed chat completions without usage: asked for on the way up, hidden on the way down, on the record', async () => {
    const stream = await client.chat.completions.create({ model, messages, stream: true })
    const chunks = []
    for await (const chunk of stream) chunks.push(chunk)
    expect(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('')).toBe(spokenText)
    expect(chunks.every((chunk) => chunk.choices.length === 1 && !('usage' in chunk))).toBe(true)
    const sent = parseObject(wire.last().requestBody)
    expect(parseObject(mock.last.body)).toEqual({ ...sent, stream_options: { include_usage: true } })
    await stage.expectRecord(wire.last().headers.get('x-sp-request-id'), mock.last, 'openai')
    expect(mock.last.usage).not.toBeNull()
    stage.assertClean()
  })

  it('the chat stream helper, with tool calls put together', async () => {
    const tools = [{ type: 'function' as const, function: { name: 'look', parameters: { type: 'object' } } }]
    const runner = client.chat.completions.stream({ model, messages, tools, stream_options: { include_usage: true } })
    const final = await runner.finalChatCompletion()
    const call = final.choices[0]?.message.tool_calls?.[0]
    expect(call?.type === 'function' && call.function.arguments).toBe('{"at":"the sky"}')
    await expectPassed()
  })

  it('legacy completions, whole and streamed', async () => {
    const legacy = 'gpt-3.5-turbo-instruct'
    const data = await client.completions.create({ model: legacy, prompt: 'hello' })
    expect(data.choices[0]?.text).toBe(spokenText)
    await expectPassed()
    const stream = await client.completions.create({
      model: legacy,
      prompt: 'hello',
      stream: true,
      stream_options: { include_usage: true },
    })
    let text = ''
    for await (const chunk of stream) text += chunk.choices[0]?.text ?? ''
    expect(text).toBe(spokenText)
    await expectPassed()
  })

  it('responses, whole and streamed', async () => {
    const data = await client.responses.create({ model, input: 'hello' })
    expect(data.output_text).toBe(spokenText)
    await expectPassed()
    const stream = await client.responses.create({ model, input: 'hello', stream: true })
    let text = ''
    let last = ''
    for await (const event of stream) {
      if (event.type === 'response.output_text.delta') text += event.delta
      last = event.type
    }
    expect([text, last]).toEqual([spokenText, 'response.completed'])
    await expectPassed()
  })

  it('the responses stream helper', async () => {
    const final = await client.responses.stream({ model, input: 'hello' }).finalResponse()
    expect(final.output_text).toBe(spokenText)
    await expectPassed()
  })

  it('embeddings, with the base64 that the SDK asks for and as floats', async () => {
    const input = ['one', 'two']
    const packed = await client.embeddings.create({ model: 'text-embedding-3-small', input })
    expect(packed.data.map((entry) => entry.embedding)).toEqual([
      [0.25, -0.5, 1],
      [0.25, -0.5, 2],
    ])
    await expectPassed()
    const plain = await client.embeddings.create({ model: 'text-embedding-3-small', input, encoding_format: 'float' })
    expect(plain.data[1]?.embedding).toEqual([0.25, -0.5, 2])
    await expectPassed()
  })

  it('moderations', async () => {
    const data = await client.moderations.create({ model: 'omni-moderation-latest', input: 'hello' })
    expect(data.results[0]?.flagged).toBe(false)
    await expectPassed()
  })

  it('models: what the key may use, and nothing of the provider', async () => {
    const calls = mock.requests.length
    const page = await client.models.list()
    // Those of other formats are translated.
    const own = ['gpt-3.5-turbo-instruct', 'omni-moderation-latest', 'text-embedding-3-small']
    expect(page.data.map((entry) => entry.id).sort()).toEqual([...own, ...Object.values(stageModels)].sort())
    expect(page.data.every((entry) => entry.object === 'model' && typeof entry.created === 'number')).toBe(true)
    expect((await client.models.retrieve(model)).id).toBe(model)
    await expect(client.models.retrieve('gpt-9')).rejects.toBeInstanceOf(Client.NotFoundError)
    const record = await stage.gateway.record(wire.last().headers.get('x-sp-request-id') ?? '')
    expect(record).toMatchObject({ status: 404, error: { code: 'model_not_found' }, operation: 'models.get' })
    expect(mock.requests.length).toBe(calls)
  })

  it('a provider error: class, body and request id are the provider’s own', async () => {
    const body =
      '{"error": {"message": "context too long", "type": "invalid_request_error", "param": "messages", "code": "context_length_exceeded"}}'
    mock.next({ status: 400, body })
    const failure = await client.chat.completions.create({ model, messages }).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(Client.BadRequestError)
    expect(failure).toMatchObject({ code: 'context_length_exceeded', param: 'messages' })
    expect((await wire.last().body).toString()).toBe(body)
    expect(wire.last().headers.get('x-sp-error')).toBe('provider_error')
    expect(wire.last().headers.get('x-sp-error-origin')).toBe('provider')
  })
})
