import Anthropic from '@anthropic-ai/sdk'
import Anthropic0 from 'anthropic-sdk-0'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { spokenText } from '../support/mock-format.ts'
import { type MockProvider, sha256 } from '../support/mock-provider.ts'
import { type RecordingFetch, recordingFetch } from '../support/recording-fetch.ts'
import { type Stage, setStage, stageModels } from '../support/stage.ts'

let stage: Stage
let mock: MockProvider
let wire: RecordingFetch
const model = 'claude-opus-5-5'

beforeAll(async () => {
  stage = await setStage()
  mock = stage.mocks.anthropic
})
afterAll(() => stage.close())
beforeEach(() => {
  wire = recordingFetch()
})

// The calls used here are the same in both, whose classes TypeScript tells apart by their private members.
const majors: [string, typeof Anthropic, string][] = [
  ['@anthropic-ai/sdk 1', Anthropic, '2026-10-21'],
  ['@anthropic-ai/sdk 0', Anthropic0 as unknown as typeof Anthropic, '2023-06-01'],
]

describe.each(majors)('%s', (_name, Client, version) => {
  let client: Anthropic
  beforeEach(() => {
    const baseURL = `${stage.gateway.baseUrl}/v1/anthropic`
    client = new Client({ apiKey: stage.key, baseURL, fetch: wire.fetch, maxRetries: 0 })
  })

  /** The bytes that left the SDK reached the provider, the provider's reached the SDK, and the record says so. */
  async function expectPassed(): Promise<void> {
    const seen = mock.last
    const exchange = wire.last()
    expect(seen.sha256).toBe(exchange.requestSha256)
    expect(seen.headers.get('anthropic-version')).toBe(version)
    expect(sha256(await exchange.body)).toBe(seen.answerSha256)
    expect(exchange.headers.get('request-id')).toBe(`req_anthropic_${seen.number}`)
    const record = await stage.expectRecord(exchange.headers.get('x-sp-request-id'), seen, 'anthropic')
    expect(record.provider_request_id).toBe(`req_anthropic_${seen.number}`)
    stage.assertClean()
  }

  const call = { model, max_tokens: 64, messages: [{ role: 'user' as const, content: 'hello' }] }
  const tools = [{ name: 'look', input_schema: { type: 'object' as const } }]

  it('messages', async () => {
    const message = await client.messages.create(call)
    expect(message.content).toEqual([{ type: 'text', text: spokenText }])
    expect(message._request_id).toBe(`req_anthropic_${mock.last.number}`)
    await expectPassed()
  })

  it('streamed messages', async () => {
    let text = ''
    const names: string[] = []
    for await (const event of await client.messages.create({ ...call, stream: true })) {
      names.push(event.type)
      if (event.type === 'content_block_delta' && event.delta.type === 'text_delta') text += event.delta.text
    }
    expect(text).toBe(spokenText)
    expect(names.at(-1)).toBe('message_stop')
    await expectPassed()
  })

  it('the stream helper, with a tool’s input put together', async () => {
    const final = await client.messages.stream({ ...call, tools }).finalMessage()
    expect(final.content).toMatchObject([{ type: 'tool_use', name: 'look', input: { at: 'the sky' } }])
    expect(final.usage.output_tokens).toBe(mock.usage.output)
    await expectPassed()
  })

  it('messages with a tool, whole', async () => {
    const message = await client.messages.create({ ...call, tools })
    expect(message.stop_reason).toBe('tool_use')
    await expectPassed()
  })

  it('beta messages: anthropic-beta arrives as it was sent', async () => {
    await client.beta.messages.create({ ...call, betas: ['context-1m-2025-08-07', 'tomorrow-2027-01-01'] })
    const betas = mock.last.headers.get('anthropic-beta')
    expect(betas).toBe('context-1m-2025-08-07,tomorrow-2027-01-01')
    const { search } = new URL(wire.last().url)
    expect(mock.last.target).toBe(`/v1/messages${search}`)
    await expectPassed()
  })

  it('count_tokens', async () => {
    const { model: _, max_tokens: __, ...rest } = call
    const count = await client.messages.countTokens({ model, ...rest })
    expect(count.input_tokens).toBe(mock.usage.input)
    expect(mock.last.path).toBe('/v1/messages/count_tokens')
    expect(mock.last.sha256).toBe(wire.last().requestSha256)
    const record = await stage.gateway.record(wire.last().headers.get('x-sp-request-id') ?? '')
    expect(record).toMatchObject({ status: 200, operation: 'count_tokens', lane: 'anthropic' })
    stage.assertClean()
  })

  it('models: what the key may use, and nothing of the provider', async () => {
    const calls = mock.requests.length
    const page = await client.models.list()
    // Those of other formats are translated.
    expect(page.data.map((entry) => entry.id)).toEqual(Object.values(stageModels).sort())
    expect(page.data[0]).toMatchObject({ type: 'model', display_name: expect.any(String) })
    expect((await client.models.retrieve(model)).id).toBe(model)
    await expect(client.models.retrieve('claude-9')).rejects.toBeInstanceOf(Client.NotFoundError)
    expect(mock.requests.length).toBe(calls)
  })

  it('a provider error: class, details and request id are the provider’s own', async () => {
    const body =
      '{"type":"error","error":{"type":"invalid_request_error","message":"tool name conflict","details":{"error_code":"tool_name_conflict"}},"request_id":"req_x"}'
    mock.next({ status: 400, body })
    const failure = await client.messages.create(call).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(Client.BadRequestError)
    expect((await wire.last().body).toString()).toBe(body)
    expect(wire.last().headers.get('request-id')).toBe(`req_anthropic_${mock.last.number}`)
    expect(wire.last().headers.get('x-sp-error')).toBe('provider_error')
  })
})

it('a message thread that the key does not have: the SDK sends the whole conversation again', async () => {
  const { admin, baseUrl } = stage.gateway
  await admin.environments.add({ name: 'elsewhere', project: 'default' })
  await stage.gateway.addRoute(model, ['anthropic'], { environment: 'elsewhere' })
  const other = await stage.gateway.createKey('elsewhere', { environment: 'elsewhere' })
  const baseURL = `${baseUrl}/v1/anthropic`
  const client = new Anthropic({ apiKey: stage.key, baseURL, fetch: wire.fetch, maxRetries: 0 })
  const thread = client.beta.messages.thread({ model, max_tokens: 64 })
  await thread.send({ role: 'user', content: 'one' })
  await thread.send({ role: 'user', content: 'two' })
  const previous = thread.previousMessageId
  const sent = (body: Buffer) => JSON.parse(body.toString())
  expect(sent(wire.last().requestBody)).toMatchObject({ thread: { previous_message_id: expect.any(String) } })
  expect(wire.exchanges.map(({ status }) => status)).toEqual([200, 200])

  client.apiKey = other.key
  const reply = await thread.send({ role: 'user', content: 'three' })
  expect(reply.content).toEqual([{ type: 'text', text: spokenText }])
  const [rejected, replayed] = wire.exchanges.slice(2)
  expect([rejected?.status, replayed?.status]).toEqual([404, 200])
  expect(sent((await rejected?.body) ?? Buffer.alloc(0))).toMatchObject({
    error: { type: 'not_found_error', details: { error_code: 'thread_not_found' } },
  })
  const said = sent(replayed?.requestBody ?? Buffer.alloc(0)).messages.map(({ role }: { role: string }) => role)
  expect(said).toEqual(['user', 'assistant', 'user', 'assistant', 'user'])
  expect(thread.previousMessageId).not.toBe(previous)
  stage.assertClean()
})
