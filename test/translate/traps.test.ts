import { describe, expect, it } from 'vitest'
import { asArray, asObject } from '../../src/core/json/json-value.ts'
import { ask, calls, claude, contentOf, request } from '../support/translate/asked.ts'
import { block, messageEvents } from '../support/translate/chunks.ts'
import { checkStream } from '../support/translate/grammar.ts'
import { readChatWithSdk } from '../support/translate/sdk.ts'
import { isFault, translateEvents, translateReply, writeContext } from '../support/translate/stage.ts'

// Tests are named after the reports of other gateways that had the error.

describe('tools', () => {
  it('hindsight PR 3910, sglang PR 29083, fak 5797: all results are in one message, first, in the order of the calls', () => {
    const { sent } = request(
      'chat',
      'messages',
      {
        model: 'm',
        messages: [
          { role: 'user', content: 'x' },
          { role: 'assistant', content: '', tool_calls: calls('a', 'b', 'c') },
          { role: 'user', content: 'Hurry.' },
          { role: 'tool', tool_call_id: 'c', content: '3' },
          { role: 'tool', tool_call_id: 'a', content: '1' },
          { role: 'tool', tool_call_id: 'b', content: '2' },
        ],
      },
      claude,
    )
    expect(asArray(sent?.messages)).toHaveLength(3)
    expect(contentOf(sent, 2).map(({ tool_use_id, text }) => tool_use_id ?? text)).toEqual(['a', 'b', 'c', 'Hurry.'])
  })

  it('CLIProxyAPI 5039, Zoo-Code PR 1705: images of results follow all results, and are listed', () => {
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } }
    const { sent, losses } = request('messages', 'chat', {
      model: 'm',
      max_tokens: 5,
      messages: [
        { role: 'user', content: 'x' },
        { role: 'assistant', content: ['a', 'b'].map((id) => ({ type: 'tool_use', id, name: 'f', input: {} })) },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'a', content: [image] },
            { type: 'tool_result', tool_use_id: 'b', content: 'r' },
          ],
        },
      ],
    })
    expect(asArray(sent?.messages).map((message) => asObject(message)?.role)).toEqual([
      'user',
      'assistant',
      'tool',
      'tool',
      'user',
    ])
    expect(contentOf(sent, 4)).toEqual([
      { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } },
    ])
    expect(losses).toEqual(['messages[2].content[0].content[0]'])
  })

  it('llmgateway PR 3389: an id is the same in the call and in its result, and valid ids stay', () => {
    const ids = ['toolu_01', 'functions.read:0', 'é'.repeat(50)]
    const { sent } = request(
      'chat',
      'messages',
      {
        model: 'm',
        messages: [
          { role: 'user', content: 'x' },
          { role: 'assistant', tool_calls: calls(...ids) },
          ...ids.map((id) => ({ role: 'tool', tool_call_id: id, content: 'r' })),
        ],
      },
      claude,
    )
    const called = contentOf(sent, 1).map(({ id }) => String(id))
    expect(contentOf(sent, 2).map(({ tool_use_id }) => tool_use_id)).toEqual(called)
    expect(called[0]).toBe('toolu_01')
    expect(called.slice(1)).toEqual([
      expect.stringMatching(/^sp_[a-z2-7]{37}$/),
      expect.stringMatching(/^sp_[a-z2-7]{37}$/),
    ])
    expect(new Set(called).size).toBe(3)
    // What the provider has called, the client answers by the same id.
    const answer = messageEvents(block(0, { type: 'tool_use', id: 'toolu_01', name: 'f', input: {} }), 'tool_use')
    const stream = translateEvents('chat', 'messages', answer, writeContext()).join('')
    expect(stream).toContain('"id":"toolu_01"')
  })

  it.each([true, false])(
    'envoy PR 2232, litellm 35695, litellm 27490, Switchyard 599: strict is %s on the tool, and not in its schema',
    (strict) => {
      const schema = {
        type: 'object',
        properties: { strict: { type: 'boolean' } },
        required: ['strict'],
        additionalProperties: false,
      }
      const chat = request(
        'chat',
        'messages',
        { ...ask, tools: [{ type: 'function', function: { name: 'f', parameters: schema, strict } }] },
        claude,
      )
      // litellm PR 35688: Claude on Bedrock refuses `false`, which goes without saying.
      expect(chat.sent?.tools).toEqual([{ name: 'f', input_schema: schema, ...(strict && { strict }) }])
      const back = request('messages', 'chat', {
        ...ask,
        max_tokens: 5,
        tools: [{ name: 'f', input_schema: schema, strict }],
      })
      expect(back.sent?.tools).toEqual([{ type: 'function', function: { name: 'f', parameters: schema, strict } }])
    },
  )

  it('litellm 41913: const, parallel_tool_calls and the place of developer messages are kept', () => {
    const parameters = { type: 'object', properties: { a: { const: 'x' } }, required: ['a'] }
    const { sent } = request(
      'chat',
      'messages',
      {
        model: 'm',
        messages: [
          { role: 'developer', content: 'D' },
          { role: 'user', content: 'x' },
          { role: 'developer', content: 'E' },
        ],
        tools: [{ type: 'function', function: { name: 'f', parameters } }],
        parallel_tool_calls: false,
      },
      { model: 'claude-opus-5' },
    )
    expect(sent).toMatchObject({
      system: [{ text: 'D' }],
      tools: [{ input_schema: parameters }],
      tool_choice: { type: 'auto', disable_parallel_tool_use: true },
    })
    expect(asArray(sent?.messages).map((message) => asObject(message)?.role)).toEqual(['user', 'system'])
    const tools = [{ name: 'f', input_schema: parameters, allowed_callers: ['code_execution_20260120'] }]
    const back = request('messages', 'chat', { ...ask, max_tokens: 5, tools })
    expect(back.losses).toEqual(['tools[0].allowed_callers'])
  })

  it('litellm 38223: what looks like a schema in a result is data', () => {
    const data = '{"$ref":"#/x","additionalProperties":false,"strict":true}'
    const { sent, losses } = request(
      'chat',
      'messages',
      {
        model: 'm',
        messages: [
          { role: 'user', content: 'x' },
          { role: 'assistant', tool_calls: calls('a') },
          { role: 'tool', tool_call_id: 'a', content: data },
        ],
      },
      claude,
    )
    expect(contentOf(sent, 2)).toEqual([
      { type: 'tool_result', tool_use_id: 'a', content: [{ type: 'text', text: data }] },
    ])
    expect(losses).toEqual([])
  })

  it.each([
    'sub2api 3390: the text of a custom tool comes back as it was',
    'CLIProxyAPI 5753: its stream is text, and no JSON',
  ])('%s', async () => {
    const input = '*** Begin "Patch"\n+\u00e9\ud83d\ude00\\n\n'
    const tools = [{ type: 'custom', custom: { name: 'patch' } }]
    const { conversation } = request('chat', 'messages', { ...ask, tools }, claude)
    const json = JSON.stringify({ input }).replace('\u00e9', '\\u00e9')
    const deltas = [...json].map((partial_json) => ({ type: 'input_json_delta', partial_json }))
    const events = messageEvents(
      block(0, { type: 'tool_use', id: 'a', name: 'patch', input: {} }, ...deltas),
      'tool_use',
    )
    const stream = translateEvents('chat', 'messages', events, writeContext({ conversation })).join('')
    expect(checkStream('chat', stream)).toEqual([])
    expect((await readChatWithSdk(stream)).calls).toEqual([['patch', input]])
  })

  it('helicone 5639: the schema of an answer goes where the provider has it', () => {
    const schema = {
      type: 'object',
      properties: { a: { type: 'string' } },
      required: ['a'],
      additionalProperties: false,
    }
    const chat = request(
      'chat',
      'messages',
      { ...ask, response_format: { type: 'json_schema', json_schema: { name: 'n', schema, strict: true } } },
      claude,
    )
    expect(chat.sent?.output_config).toEqual({ format: { type: 'json_schema', schema } })
    const back = request('messages', 'chat', {
      ...ask,
      max_tokens: 5,
      output_config: { format: { type: 'json_schema', schema } },
    })
    expect(back.sent?.response_format).toEqual({
      type: 'json_schema',
      json_schema: { name: 'answer', schema, strict: true },
    })
  })
})

describe('settings', () => {
  it.each(['claude-opus-4-7', 'claude-opus-4.8', 'anthropic.claude-sonnet-5-v1:0'])(
    'vercel/ai 14707: %s gets no temperature, and it is listed',
    (model) => {
      const { sent, losses } = request('chat', 'messages', { ...ask, temperature: 0, top_p: 1 }, { model })
      expect(sent).not.toHaveProperty('temperature')
      expect(sent).not.toHaveProperty('top_p')
      expect(losses).toEqual(['temperature', 'top_p'])
    },
  )

  it('langwatch tasks 465: top_p beside temperature is listed, n is refused, and an address goes up as it is', () => {
    const { sent, losses } = request('chat', 'messages', { ...ask, temperature: 0.5, top_p: 0.5 }, claude)
    expect(sent).toMatchObject({ temperature: 0.5 })
    expect(losses).toEqual(['top_p'])
    const two = request('chat', 'messages', { ...ask, n: 2 }, claude)
    expect(two.refused).toMatchObject({ code: 'not_translatable', param: 'n' })
    const url = 'https://a.example/a b.png?x=1&y=%20'
    const part = { type: 'image_url', image_url: { url } }
    const seen = request('chat', 'messages', { model: 'm', messages: [{ role: 'user', content: [part] }] }, claude)
    expect(contentOf(seen.sent, 0)).toEqual([{ type: 'image', source: { type: 'url', url } }])
    for (const bad of ['file:///etc/passwd', 'a.png', 'gs://bucket/a.png']) {
      const content = [{ type: 'image_url', image_url: { url: bad } }]
      const asked = { model: 'm', messages: [{ role: 'user', content }] }
      expect(request('chat', 'messages', asked, claude).refused?.param).toMatch(/^messages\[0\]\.content\[0\]/)
    }
  })

  it('CLIProxyAPI 2419, CLIProxyAPI 5727, litellm PR 40315: marks stay on their parts, and cached tokens come back', () => {
    const cache_control = { type: 'ephemeral' }
    const { sent, losses } = request(
      'messages',
      'chat',
      {
        model: 'm',
        max_tokens: 5,
        system: [
          { type: 'text', text: 'A' },
          { type: 'text', text: 'B', cache_control },
        ],
        messages: [
          {
            role: 'user',
            content: [
              { type: 'text', text: 'C', cache_control: { ...cache_control, ttl: '1h' } },
              { type: 'text', text: 'D' },
            ],
          },
        ],
      },
      { model: 'gpt-5.2' },
    )
    expect(contentOf(sent, 0).map((part) => asObject(part.prompt_cache_breakpoint)?.ttl)).toEqual([undefined, '30m'])
    expect(contentOf(sent, 1).map((part) => asObject(part.prompt_cache_breakpoint)?.ttl)).toEqual(['12h', undefined])
    expect(losses).toEqual([])
    const usage = {
      prompt_tokens: 100,
      completion_tokens: 1,
      total_tokens: 101,
      prompt_tokens_details: { cached_tokens: 90, cache_write_tokens: 4 },
    }
    const body = {
      id: 'c',
      model: 'm',
      choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'a' } }],
      usage,
    }
    const written = JSON.parse(String(translateReply('messages', 'chat', JSON.stringify(body), writeContext())))
    expect(written.usage).toMatchObject({
      input_tokens: 6,
      cache_read_input_tokens: 90,
      cache_creation_input_tokens: 4,
    })
  })

  it('shortens what names the user for OpenAI, always in the same way, and sends no address to Anthropic', () => {
    const user_id = `user_${'a'.repeat(64)}_account__session_1`
    const sent = () =>
      request('messages', 'chat', { ...ask, max_tokens: 5, metadata: { user_id } }, { strict: true }).sent
    expect(sent()?.safety_identifier).toMatch(/^user_[a-z2-7]{24}$/)
    expect(sent()).toEqual(sent())
    const chat = request('chat', 'messages', { ...ask, user: 'ann@example.com' }, claude)
    expect(chat.sent?.metadata).toEqual({ user_id: expect.stringMatching(/^user_[a-z2-7]{24}$/) })
  })

  it('never writes a default', () => {
    expect(request('chat', 'messages', ask, { ...claude, maxOutput: 100 }).sent).toEqual({
      model: 'claude-sonnet-4-5',
      max_tokens: 100,
      messages: [{ role: 'user', content: [{ type: 'text', text: 'x' }] }],
    })
    expect(request('messages', 'chat', { ...ask, max_tokens: 100 }, { model: 'gpt-4.1' }).sent).toEqual({
      model: 'gpt-4.1',
      messages: [{ role: 'user', content: 'x' }],
      max_completion_tokens: 100,
    })
  })

  it('keeps numbers as they were written', () => {
    const args = '{"id":12345678901234567890,"x":1.0}'
    const messages = [
      { role: 'user', content: 'x' },
      { role: 'assistant', tool_calls: [{ ...calls('a')[0], function: { name: 'f', arguments: args } }] },
      { role: 'tool', tool_call_id: 'a', content: 'r' },
    ]
    expect(request('chat', 'messages', { model: 'm', messages }, claude).body).toContain(`"input":${args}`)
  })

  it('gives a fault for an answer without a message', () => {
    for (const [from, to] of [
      ['chat', 'messages'],
      ['messages', 'chat'],
    ] as const) {
      const answer = translateReply(from, to, '{}', writeContext())
      expect(typeof answer !== 'string' && isFault(answer) && answer.code).toBe('provider_bad_response')
    }
  })
})
