import { describe, expect, it } from 'vitest'
import { asArray, asObject, type JsonObject } from '../../src/core/json/json-value.ts'
import { blocksOf, calls, claude, contentOf, request, toChat, toMessages } from '../support/translate/asked.ts'
import { block, chatChunk, messageEvents } from '../support/translate/chunks.ts'
import { checkStream } from '../support/translate/grammar.ts'
import { readChatWithSdk, readMessagesWithSdk } from '../support/translate/sdk.ts'
import { readSse } from '../support/translate/sse.ts'
import {
  blankConversation,
  plainCarriers,
  translateEvents,
  translateReply,
  translateRequest,
  writeContext,
} from '../support/translate/stage.ts'

// Tests are named after the reports of other gateways that had the error.

const carrying = {
  ...blankConversation,
  settings: { ...blankConversation.settings, carriesReasoning: true },
}

/** Older Claude gets its thinking back only while it thinks. */
const thinks = (body: JsonObject) => ({ model: 'm', reasoning_effort: 'medium', ...body })

it('a level that Gemini has had since 2026 (XHIGH) is an effort elsewhere', () => {
  const generationConfig = { thinkingConfig: { thinkingLevel: 'XHIGH' } }
  const body = { contents: [{ role: 'user', parts: [{ text: 'x' }] }], generationConfig }
  const { sent, losses } = request('generate', 'messages', body, { model: 'claude-opus-4-8' })
  expect([sent?.output_config, losses]).toEqual([{ effort: 'xhigh' }, []])
})

describe('reasoning', () => {
  describe('litellm 18926: all turns since the last question are one answer to older Claude', () => {
    const signed = { type: 'thinking', thinking: 'Hm.', signature: 'c2ln' }
    const sealed = plainCarriers.seal({
      family: 'anthropic',
      form: 'signature',
      value: JSON.stringify({ text: 'Hm.', value: 'c2ln' }),
    })
    const answer = (id: string, isSigned: boolean) => [
      {
        role: 'assistant',
        content: null,
        tool_calls: calls(id),
        ...(isSigned ? { extra_content: { spgw: { reasoning: [sealed] } } } : {}),
      },
      { role: 'tool', tool_call_id: id, content: 'r' },
    ]
    const user = { role: 'user', content: 'x' }
    const ask = (effort: string | null, ...turns: readonly JsonObject[][]) =>
      request(
        'chat',
        'messages',
        { model: 'm', messages: [user, ...turns.flat()], ...(effort === null ? {} : { reasoning_effort: effort }) },
        claude,
      )
    const thinkingIn = (sent: JsonObject | null) => JSON.stringify(sent?.messages).split('"thinking":').length - 1

    it('one that begins with thinking goes on thinking, though a later turn has none', () => {
      const { sent, losses } = ask('medium', answer('a', true), answer('b', false))
      expect(sent?.thinking).toMatchObject({ type: 'enabled' })
      expect(contentOf(sent, 1)[0]).toEqual(signed)
      expect(losses).toEqual([])
    })

    it('one that another model began goes on without any, also where a later turn has some', () => {
      const { sent, losses } = ask('medium', answer('a', false), answer('b', true))
      expect(sent?.thinking).toBeUndefined()
      expect(thinkingIn(sent)).toBe(0)
      expect(losses).toEqual(['reasoning_effort', 'messages[3].extra_content.spgw.reasoning[0]'])
      const next = ask('medium', answer('a', false), [{ role: 'assistant', content: 'y' }, user], answer('b', true))
      expect(next.sent?.thinking).toMatchObject({ type: 'enabled' })
      expect(next.losses).toEqual([])
    })

    it.each([null, 'none'])('with the effort %s it gets no thinking back', (effort) => {
      const { sent, losses } = ask(effort, answer('a', true))
      expect(thinkingIn(sent)).toBe(0)
      expect(losses).toEqual(['messages[1].extra_content.spgw.reasoning[0]'])
    })
  })

  it('opencode 48637: nothing that stands before signed thinking changes from one turn to the next', () => {
    const signed = plainCarriers.seal({
      family: 'anthropic',
      form: 'signature',
      value: JSON.stringify({ text: 'Hm.', value: 'c2ln' }),
    })
    const thought = (id: string) => ({
      role: 'assistant',
      content: null,
      tool_calls: [{ id, type: 'function', function: { name: 'look', arguments: '{}' } }],
      extra_content: { spgw: { reasoning: [signed] } },
    })
    const tool = (id: string) => ({ role: 'tool', tool_call_id: id, content: 'x' })
    const begin = [
      { role: 'developer', content: 'Be careful.' },
      { role: 'user', content: 'Go.' },
    ]
    const turn = (...messages: readonly JsonObject[]) =>
      request('chat', 'messages', thinks({ messages: [...begin, ...messages] }), claude).sent ?? {}
    const first = turn(thought('a'), tool('a'))
    const second = turn(thought('a'), tool('a'), thought('b'), tool('b'))
    const { messages: before, ...rest } = first
    const { messages: after, ...others } = second
    expect(JSON.stringify(others)).toBe(JSON.stringify(rest))
    expect(JSON.stringify(asArray(after).slice(0, asArray(before).length))).toBe(JSON.stringify(before))
    expect(contentOf(second, 1)[0]).toMatchObject({ type: 'thinking', thinking: 'Hm.', signature: 'c2ln' })
  })

  it('carries signed thinking in a stream to a chat client that asked for it, and reads it back', async () => {
    const thinking = { type: 'thinking', thinking: 'Hm.', signature: 'c2ln' }
    const events = messageEvents(
      [
        ...block(
          0,
          { ...thinking, thinking: '', signature: '' },
          { type: 'thinking_delta', thinking: 'Hm.' },
          { type: 'signature_delta', signature: 'c2ln' },
        ),
        ...block(1, { type: 'tool_use', id: 'a', name: 'f_a', input: {} }),
      ],
      'tool_use',
    )
    const stream = translateEvents('chat', 'messages', events, writeContext({ conversation: carrying })).join('')
    expect(checkStream('chat', stream)).toEqual([])
    expect((await readChatWithSdk(stream)).calls).toEqual([['f_a', {}]])
    const extra_content = readSse(stream)
      .map(({ data }) => asObject(asObject(asArray(data?.choices)[0])?.delta)?.extra_content)
      .find((extra) => extra !== undefined)
    const messages = [
      { role: 'user', content: 'x' },
      { role: 'assistant', content: null, extra_content, tool_calls: calls('a') },
      { role: 'tool', tool_call_id: 'a', content: 'r' },
    ]
    const asked = translateRequest('chat', 'messages', JSON.stringify(thinks({ messages })), claude)
    expect(asked.conversation.settings.carriesReasoning).toBe(true)
    expect(contentOf(asObject(JSON.parse(asked.body ?? 'null')), 1)[0]).toEqual(thinking)
  })

  it('carries the signature of a call behind it for Anthropic clients, and puts it back on the call', async () => {
    const signed = { google: { thought_signature: 'dGg=' } }
    const call = {
      index: 0,
      id: 'a',
      type: 'function',
      function: { name: 'f', arguments: '{}' },
      extra_content: signed,
    }
    const events = [chatChunk({ content: 'I look.' }), chatChunk({ tool_calls: [call] }), chatChunk({}, 'tool_calls')]
    const stream = toMessages(events)
    expect(blocksOf(stream)).toEqual(['text', 'tool_use', 'redacted_thinking'])
    expect((await readMessagesWithSdk(stream)).calls).toEqual([['f', {}]])
    const message = { role: 'assistant', content: 'I look.', tool_calls: [call] }
    const body = { id: 'c', model: 'm', choices: [{ index: 0, finish_reason: 'tool_calls', message }] }
    const { content } = JSON.parse(String(translateReply('messages', 'chat', JSON.stringify(body), writeContext())))
    expect(content.map(({ type }: JsonObject) => type)).toEqual(['text', 'tool_use', 'redacted_thinking'])
    const messages = [
      { role: 'user', content: 'x' },
      { role: 'assistant', content },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'r' }] },
    ]
    const google = { model: 'gemini-3-pro', compatible: true }
    const { sent, losses } = request('messages', 'chat', { model: 'm', max_tokens: 5, messages }, google)
    expect(asObject(asArray(sent?.messages)[1])?.tool_calls).toEqual([
      { id: 'a', type: 'function', function: { name: 'f', arguments: '{}' }, extra_content: signed },
    ])
    expect(losses).toEqual([])
  })

  it('9router 885: a signature is never made up', () => {
    const stream = toMessages([
      chatChunk({ reasoning_content: 'Hm.' }),
      chatChunk({ content: 'Yes.' }),
      chatChunk({}, 'stop'),
    ])
    expect(blocksOf(stream)).toEqual(['thinking', 'text'])
    expect(stream).not.toContain('signature_delta')
    const message = { role: 'assistant', content: 'Yes.', reasoning_content: 'Hm.' }
    const body = { id: 'c', model: 'm', choices: [{ index: 0, finish_reason: 'stop', message }] }
    const whole = JSON.parse(String(translateReply('messages', 'chat', JSON.stringify(body), writeContext())))
    expect(whole.content[0]).toEqual({ type: 'thinking', thinking: 'Hm.', signature: '' })
  })

  it('onyx PR 13691: reasoning without a signature does not go up, and is listed', () => {
    const messages = [
      { role: 'user', content: 'x' },
      { role: 'assistant', content: 'y', reasoning_content: 'Hm.' },
      { role: 'user', content: 'z' },
    ]
    const { sent, losses } = request('chat', 'messages', { model: 'm', messages }, claude)
    expect(contentOf(sent, 1)).toEqual([{ type: 'text', text: 'y' }])
    expect(losses).toEqual(['messages[1].reasoning_content'])
  })

  it('anthropic-sdk-python 1598, Bifrost 6342, any-llm PR 1312: several signed blocks come back each as it was, in order', () => {
    const thinking = [
      { type: 'thinking', thinking: 'A "first"\n', signature: 'c2lnMQ==' },
      { type: 'redacted_thinking', data: 'cmVk' },
      { type: 'thinking', thinking: '', signature: 'c2lnMg==' },
    ]
    const body = {
      id: 'msg_1',
      model: 'm',
      content: [...thinking, { type: 'text', text: 'y' }],
      stop_reason: 'end_turn',
    }
    const written = JSON.parse(
      String(translateReply('chat', 'messages', JSON.stringify(body), writeContext({ conversation: carrying }))),
    )
    const messages = [{ role: 'user', content: 'x' }, written.choices[0].message, { role: 'user', content: 'z' }]
    const { sent, losses } = request('chat', 'messages', thinks({ messages }), claude)
    expect(contentOf(sent, 1)).toEqual([...thinking, { type: 'text', text: 'y' }])
    expect(losses).toEqual([])
  })

  it('envoy PR 2530, litellm 36197, litellm 40364: what another provider has sealed, or nobody, is left out and listed', () => {
    const foreign = plainCarriers.seal({
      family: 'openai',
      form: 'encrypted',
      value: 'e',
    })
    const message = { role: 'assistant', content: 'y', extra_content: { spgw: { reasoning: [foreign, 'forged'] } } }
    const { sent, losses } = request(
      'chat',
      'messages',
      { model: 'm', messages: [{ role: 'user', content: 'x' }, message, { role: 'user', content: 'z' }] },
      claude,
    )
    expect(contentOf(sent, 1)).toEqual([{ type: 'text', text: 'y' }])
    expect(losses).toEqual([0, 1].map((index) => `messages[1].extra_content.spgw.reasoning[${index}]`))
  })

  it.each(['prv_plain', 'prv_other'])(
    'litellm 36197, litellm 40364: what %s encrypted goes to prv_plain',
    (provider) => {
      const sealed = plainCarriers.seal({ family: 'openai', form: 'encrypted', value: 'gAAAA', id: 'rs_1', provider })
      const message = { role: 'assistant', content: 'y', extra_content: { spgw: { reasoning: [sealed] } } }
      const messages = [{ role: 'user', content: 'x' }, message, { role: 'user', content: 'z' }]
      const { body, losses } = request('chat', 'responses', { model: 'm', messages }, { model: 'gpt-5.2' })
      expect(body?.includes('gAAAA')).toBe(provider === 'prv_plain')
      expect(losses).toEqual(provider === 'prv_plain' ? [] : ['messages[1].extra_content.spgw.reasoning[0]'])
    },
  )

  it("litellm PR 36355, litellm 40654: reasoning is never the assistant's text", async () => {
    const thinking = block(
      0,
      { type: 'thinking', thinking: '', signature: '' },
      { type: 'thinking_delta', thinking: 'Hm.' },
      { type: 'signature_delta', signature: 'c2ln' },
    )
    const text = block(1, { type: 'text', text: '' }, { type: 'text_delta', text: 'Yes.' })
    const events = messageEvents([...thinking, ...text], 'end_turn')
    expect(await readChatWithSdk(toChat(events))).toMatchObject({ text: 'Yes.', reasoning: 'Hm.' })
    const hidden = translateEvents('chat', 'messages', events, writeContext({ reasoningText: false })).join('')
    expect(hidden).not.toContain('Hm.')
  })
})
