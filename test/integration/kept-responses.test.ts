import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import OpenAI from 'openai'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { listen } from '../support/listen.ts'

/** A provider of another format, without state: it says what it was asked, or calls the tool where it is told to. */
const asked: { messages: { role: string; content: unknown }[] }[] = []
const provider: Server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const body = JSON.parse(Buffer.concat(chunks).toString())
    asked.push(body)
    const calls = JSON.stringify(body.messages.at(-1)).includes('look at it')
    const block = calls
      ? { type: 'tool_use', id: `toolu_${asked.length}`, name: 'look', input: {} }
      : { type: 'text', text: `answer ${asked.length}` }
    const message = {
      id: `msg_number${String(asked.length).padStart(4, '0')}`,
      type: 'message',
      role: 'assistant',
      model: body.model,
      content: [block],
      stop_reason: calls ? 'tool_use' : 'end_turn',
      stop_sequence: null,
      usage: { input_tokens: 5, output_tokens: 3 },
    }
    response.writeHead(200, { 'content-type': body.stream ? 'text/event-stream' : 'application/json' })
    response.end(body.stream ? streamed(message, block) : JSON.stringify(message))
  })
})

function streamed(message: { stop_reason: string; usage: object }, block: { text?: string }): string {
  const events = [
    { type: 'message_start', message: { ...message, content: [], stop_reason: null } },
    { type: 'content_block_start', index: 0, content_block: block.text === undefined ? block : { ...block, text: '' } },
    ...(block.text === undefined
      ? []
      : [{ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: block.text } }]),
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: message.stop_reason, stop_sequence: null }, usage: message.usage },
    { type: 'message_stop' },
  ]
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('')
}

let dataDirectory: string
let gateway: TestGateway
let key: string
let stranger: string
const options = () => ({ dataDirectory, config: 'gateway:\n  workers: 2\n  body_limit: 2MB\n' })
const client = (apiKey = key) => new OpenAI({ apiKey, baseURL: `${gateway.baseUrl}/v1`, maxRetries: 0 })
const lastTurns = () =>
  asked
    .at(-1)
    ?.messages.map(({ role, content }) => [role, JSON.stringify(content)].join(' '))
    .join('\n') ?? ''

beforeAll(async () => {
  dataDirectory = mkdtempSync(join(tmpdir(), 'kept-'))
  const origin = await listen(provider)
  gateway = await startGateway(options())
  const place = { name: 'stateless', kind: 'anthropic', baseUrl: origin, credential: 'sk-ant-x', skipCheck: true }
  await gateway.admin.providers.add(place)
  const targets = ['stateless:claude-sonnet-4-5']
  await gateway.admin.routes.add({ model: 'kept', targets, keepResponses: '1h', strict: true })
  await gateway.admin.routes.add({ model: 'plain', targets })
  await gateway.admin.projects.add({ name: 'other' })
  await gateway.admin.environments.add({ project: 'other', name: 'production' })
  await gateway.admin.routes.add({ model: 'kept', project: 'other', targets, keepResponses: '1h' })
  key = (await gateway.createKey('ci')).key
  stranger = (await gateway.createKey('stranger', { project: 'other' })).key
})
afterAll(async () => {
  await gateway.stop()
  provider.closeAllConnections()
  provider.close()
  rmSync(dataDirectory, { recursive: true, force: true })
})

it('openclaw 88499: an answer that the gateway does not keep says `store: false`, and cannot be continued', async () => {
  const answer = await client().responses.create({ model: 'plain', input: 'hi' })
  expect(answer).toMatchObject({ store: false, previous_response_id: null })
  const next = client().responses.create({ model: 'plain', input: 'and?', previous_response_id: answer.id })
  await expect(next).rejects.toMatchObject({ status: 400, code: 'previous_response_not_found' })
})

it('litellm 26147: goes on from `previous_response_id` over streams, a kill and a restart', async () => {
  const first = await client().responses.create({ model: 'kept', input: 'one', store: true, instructions: 'Be brief.' })
  expect(first).toMatchObject({ store: true, previous_response_id: null })
  await gateway.kill('SIGKILL')
  gateway = await startGateway(options())
  const stream = client().responses.stream({ model: 'kept', input: 'two', previous_response_id: first.id })
  const second = await stream.finalResponse()
  expect(second).toMatchObject({ store: true, previous_response_id: first.id })
  // Instructions are not inherited.
  expect(lastTurns()).not.toContain('Be brief')
  const third = await client().responses.create({ model: 'kept', input: 'three', previous_response_id: second.id })
  const order = ['one', first.output_text, 'two', second.output_text, 'three'].map((text) => lastTurns().indexOf(text))
  expect(order.every((at, index) => at >= 0 && at > (order[index - 1] ?? -1))).toBe(true)
  const [newest] = await gateway.admin.requests.list({ limit: 1 })
  const record = await gateway.record(newest?.id ?? '')
  expect(record).toMatchObject({ losses: [], status: 200 })
  expect(JSON.stringify(record)).toContain('Continues from 2 responses that the gateway keeps.')

  const read = await client().responses.retrieve(third.id)
  expect(read.output_text).toBe(third.output_text)
  const items = await client().responses.inputItems.list(third.id, { order: 'asc' })
  expect(items.data).toHaveLength(5)
  await expect(client().responses.cancel(third.id)).rejects.toMatchObject({ status: 400 })
  await expect(client().responses.retrieve(third.id, { stream: true })).rejects.toMatchObject({ param: 'stream' })
})

it('resolves items that the AI SDK names by their ids alone', async () => {
  const tools = [{ type: 'function' as const, name: 'look', parameters: { type: 'object' }, strict: false }]
  const first = await client().responses.create({ model: 'kept', input: 'look at it', tools })
  const [call] = first.output
  expect(call).toMatchObject({ type: 'function_call' })
  const id = call?.id ?? ''
  const callId = call?.type === 'function_call' ? call.call_id : ''
  await client().responses.create({
    model: 'kept',
    tools,
    input: [
      { role: 'user', content: 'look at it' },
      { type: 'item_reference', id },
      { type: 'function_call_output', call_id: callId, output: 'blue' },
    ],
  })
  expect(asked.at(-1)?.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user'])
  expect(lastTurns()).toContain('tool_use')
})

it('is held in budgets with all that it goes on from', async () => {
  const { key: poor } = await gateway.createKey('poor')
  await gateway.admin.policies.add({ name: 'poor', budgetTokensDay: 3000, attach: ['key:default/production/poor'] })
  const ask = (more: object) =>
    client(poor).responses.create({ model: 'kept', input: 'word '.repeat(1600), max_output_tokens: 16, ...more })
  const first = await ask({})
  // Alone it would fit, as the first did.
  const next = ask({ previous_response_id: first.id })
  await expect(next).rejects.toMatchObject({ status: 429 })
  await ask({})
})

it('keeps every turn of a long conversation that came with a request', async () => {
  const input = Array.from({ length: 40 }, (_, index) => ({
    role: index % 2 === 0 ? ('user' as const) : ('assistant' as const),
    content: `turn ${index}.`,
  }))
  const first = await client().responses.create({ model: 'kept', input: [...input, { role: 'user', content: 'last' }] })
  const items = await client().responses.inputItems.list(first.id, { order: 'asc', limit: 100 })
  expect(items.data.map((item) => 'content' in item && item.content)).toEqual([
    ...input.map(({ content }) => content),
    'last',
  ])
  await client().responses.create({ model: 'kept', input: 'on', previous_response_id: first.id })
  const turns = lastTurns()
  const places = [...input.map(({ content }) => content), 'last', 'on'].map((text) => turns.indexOf(text))
  expect(places).toEqual(places.filter((at) => at >= 0).toSorted((one, other) => one - other))
})

it('goes on from all of a conversation, however long', async () => {
  let previous: string | null = null
  for (let turn = 0; turn < 103; turn++) {
    const input = `say ${turn}.`
    previous = (await client().responses.create({ model: 'kept', input, previous_response_id: previous })).id
  }
  const turns = lastTurns().match(/say \d+\./g)
  expect(turns).toEqual(Array.from({ length: 103 }, (_, turn) => `say ${turn}.`))
  const first = await client().responses.inputItems.list(previous ?? '', { order: 'asc', limit: 1 })
  expect(first.data[0]).toMatchObject({ content: 'say 0.' })
})

it("another project's id, a deleted one, and one that nobody has, are not found", async () => {
  const mine = await client().responses.create({ model: 'kept', input: 'mine' })
  const foreign = client(stranger)
  await expect(foreign.responses.retrieve(mine.id)).rejects.toMatchObject({ status: 404 })
  await expect(foreign.responses.delete(mine.id)).rejects.toMatchObject({ status: 404 })
  const next = { model: 'kept', input: 'x', previous_response_id: mine.id }
  await expect(foreign.responses.create(next)).rejects.toMatchObject({ code: 'previous_response_not_found' })
  await client().responses.delete(mine.id)
  await expect(client().responses.retrieve(mine.id)).rejects.toMatchObject({ status: 404 })
  await expect(client().responses.create(next)).rejects.toMatchObject({ code: 'previous_response_not_found' })
})

it('macprovider 830: keeps nothing for a client that asks not to, nor what is too long', async () => {
  const unkept = await client().responses.create({ model: 'kept', input: 'x', store: false })
  expect(unkept).toMatchObject({ store: false })
  await expect(client().responses.retrieve(unkept.id)).rejects.toMatchObject({ status: 404 })
  const long = await client().responses.create({ model: 'kept', input: 'word '.repeat(200_000) })
  expect(long).toMatchObject({ store: false })
  await expect(client().responses.retrieve(long.id)).rejects.toMatchObject({ status: 404 })
})

it('reads no more at once than a request may be long', async () => {
  const ids: string[] = []
  for (let turn = 0; turn < 3; turn++) {
    const { output } = await client().responses.create({ model: 'kept', input: `${turn} `.repeat(400_000) })
    ids.push(output[0]?.id ?? '')
  }
  const ask = (named: readonly string[]) =>
    client().responses.create({
      model: 'kept',
      input: [
        { role: 'user', content: 'begin' },
        ...named.map((id) => ({ type: 'item_reference' as const, id })),
        { role: 'user', content: 'on' },
      ],
    })
  expect((await ask(ids.slice(0, 2))).output_text).not.toBe('')
  await expect(ask(ids)).rejects.toMatchObject({ status: 413, code: 'request_too_large' })
})

it('are shown as the content rules of the key say that asks, whoever made them', async () => {
  const { id } = await client().responses.create({
    model: 'kept',
    input: 'ask jane@example.com of 4 tickets',
    store: true,
  })
  const words = String.raw`{ name: words, pattern: 'answer \d+', on: [answer]`
  const masks = `rules: [${words}, action: redact }, { name: people, detector: personal, action: redact }]`
  await gateway.admin.policies.add({ name: 'masks', contentRules: { 'masks.yaml': masks } })
  await gateway.admin.policies.add({
    name: 'blocks',
    contentRules: { 'blocks.yaml': `rules: [${words}, action: block }]` },
  })
  const masked = client((await gateway.createKey('masked', { policy: 'masks' })).key)
  expect((await masked.responses.retrieve(id)).output_text).toBe('[WORDS_1]')
  expect(JSON.stringify(await masked.responses.inputItems.list(id))).toContain('ask [EMAIL_1] of 4 tickets')
  const blocked = client((await gateway.createKey('blocked', { policy: 'blocks' })).key)
  await expect(blocked.responses.retrieve(id)).rejects.toMatchObject({ status: 403, code: 'policy_denied' })
  expect((await client().responses.retrieve(id)).output_text).toMatch(/^answer \d+$/)
})
