import { describe, expect, it } from 'vitest'
import { asArray, asObject } from '../../src/core/json/json-value.ts'
import { ask, claude, contentOf, request } from '../support/translate/asked.ts'
import { translateReply, writeContext } from '../support/translate/stage.ts'

const chat = (more: object) => ({ ...ask, ...more })
const look = { type: 'function', function: { name: 'look', parameters: { type: 'object' } } }

describe('what clients of other servers write in the form of chat', () => {
  it("Mistral's: a tool without a type, and the word any", () => {
    const { function: named } = look
    const { sent, losses } = request(
      'chat',
      'messages',
      chat({ tools: [{ function: named }], tool_choice: 'any' }),
      claude,
    )
    expect(sent).toMatchObject({ tools: [{ name: 'look' }], tool_choice: { type: 'any' } })
    expect(losses).toEqual([])
  })

  it("Mistral's: what the model thought stands among the texts, and is no text", () => {
    const content = [
      { type: 'thinking', thinking: [{ type: 'text', text: 'Hm.' }], closed: true },
      { type: 'text', text: 'Yes.' },
    ]
    const messages = [...ask.messages, { role: 'assistant', content, prefix: false }, ...ask.messages]
    const { sent, losses } = request('chat', 'messages', { model: 'm', messages }, claude)
    expect(contentOf(sent, 1)).toEqual([{ type: 'text', text: 'Yes.' }])
    expect(losses).toEqual(['messages[1].content[0].thinking'])
  })

  it('OpenRouter takes the cache marks of Claude, each where it looks for it', () => {
    const cache_control = { type: 'ephemeral' }
    const marked = (text: string) => ({ type: 'text', text, cache_control })
    const image = { type: 'image', source: { type: 'url', url: 'https://a/b.png' }, cache_control }
    const body = {
      ...{ model: 'm', max_tokens: 9, tools: [{ name: 'f', input_schema: { type: 'object' } }] },
      system: [
        { type: 'text', text: 'S' },
        { ...marked('T'), cache_control: { ...cache_control, ttl: '1h' } },
      ],
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'x' }, image] },
        { role: 'assistant', content: [marked('z'), { type: 'tool_use', id: 'a', name: 'f', input: {} }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'r', cache_control }] },
      ],
    }
    const target = { model: 'anthropic/claude-opus-4.7', compatible: true }
    const { sent, losses } = request('messages', 'chat', body, { ...target, cacheControl: true })
    expect(asArray(sent?.messages)).toMatchObject([
      { content: [{ text: 'S' }, { text: 'T', cache_control: { ttl: '1h' } }] },
      { content: [{ text: 'x' }, { type: 'image_url', cache_control }] },
      { role: 'assistant', content: 'z', cache_control },
      { role: 'tool', content: 'r', cache_control },
    ])
    expect(losses).toEqual([])
    const elsewhere = request('messages', 'chat', body, target)
    expect(JSON.stringify(elsewhere.sent)).not.toContain('cache_control')
    expect(elsewhere.losses).toHaveLength(4)
  })

  it('aider-desk 513: OpenRouter gets no more of them than Claude takes, and the last ones', () => {
    const content = (text: string) => [
      { type: 'input_text', text, prompt_cache_breakpoint: { mode: 'explicit', ttl: '30m' } },
    ]
    const input = [...'abcdef'].map((text) => ({ role: 'user', content: content(text) }))
    const target = { model: 'anthropic/claude-opus-4.7', compatible: true, cacheControl: true }
    const { sent, losses } = request('responses', 'chat', { model: 'm', input }, target)
    const marked = contentOf(sent, 0).flatMap(({ text, cache_control }) => (cache_control === undefined ? [] : [text]))
    expect(marked).toEqual(['c', 'd', 'e', 'f'])
    expect(losses).toEqual([0, 1].map((index) => `input[${index}].content[0].prompt_cache_breakpoint`))
  })

  it("Claude Code's: a search for tools is told which it has found, not nothing", () => {
    const tools = ['search', 'look'].map((name) => ({ name, input_schema: { type: 'object' }, defer_loading: true }))
    const found = [{ type: 'tool_reference', tool_name: 'look' }]
    const messages = [
      ...ask.messages,
      { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'search', input: {} }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: found }] },
    ]
    const { sent, losses } = request('messages', 'chat', { model: 'm', max_tokens: 9, tools, messages })
    expect(asArray(sent?.messages).at(-1)).toEqual({ role: 'tool', tool_call_id: 'a', content: 'Loaded tool: look' })
    expect(losses).toEqual(['tools[0].defer_loading', 'tools[1].defer_loading'])
  })

  it('documents and videos by their own names', () => {
    const user = (part: object) => chat({ messages: [{ role: 'user', content: [part] }] })
    const pdf = user({
      type: 'document_url',
      document_url: 'data:application/pdf;base64,JVBERi0=',
      document_name: 'a.pdf',
    })
    expect(contentOf(request('chat', 'messages', pdf, claude).sent, 0)).toEqual([
      {
        type: 'document',
        source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' },
        title: 'a.pdf',
      },
    ])
    const video = user({ type: 'video_url', video_url: { url: 'data:video/mp4;base64,AAAA' } })
    const { sent } = request('chat', 'generate', video, { model: 'gemini-3-pro' })
    const parts = asArray(asObject(asArray(sent?.contents)[0])?.parts)
    expect(parts).toEqual([{ inlineData: { mimeType: 'video/mp4', data: 'AAAA' } }])
    expect(request('chat', 'messages', video, claude).refused?.message).toMatch(/accepts no video/)
    const broken = user({ type: 'audio_url' })
    expect(request('chat', 'generate', broken).refused).toMatchObject({ code: 'invalid_request' })
  })

  it.each([
    [{ reasoning: { effort: 'high' } }, { thinking: { type: 'adaptive' }, output_config: { effort: 'high' } }],
    [{ reasoning: { enabled: true } }, { thinking: { type: 'adaptive' } }],
    [{ thinking: { type: 'enabled', clear_thinking: false } }, { thinking: { type: 'adaptive' } }],
    [{ thinking: { type: 'adaptive' } }, { thinking: { type: 'adaptive' } }],
  ])('reasoning is asked for: %j', (asked, written) => {
    const { sent, losses } = request('chat', 'messages', chat(asked), { model: 'claude-opus-4-8' })
    expect(sent).toMatchObject(written)
    expect(losses).toEqual([])
  })

  it.each([{ thinking: { type: 'disabled' } }, { reasoning: { enabled: false } }, { reasoning: { effort: 'none' } }])(
    'no reasoning is asked for: %j',
    (asked) => {
      const { sent } = request('chat', 'generate', chat(asked), { model: 'gemini-2.5-flash' })
      expect(sent?.generationConfig).toEqual({ thinkingConfig: { thinkingBudget: 0 } })
    },
  )

  it.each(['reasoning', 'thinking'])('%s is an object, or refused by its name', (name) => {
    const { refused } = request('chat', 'messages', chat({ [name]: 'low' }), claude)
    expect(refused).toMatchObject({
      code: 'invalid_request',
      param: name,
      message: expect.stringContaining('not an object'),
    })
  })

  it('an effort that nobody knows is refused by its name', () => {
    const { refused } = request('chat', 'messages', chat({ reasoning: { effort: 'hard' } }), claude)
    expect(refused).toMatchObject({ code: 'invalid_request', param: 'reasoning.effort' })
  })

  it('a tool that another server hosts is refused as such', () => {
    const { refused } = request('chat', 'messages', chat({ tools: [{ type: 'openrouter:web_search' }] }), claude)
    expect(refused).toMatchObject({ code: 'not_translatable', param: 'tools[0].type' })
    expect(request('chat', 'messages', chat({ tools: [{}] }), claude).refused?.code).toBe('invalid_request')
  })
})

describe('tools that Anthropic adds in the midst of the conversation', () => {
  const change = (type: string, tool: object) => ({ role: 'system', content: [{ type, tool }] })
  const reference = (name: string) => ({ type: 'tool_reference', name })
  const named = (name: string) => ({ name, input_schema: { type: 'object', properties: {} } })
  const names = (more: object) => {
    const { sent, refused } = request('messages', 'chat', { ...ask, max_tokens: 5, ...more })
    return refused?.code ?? asArray(sent?.tools).map((tool) => asObject(asObject(tool)?.function)?.name)
  }

  it('are there from the beginning, and those that it withdraws are not', () => {
    const added = change('tool_addition', { type: 'tool_definition', definition: named('clock') })
    expect(names({ messages: [...ask.messages, added] })).toEqual(['clock'])
    const removed = change('tool_removal', reference('look'))
    expect(names({ tools: [named('look'), named('edit')], messages: [...ask.messages, removed] })).toEqual(['edit'])
    const back = change('tool_addition', reference('look'))
    expect(names({ tools: [named('look')], messages: [...ask.messages, removed, back] })).toEqual(['look'])
    const server = change('tool_removal', { type: 'mcp_tool_reference', server_name: 's', name: 'look' })
    expect(names({ tools: [named('look')], messages: [...ask.messages, server] })).toEqual(['look'])
  })

  it.each(['chat', 'responses', 'generate'] as const)(
    'are listed for %s, with their marks and what is in them',
    (to) => {
      const definition = { ...named('clock'), input_examples: [{}, { x: 1 }], defer_loading: true, telepathy: 1 }
      const block = { type: 'tool_addition', cache_control: { type: 'ephemeral' } }
      const content = [
        { ...block, tool: { type: 'tool_definition', definition } },
        { ...block, type: 'tool_removal', tool: reference('look') },
      ]
      const { losses } = request('messages', to, {
        ...ask,
        max_tokens: 50,
        tools: [named('look')],
        messages: [...ask.messages, { role: 'system', content }],
      })
      const at = 'messages[1].content'
      expect(new Set(losses)).toEqual(
        new Set([
          ...['[0]', '[1]'].flatMap((one) => [`${at}${one}.cache_control`, `${at}${one}.tool`]),
          ...['input_examples', 'defer_loading', 'telepathy'].map((one) => `${at}[0].tool.definition.${one}`),
        ]),
      )
    },
  )
})

describe('a choice that forces a call', () => {
  it.each([
    ['chat', 'messages', { tool_choice: 'required' }, 'tool_choice'],
    ['chat', 'generate', { tool_choice: { type: 'function', function: { name: 'f' } }, tools: [] }, 'tool_choice'],
    ['messages', 'chat', { max_tokens: 5, tool_choice: { type: 'any' } }, 'tool_choice'],
    ['responses', 'messages', { input: 'x', tool_choice: 'required' }, 'tool_choice'],
    [
      ...(['generate', 'chat', { contents: [{ role: 'user', parts: [{ text: 'x' }] }] }] as const),
      'toolConfig.functionCallingConfig',
    ],
  ] as const)('is refused without tools, as every vendor does: %s to %s', (from, to, more, param) => {
    const calling = from === 'generate' ? { toolConfig: { functionCallingConfig: { mode: 'ANY' } } } : ask
    expect(request(from, to, { ...calling, ...more }).refused).toMatchObject({ code: 'not_translatable', param })
  })

  it.each(['auto', 'none'])('%s says nothing without tools', (tool_choice) => {
    expect(request('chat', 'messages', chat({ tool_choice }), claude)).toMatchObject({ refused: null, losses: [] })
  })

  it('is listed where there is a search only, which Gemini does not force', () => {
    const tools = [{ type: 'web_search_20250305', name: 'web_search' }]
    const body = { ...ask, max_tokens: 5, tools, tool_choice: { type: 'any' } }
    const { sent, losses } = request('messages', 'generate', body)
    expect(sent).not.toHaveProperty('toolConfig')
    expect(losses).toEqual(['tool_choice'])
  })
})

it('the answer is the choice with the index 0, wherever it stands', () => {
  const choice = (index: number, content: string) => ({ index, finish_reason: 'stop', message: { content } })
  const whole = (choices: object[]) => {
    const body = JSON.stringify({ id: 'c', model: 'm', choices })
    return JSON.parse(String(translateReply('messages', 'chat', body, writeContext()))).content
  }
  expect(whole([choice(1, 'second'), choice(0, 'first')])).toMatchObject([{ text: 'first' }])
  expect(whole([choice(1, 'only')])).toMatchObject([{ text: 'only' }])
})

it("what is inside of Gemini's schemas may be spelled with underscores", () => {
  const responseSchema = {
    type: 'OBJECT',
    properties: { a: { any_of: [{ type: 'STRING', max_length: '5' }, { type: 'INTEGER' }] }, b: { type: 'STRING' } },
    property_ordering: ['b', 'a'],
  }
  const body = {
    contents: [{ role: 'user', parts: [{ text: 'x' }] }],
    generationConfig: { responseMimeType: 'application/json', responseSchema },
  }
  const { body: written } = request('generate', 'chat', body)
  expect(written).toContain(
    '"properties":{"b":{"type":"string"},"a":{"anyOf":[{"type":"string","maxLength":5},{"type":"integer"}]}}',
  )
  expect(written).not.toContain('rdering')
})
