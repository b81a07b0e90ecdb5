import { describe, expect, it } from 'vitest'
import type { FormatName } from '../../src/core/format.ts'
import type { JsonObject } from '../../src/core/json-value.ts'
import { block, chatChunk, messageEvents } from '../support/translate/chunks.ts'
import type { SentEvent } from '../support/translate/sse.ts'
import { codecOf, isFault } from '../support/translate/stage.ts'

function ofWhole(format: FormatName, body: JsonObject): readonly string[] {
  const reply = codecOf(format).readReply(body)
  if (isFault(reply)) throw new Error(reply.message)
  return reply.dropped
}

function ofStream(format: FormatName, events: readonly SentEvent[]): readonly string[] {
  const reader = codecOf(format).openReader()
  const read = events.flatMap(({ name, data }) => reader.event(name, data ?? {}))
  const names = [...read, ...reader.end()].flatMap((event) => (event.kind === 'dropped' ? [event.name] : []))
  return [...new Set(names)]
}

const said = (data: JsonObject, name = ''): SentEvent => ({ name, data, raw: '' })
const text = block(0, { type: 'text', text: '' }, { type: 'text_delta', text: 'a' })

describe('what no other format has a place for is named', () => {
  it('of chat', () => {
    const silent = { id: 'c', model: 'm', system_fingerprint: 'f', service_tier: 'default', x_groq: { id: 'r' } }
    // Perplexity's, OpenAI's, and what nobody knows yet.
    const more = {
      citations: ['https://e.example'],
      moderation: { input: { flagged: false, model: 'm' } },
      prompt_logprobs: null,
    }
    const message = {
      role: 'assistant',
      content: 'a',
      annotations: [
        { type: 'url_citation', url_citation: { url: 'u' } },
        { type: 'file', file: {} },
      ],
      images: [{ type: 'image_url' }],
      audio: null,
      telepathy: [1],
    }
    const lost = ['citations', 'moderation', 'message.images', 'message.telepathy', 'message.annotations.file']
    expect(ofWhole('chat', { ...silent, ...more, choices: [{ index: 0, message, finish_reason: 'stop' }] })).toEqual(
      lost,
    )
    const chunk = chatChunk(message, 'stop')
    expect(ofStream('chat', [said({ ...chunk.data, ...silent, ...more })])).toEqual(lost)
    expect(ofWhole('chat', { ...silent, choices: [{ message: { content: 'a', audio: {}, images: [] } }] })).toEqual([])
  })

  it('of messages', () => {
    const more = {
      container: { id: 'c' },
      context_management: { applied_edits: [{ type: 'clear_tool_uses_20250919', cleared_tool_uses: 1 }] },
      input_transformations: [],
    }
    const lost = ['container', 'context_management']
    expect(ofWhole('messages', { id: 'm', content: [], stop_reason: 'end_turn', ...more })).toEqual(lost)
    const [start, ...others] = messageEvents(text, 'end_turn')
    const end = { type: 'message_delta', delta: { stop_reason: 'end_turn', container: { id: 'c' } }, usage: {} }
    const events = [
      start ?? said({}),
      ...others.slice(0, -2),
      said({ ...end, context_management: more.context_management }),
    ]
    expect(ofStream('messages', events)).toEqual(lost)
    const unknown = block(0, { type: 'text', text: '' }, { type: 'telepathy_delta', thought: 'x' })
    expect(ofStream('messages', messageEvents(unknown, 'end_turn'))).toEqual(['delta.telepathy_delta'])
    expect(ofStream('messages', messageEvents(text, 'end_turn'))).toEqual([])
  })

  it('of generate', () => {
    const rating = { category: 'HARM_CATEGORY_HARASSMENT', probability: 'NEGLIGIBLE' }
    const candidate = (more: JsonObject) => ({
      candidates: [{ content: { parts: [{ text: 'a' }] }, finishReason: 'STOP', avgLogprobs: -1, ...more }],
    })
    const web = { web: { uri: 'https://e.example', title: 'T' } }
    const grounded = candidate({
      safetyRatings: [rating, { ...rating, probability: 'HIGH' }],
      groundingMetadata: {
        groundingChunks: [web, { retrievedContext: { uri: 'gs://x', text: 't' } }],
        webSearchQueries: ['q'],
        retrievalMetadata: {},
      },
      urlContextMetadata: { urlMetadata: [{ retrievedUrl: 'u' }] },
    })
    const lost = [
      'urlContextMetadata',
      'groundingMetadata.webSearchQueries',
      'groundingMetadata.groundingChunks',
      'safetyRatings',
    ]
    expect(ofWhole('generate', grounded)).toEqual(lost)
    expect(ofStream('generate', [said(grounded)])).toEqual(lost)
    const plain = candidate({ safetyRatings: [rating], groundingMetadata: { groundingChunks: [web] } })
    expect(ofWhole('generate', plain)).toEqual([])
  })

  it('of responses', () => {
    const response = { id: 'r', status: 'completed', output: [], moderation: { input: {} } }
    expect(ofWhole('responses', response)).toEqual(['moderation'])
    expect(ofStream('responses', [said({ type: 'response.completed', response })])).toEqual(['moderation'])
  })
})
