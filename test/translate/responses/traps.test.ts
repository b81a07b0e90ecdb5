import { describe, expect, it } from 'vitest'
import { asArray, asObject } from '../../../src/core/json/json-value.ts'
import { request } from '../../support/translate/asked.ts'
import { callChunk, chatChunk } from '../../support/translate/chunks.ts'
import { ask, asked, outputOf, patchCall, patchTool, stream, user } from '../../support/translate/responses-client.ts'
import { translateReply, translateRequest, writeContext } from '../../support/translate/stage.ts'

// Tests are named after the reports of other gateways that had the error.

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

describe("a client's own search for tools, as Codex has it", () => {
  const parameters = { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] }
  const search = { type: 'tool_search', execution: 'client', description: 'Finds tools.', parameters }
  const found = { type: 'function', name: 'make', description: 'd', parameters, strict: false, defer_loading: true }
  const history = [
    user,
    { type: 'tool_search_call', call_id: 'call_1', execution: 'client', arguments: { query: 'calendar' } },
    {
      type: 'tool_search_output',
      call_id: 'call_1',
      execution: 'client',
      status: 'completed',
      tools: [{ type: 'namespace', name: 'mcp__calendar', description: 'c', tools: [found] }],
    },
  ]

  it('is a function, and what it has found are tools', () => {
    const { sent, losses } = request(
      'responses',
      'chat',
      { ...ask, input: history, tools: [search] },
      { model: 'qwen', compatible: true },
    )
    expect(sent?.tools).toMatchObject([
      { function: { name: 'tool_search', description: 'Finds tools.', parameters } },
      { function: { name: 'mcp__calendar__make', parameters } },
    ])
    const call = { id: 'call_1', function: { name: 'tool_search', arguments: '{"query":"calendar"}' } }
    expect(asArray(sent?.messages).slice(1)).toMatchObject([
      { role: 'assistant', tool_calls: [call] },
      { role: 'tool', tool_call_id: 'call_1', content: 'Loaded tool: mcp__calendar__make' },
    ])
    expect(losses).toEqual(['input[2].tools'])
  })

  it('moves no tool when it finds one again, or one that was declared', () => {
    const other = { ...found, name: 'other' }
    const again = [
      { ...history[1], call_id: 'call_2' },
      { ...history[2], call_id: 'call_2', tools: [found, other] },
    ]
    const names = (input: object[]) => {
      const target = { model: 'qwen', compatible: true }
      const { sent } = request('responses', 'chat', { ...ask, input, tools: [found, search] }, target)
      return asArray(sent?.tools).map((tool) => asObject(asObject(tool)?.function)?.name)
    }
    expect(names([user])).toEqual(['make', 'tool_search'])
    expect(names([user, ...again])).toEqual(['make', 'tool_search', 'other'])
    expect(names([user, ...again, ...again])).toEqual(['make', 'tool_search', 'other'])
  })

  it('is called as one, whole and streamed, and repeated as one', () => {
    const context = asked({ tools: [search] })
    const call = {
      type: 'tool_search_call',
      call_id: 'call_1',
      execution: 'client',
      status: 'completed',
      arguments: { query: 'x' },
    }
    const begun = callChunk(0, '{"que', { id: 'call_1', name: 'tool_search' })
    const written = stream([begun, callChunk(0, 'ry":"x"}'), chatChunk({}, 'tool_calls')], context)
    expect(outputOf(written)).toMatchObject([call])
    expect(written).not.toContain('function_call')
    const message = { tool_calls: [{ id: 'call_1', function: { name: 'tool_search', arguments: '{"query":"x"}' } }] }
    const choices = [{ index: 0, finish_reason: 'tool_calls', message }]
    const whole = translateReply('responses', 'chat', JSON.stringify({ choices }), context)
    expect(JSON.parse(String(whole))).toMatchObject({ output: [call], tools: [search] })
  })

  it("is left out where OpenAI runs it, as is Anthropic's own: all tools are declared", () => {
    const [call, output] = history.slice(1).map((item) => ({ ...item, call_id: null, execution: 'server' }))
    const tools = [{ type: 'tool_search' }, found]
    const answered = { role: 'assistant', content: 'Yes.' }
    const input = [user, call, output, answered, user]
    const own = request('responses', 'chat', { ...ask, input, tools }, { model: 'qwen', compatible: true })
    expect(asArray(own.sent?.tools).map((tool) => asObject(asObject(tool)?.function)?.name)).toEqual([
      'make',
      'mcp__calendar__make',
    ])
    expect(asArray(own.sent?.messages)).toHaveLength(3)
    expect(own.losses).toEqual(['input[1].type', 'input[2].type', 'tools[0].type', 'tools[1].defer_loading'])
    const claudes = [
      { type: 'tool_search_tool_regex_20251119', name: 'tool_search_tool_regex', cache_control: { type: 'ephemeral' } },
      { name: 'make', input_schema: parameters, defer_loading: true },
    ]
    const body = { model: 'm', max_tokens: 9, messages: [user], tools: claudes }
    const { sent, losses } = request('messages', 'generate', body, { model: 'gemini-3-pro' })
    expect(sent?.tools).toMatchObject([{ functionDeclarations: [{ name: 'make' }] }])
    expect(losses).toEqual(['tools[0].type', 'tools[1].defer_loading'])
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
    const input_schema = { type: 'object', properties: { a: { type: 'string' } } }
    const claudes = { model: 'm', max_tokens: 50, messages: [user], tools: [{ name: 'f', input_schema }] }
    expect(request('messages', 'responses', claudes, { model: 'gpt-4o' }).sent?.tools).toMatchObject([
      { strict: false },
    ])
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
