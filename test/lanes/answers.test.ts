import { describe, expect, it } from 'vitest'
import type { AnswerReader, StreamEvent } from '../../src/lanes/contract.ts'
import { openFramer } from '../../src/lanes/framer.ts'
import { openReader } from '../support/open-reader.ts'

function open(target: string): AnswerReader {
  // Gemini's model is in the path.
  const body = target.includes('/models/g:') ? '{"stream":true}' : '{"model":"m","stream":true}'
  return openReader(`POST ${target}`, Buffer.from(body), { askForUsage: true }).reader
}

const tokens = (input: number, output: number, more = {}) => ({
  input,
  output,
  cache_read: 0,
  cache_write: 0,
  reasoning: 0,
  source: 'reported',
  ...more,
})
const gemini = '/v1/gemini/v1beta/models/g'

describe('whole answers', () => {
  it.each([
    [
      '/v1/chat/completions',
      '{"id":"c1","model":"x","usage":{"prompt_tokens":5,"completion_tokens":3}}',
      tokens(5, 3),
      'c1',
    ],
    ['/v1/chat/completions', '{"id":"c1","usage":null}', null, 'c1'],
    [
      '/v1/responses',
      '{"id":"r1","usage":{"input_tokens":5,"output_tokens":3,"output_tokens_details":{"reasoning_tokens":2}}}',
      tokens(5, 3, { reasoning: 2 }),
      'r1',
    ],
    [
      '/v1/embeddings',
      '{"object":"list","data":[],"model":"x","usage":{"prompt_tokens":5,"total_tokens":5}}',
      tokens(5, 0),
      null,
    ],
    ['/v1/moderations', '{"id":"modr-1","model":"x","results":[]}', null, 'modr-1'],
    [
      '/v1/anthropic/v1/messages',
      '{"id":"m1","usage":{"input_tokens":5,"cache_read_input_tokens":7,"output_tokens":3}}',
      tokens(12, 3, { cache_read: 7 }),
      'm1',
    ],
    ['/v1/anthropic/v1/messages/count_tokens', '{"input_tokens":5}', null, null],
    [
      `${gemini}:generateContent`,
      '{"responseId":"g1","usageMetadata":{"promptTokenCount":5,"candidatesTokenCount":3,"thoughtsTokenCount":4}}',
      tokens(5, 7, { reasoning: 4 }),
      'g1',
    ],
    [`${gemini}:countTokens`, '{"totalTokens":5}', null, null],
    [`${gemini}:batchEmbedContents`, '{"embeddings":[],"usageMetadata":{"promptTokenCount":5}}', tokens(5, 0), null],
  ])('of %s: %s', (target, body, usage, id) => {
    const reader = open(target)
    expect(reader.body(Buffer.from(body))).toEqual({ wrong: null })
    expect(reader.usage()).toEqual(usage)
    expect(reader.seen().responseId).toBe(id)
  })

  it.each(['', '[]', 'null', '{"id":"c1"', '<html>', '{"a":"\\q"}'])('%j is not what was promised', (body) => {
    expect(open('/v1/chat/completions').body(Buffer.from(body)).wrong).not.toBeNull()
  })

  it('reads usage of an answer too large to be parsed, and sees that it is cut', () => {
    const text = `{"id":"c1","x":"${'x'.repeat(1024 * 1024)}","usage":{"prompt_tokens":5,"completion_tokens":3}}`
    const reader = open('/v1/chat/completions')
    expect(reader.body(Buffer.from(text)).wrong).toBeNull()
    expect(reader.usage()).toEqual(tokens(5, 3))
    expect(open('/v1/chat/completions').body(Buffer.from(text.slice(0, -1))).wrong).not.toBeNull()
  })
})

/** Pushes the text in two halves, letting the unfinished event go in between, as for one that is too large. */
function releasedIn(target: string, text: string, cut: number) {
  const reader = open(target)
  const seen = reader.seen()
  const framer = openFramer(seen.framing ?? 'sse')
  const events: (StreamEvent | null)[] = [...framer.push(Buffer.from(text.slice(0, cut))), framer.release()]
  events.push(...framer.push(Buffer.from(text.slice(cut))), framer.rest())
  const readings = events.filter((event) => event !== null).map((event) => reader.event(event))
  return { reader, readings, text: Buffer.concat(readings.map(({ pass }) => pass ?? Buffer.alloc(0))).toString() }
}

describe('events too large to be held', () => {
  it.each([
    [
      '/v1/responses',
      'event: response.completed\ndata: {"type":"response.completed","sequence_number":3,"response":{"id":"r1","output":"…","usage":{"input_tokens":5,"output_tokens":3}}}\n\n',
    ],
    [
      '/v1/chat/completions',
      'data: {"choices":[{"delta":{"content":"…"},"finish_reason":"stop"}],"usage":{"prompt_tokens":5,"completion_tokens":3}}\n\n',
    ],
    [
      `${gemini}:streamGenerateContent?alt=sse`,
      'data: {"candidates":[{"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":5,"candidatesTokenCount":3}}\n\n',
    ],
    [
      `${gemini}:streamGenerateContent`,
      '[{"candidates":[{"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":5,"candidatesTokenCount":3}}]',
    ],
  ])('still show usage and the end on %s, wherever they are cut', (target, text) => {
    for (let cut = 60; cut < text.length - 2; cut++) {
      const { reader, readings, text: passed } = releasedIn(target, text, cut)
      expect(passed).toBe(text)
      expect(reader.usage()).toEqual(tokens(5, 3))
      expect(reader.end()).toBeNull()
      expect(readings[0]).toMatchObject({ content: true, terminal: false })
      if (target !== '/v1/chat/completions') expect(readings.at(-1)?.terminal).toBe(true)
    }
  })
})

describe('a stream without its last blank line', () => {
  it('passes when it is complete otherwise', () => {
    const reader = open('/v1/chat/completions')
    const framer = openFramer('sse')
    for (const event of framer.push(Buffer.from('data: {"choices":[{"delta":{"content":"a"}}]}\n\ndata: [DONE]\n'))) {
      reader.event(event)
    }
    const rest = framer.rest()
    expect(rest === null ? null : reader.event(rest)).toMatchObject({
      terminal: true,
      pass: Buffer.from('data: [DONE]\n'),
    })
    expect(reader.end()).toBeNull()
  })
})

describe('a stream that breaks off inside its last event', () => {
  it.each([
    ['/v1/chat/completions', 'data: {"choices":[{"delta":{},"finish_reason":"stop"}]'],
    ['/v1/responses', 'event: response.completed\ndata: {"type":"response.completed","response":{"id":"r1"'],
    ['/v1/anthropic/v1/messages', 'event: message_stop\ndata: {"type":"message_st'],
    [`${gemini}:streamGenerateContent?alt=sse`, 'data: {"candidates":[{"finishReason":"STOP"}]'],
    [`${gemini}:streamGenerateContent`, '[{"candidates":[{"finishReason":"STOP"}]}'],
  ])('has not ended on %s', (target, text) => {
    const reader = open(target)
    const framer = openFramer(reader.seen().framing ?? 'sse')
    for (const event of framer.push(Buffer.from(text))) reader.event(event)
    const rest = framer.rest()
    expect(rest === null ? null : reader.event(rest).pass).toBeNull()
    expect(reader.end()).not.toBeNull()
  })
})
