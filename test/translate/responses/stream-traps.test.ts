import { describe, expect, it } from 'vitest'
import { asArray, asObject } from '../../../src/core/json/json-value.ts'
import { request } from '../../support/translate/asked.ts'
import { block, callChunk, chatChunk, messageEvents } from '../../support/translate/chunks.ts'
import { checkStream } from '../../support/translate/grammar.ts'
import { readResponsesWithSdk } from '../../support/translate/openai-google-sdk.ts'
import { asked, outputOf, stream, user } from '../../support/translate/responses-client.ts'
import { readSse, type SentEvent } from '../../support/translate/sse.ts'
import { plainCarriers, translateEvents, translateReply, writeContext } from '../../support/translate/stage.ts'

// Tests are named after the reports of other gateways that had the error.

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
    const mixed = stream([
      chatChunk({ reasoning_content: 'Hm.' }),
      chatChunk({ content: 'I call.' }),
      callChunk(0, '{"a"', { id: 'a', name: 'f' }),
      callChunk(1, '{}', { id: 'b', name: 'g' }),
      callChunk(0, ':1}'),
      chatChunk({}, 'tool_calls'),
    ])
    const placed = readSse(mixed).filter(({ data }) => data?.output_index !== undefined)
    for (const index of [0, 1, 2, 3]) {
      const own = placed.filter(({ data }) => data?.output_index === index).map(({ name }) => name)
      expect(own[0]).toBe('response.output_item.added')
      expect(own.indexOf('response.output_item.done')).toBe(own.length - 1)
      expect(own.filter((name) => name.endsWith('.delta'))).not.toEqual([])
    }
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
    expect(readSse(written).at(-1)?.data?.response).toMatchObject({
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
    })
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
