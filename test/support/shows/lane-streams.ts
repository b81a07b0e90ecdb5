import { expect } from 'vitest'
import { type Answer, done, joined, json, readEvents, sse } from './streams.ts'

export interface Streamed {
  path: string
  body: object
  /** The answer in which a text comes in these pieces. */
  answer(pieces: readonly string[]): Answer
  /** What a client puts together of it. */
  read(text: string): string
}

export const usage = { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 }
export const messages = [{ role: 'user', content: 'hi' }]
export const chatOf = (delta: (piece: string) => object) => (pieces: readonly string[]) => {
  const chunk = (given: object, finish: string | null) => ({
    id: 'c',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'm',
    choices: [{ index: 0, delta: given, logprobs: { content: [{ token: pieces.join('') }] }, finish_reason: finish }],
  })
  const all = pieces.map((piece) => chunk(delta(piece), null))
  return done(sse(...all, chunk({}, 'stop'), { id: 'c', object: 'x', created: 1, model: 'm', choices: [], usage }))
}
const part = { item_id: 'i', output_index: 0, content_index: 0 }
export const message = (text: string) => ({
  id: 'i',
  type: 'message',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text, annotations: [], logprobs: [{ token: text }] }],
})
const blockOf = (start: object, delta: (piece: string) => object) => (pieces: readonly string[]) =>
  sse(
    {
      type: 'message_start',
      message: { id: 'm', model: 'm', content: [], usage: { input_tokens: 3, output_tokens: 1 } },
    },
    { type: 'content_block_start', index: 0, content_block: start },
    { type: 'ping' },
    ...pieces.map((piece) => ({ type: 'content_block_delta', index: 0, delta: delta(piece) })),
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 4 } },
    { type: 'message_stop' },
  )
const generated = (pieces: readonly string[]) =>
  pieces.map((text, at) => ({
    candidates: [
      {
        index: 0,
        content: { role: 'model', parts: [{ text }] },
        ...(at === pieces.length - 1 ? { finishReason: 'STOP' } : {}),
      },
    ],
    usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 4, totalTokenCount: 7 },
  }))
export const gemini = '/gemini/v1beta/models/gemini-model'
const spent = { total_input_tokens: 3, total_output_tokens: 4, total_tokens: 7 }
const named = (name: string, data: object) => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`
const anthropic = {
  path: '/anthropic/v1/messages',
  body: { model: 'anthropic-model', max_tokens: 9, stream: true, messages },
}
export const openai = { path: '/chat/completions', body: { model: 'openai-model', stream: true, messages } }
const responses = { path: '/responses', body: { model: 'openai-model', stream: true, input: 'hi' } }

export const texts: Record<string, Streamed> = {
  chat: { ...openai, answer: chatOf((content) => ({ content })), read: (text) => joined(readEvents(text), 'content') },
  'the reasoning of a chat': {
    ...openai,
    answer: chatOf((piece) => ({ reasoning_content: piece })),
    read: (text) => joined(readEvents(text), 'reasoning_content'),
  },
  responses: {
    ...responses,
    answer: (pieces) =>
      sse(
        { type: 'response.created', sequence_number: 0, response: { id: 'r', output: [] } },
        ...pieces.map((delta) => ({
          type: 'response.output_text.delta',
          ...part,
          delta,
          logprobs: [{ token: delta }],
        })),
        { type: 'response.output_text.done', ...part, text: pieces.join('') },
        { type: 'response.content_part.done', ...part, part: message(pieces.join('')).content[0] },
        { type: 'response.output_item.done', output_index: 0, item: message(pieces.join('')) },
        { type: 'response.completed', response: { id: 'r', status: 'completed', output: [message(pieces.join(''))] } },
      ),
    read(text) {
      const events = readEvents(text)
      const deltas = joined(events, 'delta')
      // All four say the same.
      expect(joined(events, 'text')).toBe(deltas.repeat(4))
      return deltas
    },
  },
  messages: {
    ...anthropic,
    answer: blockOf({ type: 'text', text: '' }, (text) => ({ type: 'text_delta', text })),
    read: (text) => joined(readEvents(text), 'text'),
  },
  thinking: {
    ...anthropic,
    answer: blockOf({ type: 'thinking', thinking: '' }, (thinking) => ({ type: 'thinking_delta', thinking })),
    read: (text) => joined(readEvents(text), 'thinking'),
  },
  gemini: {
    path: `${gemini}:streamGenerateContent?alt=sse`,
    body: {},
    answer: (pieces) => sse(...generated(pieces)),
    read: (text) => joined(readEvents(text), 'text'),
  },
  'legacy completions': {
    path: '/completions',
    body: { model: 'openai-model', stream: true, prompt: 'hi' },
    answer: (pieces) => {
      const chunk = (text: string, finish: string | null) => ({
        id: 'c',
        object: 'text_completion',
        created: 1,
        model: 'm',
        choices: [{ index: 0, text, logprobs: { tokens: [text] }, finish_reason: finish }],
      })
      const end = { id: 'c', object: 'text_completion', created: 1, model: 'm', choices: [], usage }
      return done(sse(...pieces.map((piece) => chunk(piece, null)), chunk('', 'stop'), end))
    },
    read: (text) => joined(readEvents(text), 'text'),
  },
  'a legacy completion of Anthropic': {
    path: '/anthropic/v1/complete',
    body: { model: 'anthropic-model', max_tokens_to_sample: 9, stream: true, prompt: 'hi' },
    answer: (pieces) => {
      const piece = (completion: string, stop_reason: string | null) => ({
        type: 'completion',
        completion,
        stop_reason,
      })
      return sse(...pieces.map((text) => piece(text, null)), piece('', 'stop_sequence'))
    },
    read: (text) => joined(readEvents(text), 'completion'),
  },
  'a run of a thread': {
    path: '/threads/runs',
    body: { model: 'openai-model', assistant_id: 'asst_1', stream: true, thread: { messages } },
    answer: (pieces) =>
      done({
        type: 'text/event-stream',
        text:
          named('thread.run.created', { id: 'run_1', object: 'thread.run', thread_id: 't', status: 'queued' }) +
          pieces
            .map((value) =>
              named('thread.message.delta', {
                id: 'msg_1',
                object: 'thread.message.delta',
                delta: { content: [{ index: 0, type: 'text', text: { value, annotations: [] } }] },
              }),
            )
            .join('') +
          named('thread.message.completed', {
            id: 'msg_1',
            object: 'thread.message',
            content: [{ type: 'text', text: { value: pieces.join(''), annotations: [] } }],
          }) +
          named('thread.run.completed', { id: 'run_1', object: 'thread.run', status: 'completed', usage }),
      }),
    read(text) {
      const [deltas, whole] = ['thread.message.delta', 'thread.message'].map((object) =>
        joined(
          readEvents(text).filter((event) => event.object === object),
          'value',
        ),
      )
      if (whole !== '') expect(whole).toBe(deltas)
      return deltas ?? ''
    },
  },
  'an interaction': {
    path: '/gemini/v1beta/interactions',
    body: { model: 'gemini-model', stream: true, input: 'hi' },
    answer: (pieces) => {
      const interaction = { id: 'v1_1', object: 'interaction', model: 'm' }
      const events = [
        { event_type: 'interaction.created', interaction: { ...interaction, status: 'in_progress' } },
        { event_type: 'step.start', index: 0, step: { type: 'model_output', content: [] } },
        ...pieces.map((text) => ({ event_type: 'step.delta', index: 0, delta: { type: 'text', text } })),
        { event_type: 'step.stop', index: 0 },
        { event_type: 'interaction.completed', interaction: { ...interaction, status: 'completed', usage: spent } },
      ]
      const text = events.map((event, at) => named(event.event_type, { ...event, event_id: `e${at}` })).join('')
      return { type: 'text/event-stream', text: `${text}event: done\ndata: [DONE]\n\n` }
    },
    read: (text) => joined(readEvents(text), 'text'),
  },
  'arguments of a function that come by their place': {
    path: `${gemini}:streamGenerateContent?alt=sse`,
    body: {},
    answer: (pieces) =>
      sse(
        ...pieces.map((stringValue, at) => ({
          candidates: [
            {
              index: 0,
              content: {
                role: 'model',
                parts: [
                  {
                    functionCall: {
                      ...(at === 0 ? { name: 'f' } : {}),
                      partialArgs: [{ jsonPath: '$.k', stringValue, willContinue: at < pieces.length - 1 }],
                      willContinue: true,
                    },
                  },
                ],
              },
            },
          ],
        })),
        {
          candidates: [{ index: 0, content: { role: 'model', parts: [{ functionCall: {} }] }, finishReason: 'STOP' }],
          usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 4, totalTokenCount: 7 },
        },
      ),
    read: (text) => joined(readEvents(text), 'stringValue'),
  },
  'gemini as an array': {
    path: `${gemini}:streamGenerateContent`,
    body: {},
    answer: (pieces) => json(generated(pieces)),
    read: (text) => joined(readEvents(text), 'text'),
  },
}

export const call = (text: string) => ({ index: 0, id: 'c', function: { name: 'f', arguments: text } })
export const fragments: Record<string, Streamed> = {
  chat: {
    ...openai,
    answer: chatOf((piece) => ({ tool_calls: [call(piece)] })),
    read: (text) => joined(readEvents(text), 'arguments'),
  },
  responses: {
    ...responses,
    answer: (pieces) => {
      const item = { id: 'i', type: 'function_call', call_id: 'c', name: 'f', arguments: pieces.join('') }
      return sse(
        { type: 'response.output_item.added', output_index: 0, item: { ...item, arguments: '' } },
        ...pieces.map((delta) => ({
          type: 'response.function_call_arguments.delta',
          item_id: 'i',
          output_index: 0,
          delta,
        })),
        { type: 'response.function_call_arguments.done', item_id: 'i', output_index: 0, arguments: item.arguments },
        { type: 'response.output_item.done', output_index: 0, item },
        { type: 'response.completed', response: { id: 'r', status: 'completed', output: [item] } },
      )
    },
    read(text) {
      const events = readEvents(text)
      const deltas = joined(events, 'delta')
      expect(joined(events, 'arguments')).toBe(deltas.repeat(3))
      return deltas
    },
  },
  messages: {
    ...anthropic,
    answer: blockOf({ type: 'tool_use', id: 't', name: 'f', input: {} }, (partial) => ({
      type: 'input_json_delta',
      partial_json: partial,
    })),
    read: (text) => joined(readEvents(text), 'partial_json'),
  },
}
