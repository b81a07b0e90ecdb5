import { describe, expect, it } from 'vitest'
import type { FormatName } from '../../src/core/format.ts'
import type { JsonObject } from '../../src/core/json/json-value.ts'
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
    // Vertex begins with one event more.
    const vertex = said({ type: 'vertex_event' }, 'vertex_event')
    expect(ofStream('messages', [vertex, ...messageEvents(text, 'end_turn')])).toEqual([])
  })

  it('of answers beside the first, which nobody has asked for', () => {
    const choices = [0, 1].map((index) => ({ index, message: { content: `${index}` }, finish_reason: 'stop' }))
    expect(ofWhole('chat', { choices })).toEqual(['choices[1]'])
    const chunk = (index: number) => said({ choices: [{ index, delta: { content: 'a' } }] })
    expect(ofStream('chat', [chunk(0), chunk(1), chunk(1), said({ choices: [], usage: {} })])).toEqual(['choices[1]'])
    expect(ofStream('chat', [said({ choices: [0, 1].map((index) => ({ index, delta: {} })) })])).toEqual(['choices[1]'])
    expect(ofStream('chat', [said({ choices: [] }), chunk(0)])).toEqual([])
    const candidate = (index: number) => ({ index, content: { parts: [{ text: 'a' }] }, finishReason: 'STOP' })
    expect(ofWhole('generate', { candidates: [candidate(0), candidate(1)] })).toEqual(['candidates[1]'])
    const pieces = [candidate(0), candidate(1)].map((one) => said({ candidates: [one] }))
    expect(ofStream('generate', pieces)).toEqual(['candidates[1]'])
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
    const ofVertex = { ...rating, probabilityScore: 0.1, severity: 'HARM_SEVERITY_NEGLIGIBLE', severityScore: 0.1 }
    const plain = candidate({ safetyRatings: [rating, ofVertex], groundingMetadata: { groundingChunks: [web] } })
    expect(ofWhole('generate', plain)).toEqual([])
  })

  it('of responses', () => {
    const response = { id: 'r', status: 'completed', output: [], moderation: { input: { model: 'm' } } }
    expect(ofWhole('responses', response)).toEqual(['moderation'])
    expect(ofStream('responses', [said({ type: 'response.completed', response })])).toEqual(['moderation'])
    const vllms = ['response.reasoning_part.added', 'response.reasoning_part.done', 'codex.rate_limits']
    expect(
      ofStream(
        'responses',
        vllms.map((type) => said({ type, part: { type: 'reasoning_text' } })),
      ),
    ).toEqual([])
    const item = { type: 'message', id: 'm', role: 'assistant', phase: 'commentary', mood: 1 }
    const output = [
      { ...item, content: [{ type: 'output_text', text: 'a', annotations: [], tone: 'b' }] },
      { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}', caller: { type: 'program', caller_id: 'p' } },
      { type: 'image_generation_call', id: 'i', status: 'completed' },
    ]
    const more = { ...response, output, temperature: 1, billing: { payer: 'p' }, telepathy: 1, moderation: null }
    const lost = ['message.mood', 'message.tone', 'function_call.caller', 'image_generation_call']
    expect(new Set(ofWhole('responses', more))).toEqual(new Set([...lost, 'telepathy']))
    expect(new Set(ofStream('responses', [said({ type: 'response.completed', response: more })]))).toEqual(
      new Set([...lost, 'telepathy']),
    )
  })

  it('of answers that are only a comment on the way: before a call their place says so', () => {
    const text = (phase: string) => ({
      type: 'message',
      role: 'assistant',
      phase,
      content: [{ type: 'output_text', text: 'a', annotations: [] }],
    })
    const call = { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' }
    const comment = text('commentary')
    const lostOf = (...output: JsonObject[]) => {
      const response = { id: 'r', status: 'completed', output }
      const events = output.map((item, output_index) => ({ type: 'response.output_item.done', output_index, item }))
      const all = [...events, { type: 'response.completed', response }].map((data) => said(data))
      expect(ofStream('responses', all)).toEqual(ofWhole('responses', response))
      return ofWhole('responses', response)
    }
    expect(lostOf(comment, call)).toEqual([])
    expect(lostOf(comment, { type: 'reasoning', summary: [] }, comment, call, call)).toEqual([])
    expect(lostOf(text('final_answer'))).toEqual([])
    expect(lostOf(comment)).toEqual(['message.phase'])
    expect(lostOf(comment, text('final_answer'))).toEqual(['message.phase'])
    expect(lostOf(call, comment)).toEqual(['message.phase'])
  })

  it('of events that nobody reads, by what they are of', () => {
    const types = [
      'response.code_interpreter_call_code.delta',
      'response.mcp_list_tools.in_progress',
      'response.image_generation_call.partial_image',
      'response.audio.transcript.delta',
      'response.compaction.compacting',
      'response.output_text.done',
      'response.queued',
      'keepalive',
    ]
    expect(
      ofStream(
        'responses',
        types.map((type) => said({ type })),
      ),
    ).toEqual(['code_interpreter_call', 'mcp_list_tools', 'image_generation_call', 'audio', 'compaction'])
    expect(ofStream('messages', [said({ type: 'telepathy' }), said({ type: 'ping' })])).toEqual(['telepathy'])
  })

  it('of members of calls and parts', () => {
    const call = { id: 'c', type: 'function', function: { name: 'f', arguments: '{}' }, mood: 1 }
    const choice = { index: 0, message: { content: null, tool_calls: [call] }, finish_reason: 'tool_calls', hunch: 'h' }
    expect(ofWhole('chat', { choices: [choice] })).toEqual(['choices.hunch', 'message.tool_calls.mood'])
    expect(ofStream('chat', [said({ choices: [{ ...choice, delta: choice.message, message: null }] })])).toEqual([
      'choices.hunch',
      'message.tool_calls.mood',
    ])
    const use = (caller: object) => [{ type: 'tool_use', id: 't', name: 'f', input: {}, caller }]
    const code = { type: 'code_execution_20250825', tool_id: 's' }
    const refusal = { stop_reason: 'refusal', stop_details: { type: 'refusal', category: 'bio', explanation: null } }
    expect(ofWhole('messages', { content: use(code), ...refusal })).toEqual([
      'content[0].caller',
      'stop_details.category',
    ])
    expect(ofWhole('messages', { content: use({ type: 'direct' }), stop_reason: 'tool_use' })).toEqual([])
    const [block] = use(code)
    const streamed = messageEvents([said({ type: 'content_block_start', index: 0, content_block: block })], 'tool_use')
    expect(ofStream('messages', streamed)).toEqual(['content[0].caller'])
    const parts = [
      { text: 'a', partMetadata: { b: 1 }, thoughtSignature: 'c2ln' },
      { executableCode: { code: '1' }, thoughtSignature: 'c2ln' },
      { functionCall: { name: 'f', args: {}, partialArgs: [{ stringValue: 's' }] }, text: 'beside' },
      { functionCall: { args: {} } },
    ]
    const answer = {
      candidates: [{ content: { parts }, finishReason: 'STOP' }],
      modelStatus: { modelStage: 'RETIRED' },
      usageMetadata: {},
    }
    const lost = ['modelStatus', 'partMetadata', 'executableCode', 'text', 'functionCall.partialArgs', 'functionCall']
    expect(ofWhole('generate', answer)).toEqual(lost)
    expect(ofStream('generate', [said(answer)])).toEqual(lost)
  })

  it('of reasons to end that no other format has', () => {
    const ends = (finish_reason: string) => ({ choices: [{ message: { content: 'a' }, finish_reason }] })
    expect(ofWhole('chat', ends('boredom'))).toEqual(['choices.finish_reason'])
    expect(ofWhole('chat', ends('length'))).toEqual([])
    expect(ofWhole('messages', { content: [], stop_reason: 'boredom' })).toEqual(['stop_reason'])
    expect(ofStream('messages', messageEvents(text, 'boredom'))).toEqual(['stop_reason'])
    const candidates = [{ content: { parts: [{ text: 'a' }] }, finishReason: 'OTHER' }]
    expect(ofWhole('generate', { candidates })).toEqual(['finishReason'])
    expect(ofStream('generate', [said({ candidates })])).toEqual(['finishReason'])
  })

  it('of filters, where they found something', () => {
    const safe = { hate: { filtered: false, severity: 'safe' }, jailbreak: { filtered: false, detected: false } }
    const found = { ...safe, violence: { filtered: false, severity: 'medium' } }
    const answer = (prompt: object, text: object) => ({
      prompt_filter_results: [{ prompt_index: 0, content_filter_results: prompt }],
      choices: [{ message: { content: 'a' }, finish_reason: 'stop', content_filter_results: text }],
    })
    expect(ofWhole('chat', answer(safe, safe))).toEqual([])
    const lost = ['prompt_filter_results', 'choices.content_filter_results']
    expect(ofWhole('chat', answer({ jailbreak: { detected: true } }, found))).toEqual(lost)
    const { choices, ...first } = answer(found, found)
    const [{ message, ...choice } = { message: null }] = choices
    expect(ofStream('chat', [said(first), said({ choices: [{ ...choice, delta: message }] })])).toEqual(lost)
    const filters = (blocked: boolean) => ({ output: [], content_filters: [{ blocked, source_type: 'prompt' }] })
    expect(ofWhole('responses', filters(false))).toEqual([])
    expect(ofWhole('responses', filters(true))).toEqual(['content_filters'])
    const rating = { category: 'HARM_CATEGORY_HARASSMENT', probability: 'HIGH' }
    const promptFeedback = { blockReason: 'SAFETY', safetyRatings: [rating] }
    expect(ofWhole('generate', { promptFeedback })).toEqual(['promptFeedback.safetyRatings'])
  })
})
