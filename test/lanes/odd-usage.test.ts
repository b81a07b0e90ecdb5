import { describe, expect, it } from 'vitest'
import type { AnswerReader } from '../../src/lanes/contract.ts'
import { openFramer } from '../../src/lanes/framer.ts'
import { frame } from '../support/framing.ts'
import { openReader } from '../support/open-reader.ts'

/** How vendors of each format write what an answer used, where they do not write it as the format's owner does. */

const calls = {
  chat: ['/v1/chat/completions', { model: 'm' }],
  embeddings: ['/v1/embeddings', { model: 'm', input: 'x' }],
  responses: ['/v1/responses', { model: 'm', input: 'x' }],
  messages: ['/v1/anthropic/v1/messages', { model: 'm', max_tokens: 9, messages: [] }],
  generate: ['/v1/gemini/v1beta/models/m:generateContent', { contents: [] }],
  interactions: ['/v1/gemini/v1beta/interactions', { model: 'm', input: 'x' }],
} as const
type Name = keyof typeof calls

function open(name: Name, streamed: boolean): AnswerReader {
  const [target, asked] = calls[name]
  const isGenerate = name === 'generate' && streamed
  const path = isGenerate ? target.replace('generateContent', 'streamGenerateContent') : target
  const body = JSON.stringify(streamed && !isGenerate ? { ...asked, stream: true } : asked)
  return openReader(`POST ${path}${isGenerate ? '?alt=sse' : ''}`, Buffer.from(body)).reader
}

function readWhole(name: Name, usage: unknown): unknown {
  const reader = open(name, false)
  const member = name === 'generate' ? 'usageMetadata' : 'usage'
  const more = name === 'interactions' ? { status: 'completed' } : {}
  reader.body(Buffer.from(JSON.stringify({ id: 'a', model: 'm', ...more, [member]: usage })))
  return shown(reader)
}

function readStream(name: Name, events: readonly object[]): unknown {
  const reader = open(name, true)
  const text = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')
  for (const event of frame(openFramer('sse'), Buffer.from(text), [1 << 20])) reader.event(event)
  return shown(reader)
}

/** Input, output, of which cached, of which reasoning. */
function shown(reader: AnswerReader): unknown {
  const usage = reader.usage()
  return usage === null ? null : [usage.input, usage.output, usage.cache_read, usage.reasoning]
}

const chat = (prompt: unknown, completion: unknown, total?: unknown, more: object = {}) => ({
  ...{ prompt_tokens: prompt, completion_tokens: completion, total_tokens: total },
  ...more,
})
const cached = (count: unknown) => ({ prompt_tokens_details: { cached_tokens: count } })
const reasoned = (count: unknown) => ({ completion_tokens_details: { reasoning_tokens: count } })

describe('usage of a whole answer', () => {
  it.each<[what: string, name: Name, usage: unknown, expected: number[] | null]>([
    ['a prompt of 0, and a total with it', 'chat', chat(0, 5, 12), [7, 5, 0, 0]],
    ['a prompt of 0, and nothing else', 'chat', chat(0, 5, 5), [0, 5, 0, 0]],
    ['a prompt of 0, and reasoning within', 'chat', chat(0, 5, 9, reasoned(4)), [4, 5, 0, 4]],
    ['no prompt', 'chat', chat(undefined, 5, 12), [7, 5, 0, 0]],
    ['no prompt and no total', 'chat', chat(undefined, 5), [0, 5, 0, 0]],
    ['no completion', 'chat', chat(7, undefined, 12), [7, 5, 0, 0]],
    ['no completion and no total', 'chat', chat(7, undefined), [7, 0, 0, 0]],
    ['a total alone', 'chat', { total_tokens: 12 }, [12, 0, 0, 0]],
    ['a total alone', 'embeddings', { total_tokens: 12 }, [12, 0, 0, 0]],
    ['zeros and a total', 'embeddings', chat(0, 0, 12), [12, 0, 0, 0]],
    ['a total that is too small', 'chat', chat(7, 5, 3), [7, 5, 0, 0]],
    ['more cached than read, without a total', 'chat', chat(7, 5, undefined, cached(50)), [57, 5, 50, 0]],
    ['more cached than read, within the total', 'chat', chat(7, 5, 12, cached(50)), [7, 5, 7, 0]],
    ['more cached than read, beside in the total', 'chat', chat(7, 5, 62, cached(50)), [57, 5, 50, 0]],
    [
      'more cached than read',
      'responses',
      { input_tokens: 7, output_tokens: 5, input_tokens_details: { cached_tokens: 50 } },
      [57, 5, 50, 0],
    ],
    ['less than nothing', 'chat', chat(-7, -5, -12), null],
    ['less than nothing cached', 'chat', chat(7, 5, 12, cached(-4)), [7, 5, 0, 0]],
    ['less than nothing written', 'chat', chat(7, -5, 12), [7, 5, 0, 0]],
    ['texts', 'chat', chat('7', '5', '12', cached('4')), [7, 5, 4, 0]],
    ['texts', 'responses', { input_tokens: '7', output_tokens: '5' }, [7, 5, 0, 0]],
    ['texts', 'messages', { input_tokens: '7', output_tokens: '5', cache_read_input_tokens: '4' }, [11, 5, 4, 0]],
    ['texts', 'generate', { promptTokenCount: '7', candidatesTokenCount: '5', thoughtsTokenCount: '2' }, [7, 7, 0, 2]],
    ['texts', 'interactions', { total_input_tokens: '7', total_output_tokens: '5' }, [7, 5, 0, 0]],
    ['texts that are no numbers', 'chat', chat('many', '', ' '), null],
    ['fractions', 'chat', chat(6.5, 4.2, 11.7), [7, 5, 0, 0]],
    ['fractions', 'messages', { input_tokens: 6.5, output_tokens: 5.0 }, [7, 5, 0, 0]],
    ['nulls', 'chat', chat(null, null, null), null],
    ['nulls', 'responses', { input_tokens: null, output_tokens: null, total_tokens: 12 }, null],
    ['nulls', 'messages', { input_tokens: null, output_tokens: null }, null],
    ['nulls', 'generate', { promptTokenCount: null, candidatesTokenCount: null, totalTokenCount: 12 }, [12, 0, 0, 0]],
    ['null', 'chat', null, null],
    ['a list', 'chat', [7, 5], null],
    [
      'a prompt of 0, and a total with it',
      'generate',
      { promptTokenCount: 0, candidatesTokenCount: 5, totalTokenCount: 12 },
      [7, 5, 0, 0],
    ],
    [
      'a prompt of 0, and a total with it',
      'responses',
      { input_tokens: 0, output_tokens: 5, total_tokens: 12 },
      [7, 5, 0, 0],
    ],
    [
      'a prompt of 0, and a total with it',
      'interactions',
      { total_input_tokens: 0, total_output_tokens: 5, total_tokens: 12 },
      [7, 5, 0, 0],
    ],
    [
      'more cached than read',
      'interactions',
      { total_input_tokens: 7, total_output_tokens: 5, total_cached_tokens: 50 },
      [57, 5, 50, 0],
    ],
    ['more than anybody has', 'interactions', { total_input_tokens: 7, total_output_tokens: 5e15 }, null],
  ])('with %s is read: %s', (_what, name, usage, expected) => {
    expect(readWhole(name, usage)).toEqual(expected)
  })
})

const delta = (usage?: unknown) => ({ id: 'c', choices: [{ index: 0, delta: { content: 'x' } }], usage })
const stop = (usage?: unknown) => ({ id: 'c', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage })
const alone = (usage: unknown) => ({ id: 'c', choices: [], usage })
const part = (usageMetadata?: unknown, end: object = {}) => ({
  candidates: [{ content: { parts: [{ text: 'x' }] }, ...end }],
  usageMetadata,
})
const begun = (usage: unknown) => ({ type: 'message_start', message: { id: 'm', usage } })
const said = { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'x' } }
const changed = (usage: unknown) => ({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage })

describe('usage of a stream', () => {
  it.each<[what: string, name: Name, events: object[], expected: number[] | null]>([
    ['only at the end', 'chat', [delta(), stop(), alone(chat(7, 5, 12))], [7, 5, 0, 0]],
    ['beside the finish reason', 'chat', [delta(), stop(chat(7, 5, 12))], [7, 5, 0, 0]],
    [
      'with each piece, adding up',
      'chat',
      [delta(chat(7, 1, 8)), delta(chat(7, 2, 9)), stop(chat(7, 3, 10))],
      [7, 3, 0, 0],
    ],
    ['in two halves', 'chat', [delta(chat(7, 0, 7)), stop(chat(0, 5, 5))], [7, 5, 0, 0]],
    [
      'in two halves, without the other',
      'chat',
      [delta({ prompt_tokens: 7 }), stop({ completion_tokens: 5 })],
      [7, 5, 0, 0],
    ],
    ['taken back by zeros at the end', 'chat', [delta(chat(7, 5, 12)), stop(), alone(chat(0, 0, 0))], [7, 5, 0, 0]],
    ['with a smaller count at the end', 'chat', [delta(chat(9, 6, 15)), stop(chat(7, 5, 12))], [7, 5, 0, 0]],
    ['with a null at the end', 'chat', [delta(chat(7, 5, 12)), stop(null)], [7, 5, 0, 0]],
    [
      'in two halves',
      'generate',
      [part({ promptTokenCount: 7 }), part({ candidatesTokenCount: 5 }, { finishReason: 'STOP' })],
      [7, 5, 0, 0],
    ],
    [
      'taken back by zeros at the end',
      'generate',
      [part({ promptTokenCount: 7, candidatesTokenCount: 5 }), part({ promptTokenCount: 0 }, { finishReason: 'STOP' })],
      [7, 5, 0, 0],
    ],
    [
      'with each piece, adding up',
      'generate',
      [
        part({ promptTokenCount: 7, candidatesTokenCount: 1 }),
        part({ promptTokenCount: 7, candidatesTokenCount: 5 }, { finishReason: 'STOP' }),
      ],
      [7, 5, 0, 0],
    ],
    [
      'taken back by zeros at the end',
      'messages',
      [
        begun({ input_tokens: 7, output_tokens: 1 }),
        said,
        changed({ input_tokens: 0, output_tokens: 5 }),
        changed({ output_tokens: 0 }),
      ],
      [7, 5, 0, 0],
    ],
    [
      'only at the end',
      'messages',
      [begun(undefined), said, changed({ input_tokens: 7, output_tokens: 5 })],
      [7, 5, 0, 0],
    ],
  ])('that comes %s is read: %s', (_what, name, events, expected) => {
    expect(readStream(name, events)).toEqual(expected)
  })
})
