import { describe, expect, it } from 'vitest'
import { asArray, asObject } from '../../src/core/json/json-value.ts'
import { ask, blocksOf, calls, claude, toChat, toMessages } from '../support/translate/asked.ts'
import { block, callChunk, chatChunk, messageEvents } from '../support/translate/chunks.ts'
import { readChatWithSdk, readMessagesWithSdk } from '../support/translate/sdk.ts'
import { readSse } from '../support/translate/sse.ts'
import { translateEvents, translateReply, translateRequest, writeContext } from '../support/translate/stage.ts'

// Tests are named after the reports of other gateways that had the error.

describe('streams', () => {
  it('gives a client without custom tools the text of a custom call as an object', async () => {
    const input = 'print("\\n")\n'
    const custom = (piece: object) => chatChunk({ tool_calls: [{ index: 0, ...piece }] })
    const stream = toMessages([
      custom({ id: 'a', type: 'custom', custom: { name: 'run', input: input.slice(0, 7) } }),
      custom({ custom: { input: input.slice(7) } }),
      chatChunk({}, 'tool_calls'),
    ])
    expect((await readMessagesWithSdk(stream)).calls).toEqual([['run', { input }]])
    const call = { id: 'a', type: 'custom', custom: { name: 'run', input } }
    const body = { choices: [{ finish_reason: 'tool_calls', message: { role: 'assistant', tool_calls: [call] } }] }
    const whole = JSON.parse(String(translateReply('messages', 'chat', JSON.stringify(body), writeContext())))
    expect(whole.content[0].input).toEqual({ input })
  })

  it('vscode 307618, opencode 31259: white space alone is no block, which Claude would refuse in the history', async () => {
    const end = [callChunk(0, '{}', { id: 'a', name: 'f' }), chatChunk({}, 'tool_calls')]
    expect(blocksOf(toMessages([chatChunk({ content: '\n' }), chatChunk({ content: '\n' }), ...end]))).toEqual([
      'tool_use',
    ])
    const spoken = toMessages([
      chatChunk({ content: '\n' }),
      chatChunk({ content: ' ' }),
      chatChunk({ content: 'So' }),
      ...end,
    ])
    expect((await readMessagesWithSdk(spoken)).text).toBe('\n So')
    const message = { role: 'assistant', content: '\n\n', tool_calls: calls('a') }
    const body = { choices: [{ finish_reason: 'tool_calls', message }] }
    const whole = JSON.parse(String(translateReply('messages', 'chat', JSON.stringify(body), writeContext())))
    expect(whole.content).toEqual([expect.objectContaining({ type: 'tool_use' })])
  })

  it('headroom PR 2890: a block that has ended gets no delta', async () => {
    const stream = toMessages([
      callChunk(0, '{"a":', { id: 'a', name: 'f' }),
      callChunk(1, '{"b":', { id: 'b', name: 'g' }),
      callChunk(0, '1}'),
      callChunk(1, '2}'),
      chatChunk({}, 'tool_calls'),
    ])
    const open: unknown[] = []
    for (const { name, data } of readSse(stream)) {
      if (name === 'content_block_stop') open.push(data?.index)
      if (name === 'content_block_delta') expect(open).not.toContain(data?.index)
    }
    expect((await readMessagesWithSdk(stream)).calls).toEqual([
      ['f', { a: 1 }],
      ['g', { b: 2 }],
    ])
  })

  it('litellm 15307, litellm PR 15315: text, then calls, then text have a block each, one after another', () => {
    const stream = toMessages([
      chatChunk({ content: 'a' }),
      callChunk(0, '{}', { id: 'a', name: 'f' }),
      chatChunk({ content: 'b' }),
      chatChunk({}, 'tool_calls'),
    ])
    expect(blocksOf(stream)).toEqual(['text', 'tool_use', 'text'])
  })

  it('litellm PR 25411: arguments that come with the name when the block changes do not vanish', async () => {
    const stream = toMessages([
      chatChunk({ content: 'I look.' }),
      callChunk(0, '{"city":"Oslo"}', { id: 'a', name: 'weather' }),
      chatChunk({}, 'tool_calls'),
    ])
    expect((await readMessagesWithSdk(stream)).calls).toEqual([['weather', { city: 'Oslo' }]])
  })

  it('litellm 39796: so do those of a call that waits for another one to end', async () => {
    const stream = toMessages([
      callChunk(0, '{"n":1}', { id: 'a', name: 'f' }),
      callChunk(1, '{"n":2}', { id: 'b', name: 'f' }),
      callChunk(2, '{"n":3}', { id: 'c', name: 'f' }),
      chatChunk({}, 'tool_calls'),
    ])
    expect((await readMessagesWithSdk(stream)).calls).toEqual([1, 2, 3].map((n) => ['f', { n }]))
  })

  it('litellm 17425: a call without a name is none, and there is one choice only', async () => {
    const stream = toMessages([
      chatChunk({ content: 'a', tool_calls: [{ index: 0, function: { arguments: '' } }] }),
      chatChunk({}, 'stop'),
    ])
    expect(blocksOf(stream)).toEqual(['text'])
    const chat = toChat(messageEvents(block(0, { type: 'tool_use', id: 'a', name: 'f', input: {} }), 'tool_use'))
    expect(readSse(chat).map(({ data }) => asArray(data?.choices).length)).toEqual([1, 1, 1, 1, 0])
    expect((await readChatWithSdk(chat)).calls).toEqual([['f', {}]])
  })

  it('litellm PR 37792: calls that all have the index 0 are as many as they have ids', async () => {
    const stream = toMessages([
      callChunk(0, '{"n":1}', { id: 'a', name: 'f' }),
      callChunk(0, '{"n":2}', { id: 'b', name: 'f' }),
      chatChunk({}, 'stop'),
    ])
    expect((await readMessagesWithSdk(stream)).calls).toEqual([
      ['f', { n: 1 }],
      ['f', { n: 2 }],
    ])
  })

  it('litellm 34692: no empty text before a call, and the reason is the call, whatever the provider says', async () => {
    const stream = toMessages([
      chatChunk({ role: 'assistant', content: '' }),
      callChunk(0, '{}', { id: 'a', name: 'f' }),
      chatChunk({}, 'stop'),
    ])
    expect(blocksOf(stream)).toEqual(['tool_use'])
    expect((await readMessagesWithSdk(stream)).stop).toBe('tool_use')
    const chat = toChat(messageEvents(block(0, { type: 'tool_use', id: 'a', name: 'f', input: {} }), 'end_turn'))
    expect((await readChatWithSdk(chat)).stop).toBe('tool_calls')
    expect(asObject(asObject(asArray(readSse(chat)[0]?.data?.choices)[0])?.delta)?.content).toBe(null)
  })

  it('any-llm PR 1202: the limit beats a call that it has cut in two, which is dropped', () => {
    const message = {
      role: 'assistant',
      content: null,
      tool_calls: [{ ...calls('a')[0], function: { name: 'f', arguments: '{"a' } }],
    }
    const body = { id: 'c', model: 'm', choices: [{ index: 0, finish_reason: 'length', message }] }
    const written = translateReply('messages', 'chat', JSON.stringify(body), writeContext())
    expect(JSON.parse(String(written))).toMatchObject({ stop_reason: 'max_tokens', content: [] })
  })

  it('hermes PR 83886: a call that cannot be read ends in an error, never in an answer', async () => {
    const stream = toMessages([callChunk(0, '{"a": nonsense', { id: 'a', name: 'f' }), chatChunk({}, 'tool_calls')])
    expect((await readMessagesWithSdk(stream)).error).toMatch(/cannot be read/)
    expect(stream).not.toContain('message_stop')
  })

  it('Portkey 1797: a provider that breaks off is an error to the client, not a clean end', async () => {
    const cut = toMessages([chatChunk({ content: 'Half an' })], true)
    expect((await readMessagesWithSdk(cut)).error).toMatch(/broke off/)
    const text = block(0, { type: 'text', text: '' }, { type: 'text_delta', text: 'Half an' })
    const chat = toChat(messageEvents(text, 'end_turn').slice(0, 2 + 1), true)
    expect((await readChatWithSdk(chat)).error).toMatch(/broke off/)
    expect(chat).not.toContain('[DONE]')
  })

  it('CLIProxyAPI 1700: message_start has the estimate, message_delta the truth', () => {
    const usage = {
      id: 'c',
      model: 'm',
      choices: [],
      usage: { prompt_tokens: 100, completion_tokens: 7, total_tokens: 107 },
    }
    const events = [chatChunk({ content: 'a' }), chatChunk({}, 'stop'), { name: '', data: usage, raw: '' }]
    const asked = (estimatedInput: number) =>
      translateEvents('messages', 'chat', events, writeContext({ estimatedInput })).join('')
    const inputAt = (written: string) => asObject(asObject(readSse(written)[0]?.data?.message)?.usage)?.input_tokens
    expect(inputAt(asked(77))).toBe(77)
    const stream = asked(0)
    const [start, end] = ['message_start', 'message_delta'].map(
      (one) => readSse(stream).find(({ name }) => name === one)?.data,
    )
    expect(asObject(asObject(start?.message)?.usage)?.input_tokens).toBeGreaterThan(0)
    expect(end?.usage).toMatchObject({ input_tokens: 100, output_tokens: 7 })
    expect(asObject(asObject(start?.message)?.usage)?.cache_creation).toBe(null)
  })

  it('Bifrost 5354, Bifrost 3451: usage that is said twice is replaced, never added', () => {
    const events = messageEvents(block(0, { type: 'text', text: '' }, { type: 'text_delta', text: 'a' }), 'end_turn', {
      input_tokens: 5,
      output_tokens: 9,
    })
    const { conversation } = translateRequest(
      'chat',
      'messages',
      JSON.stringify({ ...ask, stream: true, stream_options: { include_usage: true } }),
      claude,
    )
    const stream = translateEvents('chat', 'messages', events, writeContext({ conversation })).join('')
    expect(readSse(stream).at(-2)?.data?.usage).toMatchObject({
      prompt_tokens: 5,
      completion_tokens: 9,
      total_tokens: 14,
    })
  })

  it('langwatch 7018: the total is the prompt and the answer, cached tokens in it once', () => {
    const usage = { input_tokens: 10, cache_creation_input_tokens: 20, cache_read_input_tokens: 30, output_tokens: 5 }
    const body = { id: 'msg_1', model: 'm', content: [{ type: 'text', text: 'a' }], stop_reason: 'end_turn', usage }
    const written = JSON.parse(String(translateReply('chat', 'messages', JSON.stringify(body), writeContext())))
    expect(written.usage).toMatchObject({ prompt_tokens: 60, completion_tokens: 5, total_tokens: 65 })
  })

  it.each([
    ['refusal', 'content_filter'],
    ['model_context_window_exceeded', 'length'],
    ['something_new', 'stop'],
  ])('laravel/ai PR 881, envoy PR 2121: the reason %s is %s, never nothing', (reason, expected) => {
    const body = { id: 'msg_1', model: 'm', content: [{ type: 'text', text: 'a' }], stop_reason: reason }
    const written = JSON.parse(String(translateReply('chat', 'messages', JSON.stringify(body), writeContext())))
    expect(written.choices[0].finish_reason).toBe(expected)
  })
})
