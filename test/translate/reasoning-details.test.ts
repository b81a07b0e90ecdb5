import { describe, expect, it } from 'vitest'
import type { FormatName } from '../../src/core/format.ts'
import { asArray, asObject, type JsonObject } from '../../src/core/json/json-value.ts'
import { readChatReply } from '../../src/translate/chat/read-reply.ts'
import { ReasoningDetails } from '../../src/translate/chat/reasoning-details.ts'
import { request } from '../support/translate/asked.ts'
import { checkStream } from '../support/translate/grammar.ts'
import { readSse } from '../support/translate/sse.ts'
import { blankConversation, translateReply, translateStream, writeContext } from '../support/translate/stage.ts'

const details = [
  { type: 'reasoning.text', text: 'Let me look.', format: 'google-gemini-v1', index: 0 },
  { type: 'reasoning.encrypted', data: 'EoED', id: 'call_2', format: 'google-gemini-v1', index: 0 },
]
const calls = ['call_1', 'call_2'].map((id, index) => ({
  ...{ index, id, type: 'function', function: { name: 'look', arguments: '{}' } },
}))
const settings = { ...blankConversation.settings }
const reasoning = { path: 'reasoning', effort: null, budget: null, visible: null, encrypted: true }
const context = writeContext({ conversation: { ...blankConversation, settings: { ...settings, reasoning } } })

/** Whole, or in pieces as OpenRouter streams it. */
function answer(from: FormatName, streamed: boolean): JsonObject {
  const head = { id: 'gen-1', model: 'google/gemini-3-pro', created: 1 }
  if (!streamed) {
    const message = {
      ...{ role: 'assistant', content: null, reasoning: 'Let me look.' },
      ...{ reasoning_details: details, tool_calls: calls },
    }
    const whole = { ...head, object: 'chat.completion', choices: [{ index: 0, finish_reason: 'tool_calls', message }] }
    return JSON.parse(String(translateReply(from, 'chat', JSON.stringify(whole), context)))
  }
  const [text, encrypted] = details
  const deltas = [
    ...['Let me ', 'look.'].map((piece) => ({ reasoning: piece, reasoning_details: [{ ...text, text: piece }] })),
    ...calls.map((call) => ({ tool_calls: [call] })),
    { reasoning_details: [encrypted] },
  ]
  const chunks = [
    ...deltas.map((delta) => ({ ...head, choices: [{ index: 0, delta }] })),
    { ...head, choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] },
  ]
  const stream = translateStream(
    from,
    'chat',
    chunks.map((one) => `data: ${JSON.stringify(one)}\n\n`).join(''),
    context,
  )
  expect(checkStream(from, stream)).toEqual([])
  return { stream }
}

/** The client's next request, after both results. */
function next(from: FormatName, answered: JsonObject): JsonObject {
  const ids = ['call_1', 'call_2']
  if (from === 'messages') {
    const results = ids.map((tool_use_id) => ({ type: 'tool_result', tool_use_id, content: 'r' }))
    const turns = [
      { role: 'assistant', content: answered.content },
      { role: 'user', content: results },
    ]
    return { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'x' }, ...turns] }
  }
  if (from === 'responses') {
    const results = ids.map((call_id) => ({ type: 'function_call_output', call_id, output: 'r' }))
    return { model: 'm', input: [{ role: 'user', content: 'x' }, ...asArray(answered.output), ...results] }
  }
  const parts = ids.map((id) => ({ functionResponse: { id, name: 'look', response: { output: 'r' } } }))
  const { content } = asObject(asArray(answered.candidates)[0]) ?? {}
  return { contents: [{ role: 'user', parts: [{ text: 'x' }] }, content, { role: 'user', parts }] }
}

/** What the stream has told the client, put together as its SDK does. */
function gathered(from: FormatName, { stream }: JsonObject): JsonObject {
  const events = readSse(String(stream)).flatMap(({ data }) => (data === null ? [] : [data]))
  if (from === 'responses') return asObject(events.at(-1)?.response) ?? {}
  if (from === 'generate') {
    const parts = events.flatMap((event) => asArray(asObject(asObject(asArray(event.candidates)[0])?.content)?.parts))
    return { candidates: [{ content: { role: 'model', parts } }] }
  }
  const content: Record<string, unknown>[] = []
  for (const { type, content_block, delta } of events) {
    if (type === 'content_block_start') content.push({ ...asObject(content_block) })
    const { thinking, signature } = asObject(delta) ?? {}
    const block = content.at(-1)
    if (block !== undefined && thinking !== undefined) block.thinking = String(block.thinking) + String(thinking)
    if (block !== undefined && signature !== undefined) block.signature = signature
  }
  return { content }
}

describe('claude-code-router 1057, 1081, hebo-gateway 226: what OpenRouter signs for Gemini comes back to it', () => {
  it.each(
    (['messages', 'responses', 'generate'] as const).flatMap((from) => [[from, false] as const, [from, true] as const]),
  )('of %s clients (streamed: %s)', (from, streamed) => {
    const answered = answer(from, streamed)
    const body = next(from, streamed ? gathered(from, answered) : answered)
    const target = { model: 'google/gemini-3-pro', compatible: true }
    const { sent, losses } = request(from, 'chat', body, target)
    const assistant = asArray(sent?.messages)
      .map(asObject)
      .find((message) => message?.role === 'assistant')
    expect(assistant?.reasoning_details).toEqual(details)
    expect(assistant?.tool_calls).toHaveLength(2)
    expect(losses).toEqual([])
  })
})

it('puts the pieces of a text together, and keeps blocks apart that are signed', () => {
  const gather = new ReasoningDetails()
  const piece = (text: string, more: object = {}) => ({ type: 'reasoning.text', text, index: 0, ...more })
  for (const one of [piece('a'), piece('b', { signature: null }), piece('', { signature: 's1' }), piece('c')])
    gather.push([one])
  gather.push([{ type: 'reasoning.text', signature: 's2', index: 0 }])
  expect(JSON.parse(gather.opaque?.value ?? '')).toEqual([
    piece('ab', { signature: 's1' }),
    piece('c', { signature: 's2' }),
  ])
  const claude = { format: 'anthropic-claude-v1' }
  const cut = new ReasoningDetails()
  cut.push([piece('a', { ...claude, signature: 's' }), piece('b', { ...claude, index: 1 })])
  expect(JSON.parse(cut.opaque?.value ?? '')).toEqual([piece('a', { ...claude, signature: 's' })])
  const unsigned = new ReasoningDetails()
  unsigned.push([piece('a')])
  expect(unsigned.opaque).toBeNull()
  const long = new ReasoningDetails()
  long.push([piece('a'.repeat(200_000), { signature: 's' })])
  expect(long.opaque).toBeNull()
})

describe("OpenRouter's models of Google", () => {
  const asks = (model: string, thinking: JsonObject, more: JsonObject = {}) => {
    const body = { model: 'm', max_tokens: 10_000, messages: [{ role: 'user', content: 'x' }], thinking, ...more }
    const { sent, losses } = request('messages', 'chat', body, { model, compatible: true, reasoningBudget: true })
    return [sent?.reasoning, losses]
  }
  const enabled = (budget_tokens: number) => ({ type: 'enabled', budget_tokens })

  it('think by the budget that the client gives', () => {
    const flash = 'google/gemini-2.5-flash'
    expect(asks(flash, enabled(3000))).toEqual([{ max_tokens: 3000 }, []])
    expect(asks(flash, { type: 'disabled' })).toEqual([{ enabled: false }, []])
    // Within the limit of the answer, and within the model's own.
    expect(asks(flash, enabled(3000), { max_tokens: 2000 })).toEqual([{ max_tokens: 1500 }, ['thinking']])
    expect(asks(flash, enabled(1024), { max_tokens: 1000 })).toEqual([undefined, ['thinking']])
    expect(asks(flash, enabled(30_000), { max_tokens: 60_000 })).toEqual([{ max_tokens: 24_576 }, ['thinking']])
    expect(asks('google/gemini-2.5-pro', { type: 'disabled' })).toEqual([{ max_tokens: 1024 }, ['thinking']])
  })

  it('think by an effort where they know no budget', () => {
    expect(asks('google/gemini-3-pro', enabled(3000))).toEqual([{ effort: 'low' }, ['thinking']])
  })
})

describe("OpenRouter's models of Anthropic are asked to think", () => {
  const target = { compatible: true, reasoningBudget: true, cacheControl: true }
  const [older, newer] = ['anthropic/claude-sonnet-4.5', 'anthropic/claude-opus-4.7']
  const asks = (from: FormatName, model: string, more: JsonObject) => {
    const messages = [{ role: 'user', content: 'x' }]
    const bodies = {
      messages: { model: 'm', max_tokens: 10_000, messages },
      responses: { model: 'm', input: messages },
      generate: { contents: [{ role: 'user', parts: [{ text: 'x' }] }] },
      chat: { model: 'm', messages },
    }
    const { sent, losses } = request(from, 'chat', { ...bodies[from], ...more }, { model, ...target })
    return { sent, losses }
  }
  const thinking = { type: 'enabled', budget_tokens: 3000 }

  it.each<[FormatName, string, JsonObject, unknown, string[]]>([
    ['messages', older, { thinking }, { max_tokens: 3000 }, []],
    ['messages', older, { thinking: { type: 'disabled' } }, { enabled: false }, []],
    ['messages', newer, { thinking }, { effort: 'low' }, ['thinking']],
    ['messages', newer, { thinking: { type: 'adaptive' } }, { enabled: true }, []],
    [
      'messages',
      newer,
      { thinking: { type: 'adaptive' }, output_config: { effort: 'xhigh' } },
      { effort: 'xhigh' },
      [],
    ],
    ['responses', newer, { reasoning: { effort: 'high' } }, { effort: 'high' }, []],
    ['responses', newer, { reasoning: { effort: 'minimal' } }, { effort: 'low' }, ['reasoning']],
    ['responses', older, { reasoning: { effort: 'high' } }, { max_tokens: 16_384 }, []],
    ['responses', newer, { reasoning: { summary: 'auto' } }, { enabled: true }, []],
    ['generate', older, { generationConfig: { thinkingConfig: { thinkingBudget: -1 } } }, { max_tokens: 8192 }, []],
    ['generate', newer, { generationConfig: { thinkingConfig: { thinkingBudget: 0 } } }, { enabled: false }, []],
    ['messages', 'anthropic/claude-fable-5', { thinking: { type: 'disabled' } }, { effort: 'low' }, ['thinking']],
    ['messages', older, {}, undefined, []],
  ])('%s to %s: %j', (from, model, more, written, lost) => {
    const { sent, losses } = asks(from, model, more)
    expect([sent?.reasoning, losses]).toEqual([written, lost])
  })

  it('and older ones then get no sampling and no forced call, which they would refuse', () => {
    const tools = [{ name: 'look', input_schema: { type: 'object' } }]
    const more = { thinking, temperature: 0.5, tools, tool_choice: { type: 'any' } }
    const { sent, losses } = asks('messages', older, more)
    expect(sent).toMatchObject({ tool_choice: 'auto', reasoning: { max_tokens: 3000 } })
    expect(sent).not.toHaveProperty('temperature')
    expect(losses).toEqual(['tool_choice', 'temperature'])
  })

  const loop = (list: readonly object[]) => {
    const opaque = { family: 'openrouter', form: 'details', value: JSON.stringify(list) }
    const data = `sealed.${Buffer.from(JSON.stringify(opaque)).toString('base64url')}`
    const call = { type: 'tool_use', id: 'a', name: 'look', input: {} }
    return [
      { role: 'user', content: 'x' },
      { role: 'assistant', content: list.length === 0 ? [call] : [call, { type: 'redacted_thinking', data }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'r' }] },
    ]
  }
  const own = { type: 'reasoning.text', text: 't', signature: 's', format: 'anthropic-claude-v1', index: 0 }

  it('but not in a loop of calls that began without: older ones would refuse it', () => {
    const signed = asks('messages', older, { thinking, messages: loop([own]) })
    expect(signed.sent?.reasoning).toEqual({ max_tokens: 3000 })
    expect(asArray(signed.sent?.messages)[1]).toMatchObject({ reasoning_details: [own] })
    const unsigned = asks('messages', older, { thinking, messages: loop([]) })
    expect([unsigned.sent?.reasoning, unsigned.losses]).toEqual([undefined, ['thinking']])
    const asked = [...loop([]), { role: 'assistant', content: 'done' }, { role: 'user', content: 'y' }]
    expect(asks('messages', older, { thinking, messages: asked }).sent?.reasoning).toEqual({ max_tokens: 3000 })
    expect(asks('messages', newer, { thinking, messages: loop([]) }).sent?.reasoning).toEqual({ effort: 'low' })
  })

  it('and get nothing back of what they thought while they are not asked to think', () => {
    const { sent, losses } = asks('messages', older, { messages: loop([own]) })
    expect(asArray(sent?.messages)[1]).not.toHaveProperty('reasoning_details')
    expect(losses).toEqual(['messages[1].content[1]'])
  })
})

it('counts the text of long thinking, not what every piece of it repeats', () => {
  const thinking = new ReasoningDetails()
  const piece = { type: 'reasoning.text', format: 'anthropic-claude-v1', index: 0 }
  for (let at = 0; at < 20_000; at++) thinking.push([{ ...piece, text: 'word ' }])
  thinking.push([{ ...piece, signature: 's' }])
  expect(JSON.parse(thinking.opaque?.value ?? '')).toEqual([{ ...piece, text: 'word '.repeat(20_000), signature: 's' }])
})

it('lists what is too long to come back, also beside a call', () => {
  const long = [{ ...details[0], text: 'a'.repeat(200_000), signature: 's' }]
  const message = { role: 'assistant', content: null, reasoning_details: long, tool_calls: calls }
  expect(readChatReply({ choices: [{ index: 0, finish_reason: 'tool_calls', message }] })).toMatchObject({
    dropped: ['message.reasoning_details'],
  })
})

describe('one conversation, of several models at OpenRouter', () => {
  const sealed = (list: readonly object[]) => {
    const opaque = { family: 'openrouter', form: 'details', value: JSON.stringify(list) }
    return `sealed.${Buffer.from(JSON.stringify(opaque)).toString('base64url')}`
  }
  const turns = (id: string, list: readonly object[]) => [
    {
      role: 'assistant',
      content: [
        { type: 'tool_use', id, name: 'look', input: {} },
        ...(list.length === 0 ? [] : [{ type: 'redacted_thinking', data: sealed(list) }]),
      ],
    },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: 'r' }] },
  ]
  const ask = (model: string, ...rounds: object[][]) => {
    const messages = [{ role: 'user', content: 'x' }, ...rounds.flat()]
    const body = { model: 'm', max_tokens: 9, messages }
    const { sent, losses } = request('messages', 'chat', body, { model, compatible: true, cacheControl: true })
    const said = asArray(sent?.messages).map(asObject)
    return { said: said.filter((message) => message?.role === 'assistant'), losses }
  }
  const ofGemini = (id: string) => ({ type: 'reasoning.encrypted', data: 'EoED', id, format: 'google-gemini-v1' })
  const ofClaude = { type: 'reasoning.text', text: 't', signature: 's', format: 'anthropic-claude-v1', index: 0 }

  it('each gets back what its own vendor signed', () => {
    const rounds = [turns('a', [ofClaude]), turns('b', [ofGemini('b')])] as const
    const claude = ask('~anthropic/claude-sonnet-latest', ...rounds)
    expect(claude.said.map((message) => message?.reasoning_details)).toEqual([[ofClaude], undefined])
    expect(claude.losses).toEqual(['messages[3].content[1]'])
    const auto = ask('openrouter/auto', ...rounds)
    expect(auto.said.map((message) => message?.reasoning_details)).toEqual([[ofClaude], [ofGemini('b')]])
    expect(auto.losses).toEqual([])
  })

  it('Gemini 3 takes calls of others with the word for them', () => {
    const { said, losses } = ask('google/gemini-3-pro', turns('a', []), turns('b', [ofGemini('b')]))
    const data = 'skip_thought_signature_validator'
    expect(said.map((message) => message?.reasoning_details)).toMatchObject([[{ data, id: 'a' }], [ofGemini('b')]])
    expect(losses).toEqual(['messages[1].content[0].thought_signature'])
  })

  it('names calls as they are named beside it: ids that are long or come twice get others', () => {
    const long = `tool_${'x'.repeat(60)}`
    const { said } = ask('google/gemini-3-pro', ...[long, 'twice', 'twice'].map((id) => turns(id, [ofGemini(id)])))
    const ids = said.map((message) => asObject(asArray(message?.tool_calls)[0])?.id)
    expect(new Set(ids).size).toBe(3)
    expect(ids).not.toContain(long)
    expect(said.map((message) => asObject(asArray(message?.reasoning_details)[0])?.id)).toEqual(ids)
  })
})
