import { describe, expect, it } from 'vitest'
import { asArray, asObject, type JsonObject } from '../../../src/core/json-value.ts'
import { responsesCodec } from '../../../src/translate/responses/codec.ts'
import { request } from '../../support/translate/asked.ts'
import { block, callChunk, chatChunk, messageEvents } from '../../support/translate/chunks.ts'
import { checkStream } from '../../support/translate/grammar.ts'
import { readResponsesWithSdk } from '../../support/translate/openai-google-sdk.ts'
import { readSse, type SentEvent } from '../../support/translate/sse.ts'
import {
  isFault,
  plainCarriers,
  translateEvents,
  translateReply,
  translateRequest,
  writeContext,
} from '../../support/translate/stage.ts'

// Tests are named after the reports of other gateways that had the error.

const user = { role: 'user', content: 'x' }
const ask = { model: 'm', input: [user] }
const patchTool = {
  type: 'custom',
  name: 'apply_patch',
  description: 'Edits files.',
  format: { type: 'grammar', syntax: 'lark', definition: 'x' },
}
const asked = (body: JsonObject) => {
  const { conversation } = translateRequest('responses', 'chat', JSON.stringify({ ...ask, ...body }), {
    model: 'gpt-4o',
  })
  return writeContext({ conversation })
}

function stream(events: readonly SentEvent[], context = asked({}), cut = false): string {
  const written = translateEvents('responses', 'chat', events, context, cut).join('')
  expect(checkStream('responses', written)).toEqual([])
  return written
}

const patchCall = (pieces: readonly string[]) => [
  ...pieces.map((piece, index) => callChunk(0, piece, index === 0 ? { id: 'call_1', name: 'apply_patch' } : {})),
  chatChunk({}, 'tool_calls'),
]
const outputOf = (written: string): JsonObject[] =>
  asArray(asObject(readSse(written).at(-1)?.data?.response)?.output).flatMap((item): JsonObject[] => [
    asObject(item) ?? {},
  ])

describe('streams', () => {
  it('OmniRoute 13964: every event has its place, and no item ends before its last delta', () => {
    const written = stream([chatChunk({ content: 'Hel' }), chatChunk({ content: 'lo' }), chatChunk({}, 'stop')])
    expect(readSse(written).map(({ name }) => name.replace('response.', ''))).toEqual([
      'created',
      'in_progress',
      'output_item.added',
      'content_part.added',
      'output_text.delta',
      'output_text.delta',
      'output_text.done',
      'content_part.done',
      'output_item.done',
      'completed',
    ])
  })

  it('sub2api 2875: every event has a number, from 0 and without a gap', () => {
    const written = stream([
      chatChunk({ content: 'a' }),
      callChunk(0, '{}', { id: 'a', name: 'f' }),
      chatChunk({}, 'stop'),
    ])
    expect(readSse(written).map(({ data }) => data?.sequence_number)).toEqual([...readSse(written).keys()])
  })

  it('litellm PR 36356: items and the response say how far they are', () => {
    const written = stream([
      chatChunk({ content: 'a' }),
      callChunk(0, '{}', { id: 'a', name: 'f' }),
      chatChunk({}, 'stop'),
    ])
    const of = (name: string, member: string) =>
      readSse(written)
        .filter((event) => event.name === name)
        .map(({ data }) => asObject(data?.[member])?.status)
    expect(of('response.output_item.added', 'item')).toEqual(['in_progress', 'in_progress'])
    expect(of('response.output_item.done', 'item')).toEqual(['completed', 'completed'])
    expect(of('response.created', 'response')).toEqual(['in_progress'])
    expect(of('response.completed', 'response')).toEqual(['completed'])
  })

  it('codex-lb PR 533: the end has all that was streamed', async () => {
    const written = stream([
      chatChunk({ reasoning_content: 'Hm.' }),
      chatChunk({ content: 'I call.' }),
      callChunk(0, '{"n":1}', { id: 'a', name: 'f' }),
      chatChunk({}, 'tool_calls'),
    ])
    expect(outputOf(written).map(({ type }) => type)).toEqual(['reasoning', 'message', 'function_call'])
    const answer = await readResponsesWithSdk(written)
    expect(answer).toMatchObject({ text: 'I call.', reasoning: 'Hm.', calls: [['f', { n: 1 }]], stop: 'completed' })
  })

  it('onyx PR 13624: items end in the order of their indexes, however the calls are mixed', () => {
    const written = stream([
      callChunk(0, '{"a"', { id: 'a', name: 'f' }),
      callChunk(1, '{"b"', { id: 'b', name: 'g' }),
      callChunk(0, ':1}'),
      callChunk(1, ':2}'),
      chatChunk({}, 'tool_calls'),
    ])
    const done = readSse(written).filter(({ name }) => name === 'response.output_item.done')
    expect(done.map(({ data }) => data?.output_index)).toEqual([0, 1])
    expect(outputOf(written).map((item) => item.arguments)).toEqual(['{"a":1}', '{"b":2}'])
  })

  it('onyx PR 13730: a failure keeps the id of the response and goes on counting', () => {
    const events = readSse(stream([chatChunk({ content: 'a' })], asked({}), true))
    const last = events.at(-1)
    expect(last?.name).toBe('response.failed')
    expect(last?.data?.sequence_number).toBe(events.length - 1)
    const idOf = (event: SentEvent | undefined) => asObject(event?.data?.response)?.id
    expect(idOf(last)).toBe(idOf(events[0]))
    expect(asObject(asObject(last?.data?.response)?.error)?.message).toBe('The provider broke off.')
  })

  it('litellm 34692: the limit beats a call that it has cut in two', () => {
    const written = stream([callChunk(0, '{"a', { id: 'a', name: 'f' }), chatChunk({}, 'length')])
    expect(outputOf(written)).toMatchObject([{ type: 'function_call', status: 'incomplete' }])
    const message = {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{"a' } }],
    }
    const whole = { id: 'c', model: 'm', choices: [{ index: 0, finish_reason: 'length', message }] }
    const reply = JSON.parse(String(translateReply('responses', 'chat', JSON.stringify(whole), writeContext())))
    expect(reply).toMatchObject({
      status: 'incomplete',
      output: [],
      incomplete_details: { reason: 'max_output_tokens' },
    })
  })

  it('hermes PR 83886: an answer with a call that cannot be read has failed', () => {
    const written = stream([callChunk(0, '{"a": nonsense', { id: 'a', name: 'f' }), chatChunk({}, 'tool_calls')])
    const last = readSse(written).at(-1)
    expect(last?.name).toBe('response.failed')
    expect(asObject(asObject(last?.data?.response)?.error)?.message).toMatch(/cannot be read/)
    expect(outputOf(written)).toMatchObject([{ status: 'incomplete' }])
  })

  it('laravel/ai PR 881, envoy PR 2121: a refusal and a full context are said, and unknown reasons are an end', () => {
    const ends = (reason: string) => {
      const events = messageEvents(block(0, { type: 'text', text: '' }, { type: 'text_delta', text: 'a' }), reason)
      return outputAndStatus(translateEvents('responses', 'messages', events, writeContext()).join(''))
    }
    expect(ends('refusal')).toEqual(['completed', ['output_text', 'refusal']])
    expect(ends('model_context_window_exceeded')).toEqual(['incomplete', ['output_text']])
    expect(ends('reason_of_tomorrow')).toEqual(['completed', ['output_text']])
  })
})

function outputAndStatus(written: string): unknown[] {
  expect(checkStream('responses', written)).toEqual([])
  const response = asObject(readSse(written).at(-1)?.data?.response)
  const parts = outputOf(written).flatMap(({ content }) => asArray(content).map((part) => asObject(part)?.type))
  return [response?.status, parts]
}

describe('custom tools', () => {
  const history = [
    user,
    { type: 'custom_tool_call', call_id: 'call_1', name: 'apply_patch', input: '*** "a"\n' },
    { type: 'custom_tool_call_output', call_id: 'call_1', output: 'Done' },
  ]

  it("sub2api 3390: Anthropic gets a tool with an object for its input, and the grammar's loss is listed", () => {
    const { sent, losses } = request(
      'responses',
      'messages',
      { ...ask, tools: [patchTool] },
      { model: 'claude-opus-4-8' },
    )
    const schema = asObject(asObject(asArray(sent?.tools)[0])?.input_schema)
    expect(schema).toMatchObject({ type: 'object', required: ['input'], properties: { input: { type: 'string' } } })
    expect(losses).toEqual(['tools[0].format'])
  })

  it('copilot-api 242: the call comes back as raw text, not as JSON', () => {
    const written = stream(
      patchCall(['{"input":"*** Begin Patch\\n+ü', '\\"x\\"\\n*** End Patch"}']),
      asked({ tools: [patchTool] }),
    )
    expect(outputOf(written)).toMatchObject([
      {
        type: 'custom_tool_call',
        call_id: 'call_1',
        name: 'apply_patch',
        input: '*** Begin Patch\n+ü"x"\n*** End Patch',
      },
    ])
    expect(written).not.toContain('function_call')
  })

  it('9router 1371: the tool has a parameter to fill, and is no function in a whole answer either', () => {
    const { sent } = request('responses', 'chat', { ...ask, tools: [patchTool] }, { model: 'qwen', compatible: true })
    const declared = asObject(asObject(asArray(sent?.tools)[0])?.function)
    expect(asObject(declared?.parameters)?.required).toEqual(['input'])
    const message = {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'a', type: 'function', function: { name: 'apply_patch', arguments: '{"input":"raw"}' } }],
    }
    const whole = { id: 'c', model: 'm', choices: [{ index: 0, finish_reason: 'tool_calls', message }] }
    const reply = JSON.parse(
      String(translateReply('responses', 'chat', JSON.stringify(whole), asked({ tools: [patchTool] }))),
    )
    expect(reply.output).toMatchObject([{ type: 'custom_tool_call', input: 'raw', status: 'completed' }])
  })

  it('CLIProxyAPI 5753: to a server that knows no custom tools they go as functions, in the history too', () => {
    const chat = {
      model: 'm',
      messages: [
        user,
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'call_1', type: 'custom', custom: { name: 'apply_patch', input: 'raw' } }],
        },
        { role: 'tool', tool_call_id: 'call_1', content: 'Done' },
      ],
      tools: [{ type: 'custom', custom: { name: 'apply_patch' } }],
      tool_choice: { type: 'custom', custom: { name: 'apply_patch' } },
    }
    const { sent } = request('chat', 'responses', chat, { model: 'minimax-m3', compatible: true })
    expect(asArray(sent?.tools)).toMatchObject([{ type: 'function', name: 'apply_patch' }])
    expect(sent?.tool_choice).toEqual({ type: 'function', name: 'apply_patch' })
    expect(asArray(sent?.input).slice(1)).toMatchObject([
      { type: 'function_call', arguments: '{"input":"raw"}' },
      { type: 'function_call_output', output: 'Done' },
    ])
  })

  it('CLIProxyAPI PR 3790: calls and results of custom tools in the history are kept together', () => {
    const { sent } = request(
      'responses',
      'messages',
      { ...ask, input: history, tools: [patchTool] },
      { model: 'claude-opus-4-8' },
    )
    expect(asArray(sent?.messages).slice(1)).toMatchObject([
      {
        role: 'assistant',
        content: [{ type: 'tool_use', id: 'call_1', name: 'apply_patch', input: { input: '*** "a"\n' } }],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_1' }] },
    ])
  })

  it('sub2api PR 4082: tools that Codex adds in the input are tools', () => {
    const added = { type: 'additional_tools', role: 'developer', tools: [patchTool] }
    const { sent, losses } = request(
      'responses',
      'chat',
      { model: 'm', input: [added, user] },
      { model: 'qwen', compatible: true },
    )
    expect(asArray(sent?.tools)).toHaveLength(1)
    expect(losses).toContain('input[0].tools')
  })
})

describe('requests', () => {
  it('litellm PR 36979, Switchyard 599: tools say whether they are strict, false where nothing was said', () => {
    const tool = (strict?: boolean) => ({
      type: 'function',
      function: { name: `f${strict}`, parameters: {}, ...(strict !== undefined && { strict }) },
    })
    const { sent } = request(
      'chat',
      'responses',
      { model: 'm', messages: [user], tools: [tool(), tool(true), tool(false)] },
      { model: 'gpt-4o' },
    )
    expect(asArray(sent?.tools).map((one) => asObject(one)?.strict)).toEqual([false, true, false])
  })

  it('envoy PR 2232, litellm 35695, litellm 27490: the word stays on the tool, true and false', () => {
    const tools = [true, false].map((strict) => ({
      type: 'function',
      name: `f${strict}`,
      strict,
      parameters: { type: 'object' },
    }))
    const { sent } = request('responses', 'chat', { ...ask, tools }, { model: 'gpt-4o' })
    expect(asArray(sent?.tools).map((tool) => asObject(asObject(tool)?.function)?.strict)).toEqual([true, false])
    expect(
      JSON.stringify(asArray(sent?.tools).map((tool) => asObject(asObject(tool)?.function)?.parameters)),
    ).not.toContain('strict')
  })

  it('vercel/ai issue-14707: a model that reasons gets no temperature, and no default is invented', () => {
    const body = { model: 'm', messages: [user], temperature: 0.5 }
    const reasoning = request('chat', 'responses', body, { model: 'gpt-5.2' })
    expect(reasoning.sent).not.toHaveProperty('temperature')
    expect(reasoning.losses).toEqual(['temperature'])
    expect(request('chat', 'responses', body, { model: 'gpt-4o' }).sent?.temperature).toBe(0.5)
    expect(request('chat', 'responses', { model: 'm', messages: [user] }, { model: 'gpt-4o' }).sent).not.toHaveProperty(
      'top_p',
    )
  })

  it('openclaw 88499, litellm 26147: nothing is said to be stored, and an id of an answer is refused by name', () => {
    const whole = {
      id: 'c',
      model: 'm',
      choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'a' } }],
    }
    const reply = JSON.parse(String(translateReply('responses', 'chat', JSON.stringify(whole), asked({ store: true }))))
    expect(reply).toMatchObject({ store: false, previous_response_id: null })
    expect(request('responses', 'chat', { ...ask, previous_response_id: reply.id }).refused?.param).toBe(
      'previous_response_id',
    )
    expect(request('responses', 'chat', { ...ask, store: true }).losses).toEqual(['store'])
    expect(request('responses', 'chat', ask).losses).toEqual([])
  })

  it('macprovider 830: Codex, which stores nothing and sends everything anew, loses nothing by that', () => {
    const body = { ...ask, store: false, include: ['reasoning.encrypted_content'], stream: true }
    expect(request('responses', 'chat', body, { model: 'gpt-4o' })).toMatchObject({ losses: [], refused: null })
  })

  it('envoy PR 2530, litellm 36197, litellm 40364: reasoning that another account encrypted is not sent on', () => {
    const input = [
      user,
      { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAAA' },
      { role: 'assistant', content: 'y' },
      user,
    ]
    for (const to of ['chat', 'messages', 'generate'] as const) {
      const { body, losses } = translateRequest('responses', to, JSON.stringify({ model: 'm', input }))
      expect(body).not.toContain('gAAAA')
      expect(losses).toEqual(['input[1]'])
    }
  })

  it('litellm PR 36355: reasoning of another model is no text of the assistant', () => {
    const messages = [user, { role: 'assistant', content: 'y', reasoning_content: 'secret thought' }, user]
    const { body, losses } = translateRequest('chat', 'responses', JSON.stringify({ model: 'm', messages }), {
      model: 'gpt-5.2',
    })
    expect(body).not.toContain('secret thought')
    expect(losses).toEqual(['messages[1].reasoning_content'])
  })

  it('CLIProxyAPI 5039: images in results stay in the results', () => {
    const content = [
      { type: 'text', text: 'A' },
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } },
    ]
    const messages = [
      user,
      { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'f', input: {} }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content }] },
    ]
    const { sent } = request('messages', 'responses', { model: 'm', max_tokens: 5, messages }, { model: 'gpt-4o' })
    expect(asArray(asObject(asArray(sent?.input)[2])?.output).map((part) => asObject(part)?.type)).toEqual([
      'input_text',
      'input_image',
    ])
  })

  it('helicone 5639: structured output is structured output', () => {
    const schema = { type: 'object', properties: {}, required: [], additionalProperties: false }
    const text = { format: { type: 'json_schema', name: 'n', schema, strict: true } }
    const chat = request('responses', 'chat', { ...ask, text }, { model: 'gpt-4o' })
    expect(chat.sent?.response_format).toEqual({
      type: 'json_schema',
      json_schema: { name: 'n', schema, strict: true },
    })
    const messages = {
      model: 'm',
      max_tokens: 5,
      messages: [user],
      output_config: { format: { type: 'json_schema', schema } },
    }
    expect(request('messages', 'responses', messages, { model: 'gpt-4o' }).sent?.text).toEqual({
      format: { type: 'json_schema', name: 'answer', schema, strict: true },
    })
  })

  it('llmgateway PR 3389: an id that OpenAI refuses is another one in call and result, the same in both', () => {
    const messages = [
      user,
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'functions.read:0', type: 'function', function: { name: 'read', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: 'functions.read:0', content: 'a' },
    ]
    const { sent } = request('chat', 'responses', { model: 'm', messages }, { model: 'gpt-4o' })
    const [call, result] = asArray(sent?.input)
      .slice(1)
      .map((item) => asObject(item)?.call_id)
    expect(call).toMatch(/^sp_\w+$/)
    expect(result).toBe(call)
  })

  it('langwatch 7018: totals add up, whoever counted', () => {
    const whole = {
      id: 'resp_abcdefgh1234',
      model: 'm',
      status: 'completed',
      output: [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'a' }] }],
      usage: {
        input_tokens: 10,
        input_tokens_details: { cached_tokens: 4 },
        output_tokens: 5,
        output_tokens_details: { reasoning_tokens: 2 },
      },
    }
    const usageIn = (client: 'chat' | 'generate') =>
      JSON.parse(String(translateReply(client, 'responses', JSON.stringify(whole), writeContext())))
    expect(usageIn('chat').usage).toMatchObject({ prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 })
    expect(usageIn('generate').usageMetadata).toEqual({
      promptTokenCount: 10,
      candidatesTokenCount: 3,
      thoughtsTokenCount: 2,
      totalTokenCount: 15,
      cachedContentTokenCount: 4,
    })
  })
})

describe('carriers', () => {
  const include = { include: ['reasoning.encrypted_content'] }
  const thinking = messageEvents(
    [
      ...block(
        0,
        { type: 'thinking', thinking: '', signature: '' },
        { type: 'thinking_delta', thinking: 'One.' },
        { type: 'signature_delta', signature: 'c2lnMQ==' },
      ),
      ...block(1, { type: 'redacted_thinking', data: 'cmVk' }),
      ...block(
        2,
        { type: 'thinking', thinking: '', signature: '' },
        { type: 'thinking_delta', thinking: 'Two.' },
        { type: 'signature_delta', signature: 'c2lnMg==' },
      ),
      ...block(3, { type: 'tool_use', id: 'toolu_1', name: 'f', input: {} }),
    ],
    'tool_use',
  )

  it('any-llm PR 1312: several blocks come back as several, to the byte and in order', () => {
    const written = translateEvents('responses', 'messages', thinking, asked(include)).join('')
    const output = outputOf(written)
    const input = [user, ...output, { type: 'function_call_output', call_id: 'toolu_1', output: 'r' }]
    const { sent } = request('responses', 'messages', { model: 'm', input }, { model: 'claude-opus-4-8' })
    expect(asObject(asArray(sent?.messages)[1])?.content).toEqual([
      { type: 'thinking', thinking: 'One.', signature: 'c2lnMQ==' },
      { type: 'redacted_thinking', data: 'cmVk' },
      { type: 'thinking', thinking: 'Two.', signature: 'c2lnMg==' },
      { type: 'tool_use', id: 'toolu_1', name: 'f', input: {} },
    ])
  })

  it('are only for clients that asked for them', () => {
    const written = translateEvents('responses', 'messages', thinking, asked({})).join('')
    expect(written).not.toContain('encrypted_content')
    expect(outputOf(written).map(({ type }) => type)).toEqual(['reasoning', 'reasoning', 'function_call'])
  })

  it('that are too long are left out', () => {
    const context = { ...asked(include), carriers: { ...plainCarriers, seal: () => null } }
    expect(translateEvents('responses', 'messages', thinking, context).join('')).not.toContain('encrypted_content')
  })
})

describe('answers of servers with the Responses API', () => {
  const sent = (name: string, members: JsonObject): SentEvent => ({ name, data: { type: name, ...members }, raw: '' })
  const response = { id: 'resp_abcdefgh1234', model: 'm', status: 'in_progress', output: [] }
  const call = { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'f', arguments: '{"n":1}' }

  it('pi PR 4171: items may end out of order', () => {
    const events = [
      sent('response.created', { response }),
      sent('response.output_item.added', { output_index: 0, item: { type: 'reasoning', id: 'rs_1', summary: [] } }),
      sent('response.reasoning_summary_text.delta', { output_index: 0, summary_index: 0, delta: 'Hm.' }),
      sent('response.output_item.added', { output_index: 1, item: { ...call, arguments: '' } }),
      sent('response.output_item.done', { output_index: 1, item: call }),
      sent('response.output_item.done', {
        output_index: 0,
        item: { type: 'reasoning', id: 'rs_1', encrypted_content: 'gAAA' },
      }),
      sent('response.completed', { response: { ...response, status: 'completed' } }),
    ]
    const written = translateEvents('messages', 'responses', events, writeContext()).join('')
    expect(checkStream('messages', written)).toEqual([])
    expect(written).toContain('"thinking":"Hm."')
    expect(written).toContain('"partial_json":"{\\"n\\":1}"')
  })

  it('may say everything at the end, or by whole items', () => {
    const message = {
      type: 'message',
      id: 'msg_1',
      role: 'assistant',
      content: [{ type: 'output_text', text: 'Hello' }],
    }
    const end = (output: JsonObject[]) =>
      sent('response.completed', { response: { ...response, status: 'completed', output } })
    const items = [message, call].map((item, output_index) => sent('response.output_item.done', { output_index, item }))
    for (const events of [
      [end([message, call])],
      [...items, end([])],
      [sent('response.created', { response }), ...items, end([message, call])],
    ]) {
      const written = translateEvents('chat', 'responses', events, writeContext()).join('')
      expect(checkStream('chat', written)).toEqual([])
      expect(written.match(/"content":"Hello"/g)).toHaveLength(1)
      expect(written).toContain('"finish_reason":"tool_calls"')
    }
  })

  it('may cite files of their own, which is named', () => {
    const annotations = [{ type: 'file_citation', file_id: 'f', filename: 'a', index: 0 }]
    const content = [{ type: 'output_text', text: 'Hello', annotations }]
    const output = [{ type: 'message', id: 'msg_1', role: 'assistant', content }]
    const whole = responsesCodec.readReply({ ...response, status: 'completed', output })
    expect('dropped' in whole && whole.dropped).toEqual(['annotations.file_citation'])
    const reader = responsesCodec.openReader()
    const done = sent('response.output_item.done', { output_index: 0, item: output[0] })
    expect(reader.event(done.name, done.data ?? {})).toContainEqual({
      kind: 'dropped',
      name: 'annotations.file_citation',
    })
  })

  it('may have failed with 200', () => {
    const body = { ...response, status: 'failed', error: { code: 'server_error', message: 'Out of luck.' } }
    const written = translateReply('chat', 'responses', JSON.stringify(body), writeContext())
    expect(typeof written === 'object' && isFault(written) && written.message).toContain('Out of luck.')
  })
})
