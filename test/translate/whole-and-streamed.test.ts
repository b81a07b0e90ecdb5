import fc from 'fast-check'
import { expect, it } from 'vitest'
import { type FormatName, formatNames } from '../../src/core/format.ts'
import { asArray, asObject, asString, type JsonObject, parseObject } from '../../src/core/json/json-value.ts'
import { blankSettings } from '../../src/translate/conversation.ts'
import { writeDocument } from '../../src/translate/json.ts'
import type { ModelReply } from '../../src/translate/reply.ts'
import { replyEvents } from '../../src/translate/reply-events.ts'
import { readSse } from '../support/translate/sse.ts'
import { blankConversation, codecOf, plainCarriers, translateReply, writeContext } from '../support/translate/stage.ts'

const path = fc.constant('')
const said = fc.string({ minLength: 1, maxLength: 6 })
const thought = fc.record({
  family: fc.constant('gemini' as const),
  form: fc.constant('thought' as const),
  value: fc.constantFrom('a', 'b'),
})
const signed = fc.record({
  family: fc.constant('anthropic' as const),
  form: fc.constant('signature' as const),
  value: fc.constantFrom('a', 'b'),
})
const citation = fc.record({
  url: fc.constantFrom('https://a.example', 'https://b.example'),
  title: said,
  start: fc.constant(null),
  end: fc.constant(null),
})
const parts: fc.Arbitrary<ModelReply['parts'][number]> = fc.oneof(
  fc.record({ kind: fc.constant('text' as const), path, text: said }),
  fc.record({
    kind: fc.constant('text' as const),
    path,
    text: said,
    citations: fc.array(citation, { minLength: 1, maxLength: 2 }),
  }),
  fc.record({ kind: fc.constant('refusal' as const), path, text: said }),
  fc.record({ kind: fc.constant('reasoning' as const), path, text: said, opaque: signed }),
  fc.record(
    {
      kind: fc.constant('call' as const),
      path,
      id: fc.uuid(),
      name: fc.constantFrom('read', 'write'),
      arguments: fc.constantFrom('{}', '{"a":[1,"x"]}', ''),
      custom: fc.constant(false),
      opaque: thought,
    },
    { requiredKeys: ['kind', 'path', 'id', 'name', 'arguments', 'custom'] },
  ),
)
const replies: fc.Arbitrary<ModelReply> = fc.record({
  id: fc.constantFrom('', 'resp_abcdefgh1234'),
  model: fc.constant('m'),
  parts: fc.array(parts, { maxLength: 5 }),
  stop: fc.record({
    reason: fc.constantFrom('done', 'length', 'filtered', 'refused'),
    sequence: fc.constant(null),
    explanation: fc.constantFrom(null, 'Why.'),
  }),
  created: fc.constant(null),
  dropped: fc.constant([]),
})

const reasoning = { path: 'reasoning', effort: null, budget: null, visible: true, encrypted: true }
const conversation = {
  ...blankConversation,
  settings: { ...blankSettings, reasoning, carriesReasoning: true },
}
const context = writeContext({ conversation, carriers: plainCarriers })

/** What a client has of a stream when it has ended, in the form of a whole answer. */
const collected: Record<FormatName, (stream: string) => unknown> = {
  chat(stream) {
    const message: Record<string, unknown> = {}
    const calls: Record<string, unknown>[] = []
    let finish: unknown = null
    for (const { data } of readSse(stream)) {
      const choice = asObject(asArray(data?.choices)[0])
      finish = choice?.finish_reason ?? finish
      for (const [name, value] of Object.entries(asObject(choice?.delta) ?? {})) {
        if (name === 'tool_calls') for (const call of asArray(value)) addCall(calls, asObject(call) ?? {})
        else if (typeof value === 'string' && name !== 'role') message[name] = `${asString(message[name])}${value}`
        else if (value !== null) message[name] = value
      }
    }
    // Whether there is no text or an empty one is not known at the beginning.
    const { content, ...others } = message
    const text = asString(content) === '' ? {} : { content }
    return { ...text, ...others, ...(calls.length > 0 && { tool_calls: calls }), finish }
  },
  responses: (stream) => readSse(stream).at(-1)?.data?.response,
  messages(stream) {
    const content: Record<string, unknown>[] = []
    let end: JsonObject = {}
    for (const { data } of readSse(stream)) {
      if (data?.type === 'content_block_start') content.push({ ...asObject(data.content_block) })
      const [block, delta] = [content.at(-1), asObject(data?.delta)]
      if (data?.type === 'message_delta' && delta !== null) end = delta
      else if (block !== undefined && delta !== null) addDelta(block, delta)
    }
    return {
      content: content.map(({ json, ...block }) => (json === undefined ? block : withInput(block, json))),
      ...end,
    }
  },
  generate(stream) {
    const parts: Record<string, unknown>[] = []
    let last: JsonObject = {}
    for (const { data } of readSse(stream)) {
      last = asObject(asArray(data?.candidates)[0]) ?? {}
      // An empty text only ends the stream.
      for (const part of asArray(asObject(last.content)?.parts).map(asObject))
        if (part !== null && part.text !== '') addPart(parts, part)
    }
    return { ...last, content: { role: 'model', parts } }
  },
}

function addCall(calls: Record<string, unknown>[], { index, ...piece }: JsonObject): void {
  const at = Number(index)
  const before = calls[at] ?? {}
  const [old, more] = [asObject(before.function), asObject(piece.function)]
  const args = `${asString(old?.arguments)}${asString(more?.arguments)}`
  calls[at] = { ...before, ...piece, function: { ...old, ...more, arguments: args } }
}

function addDelta(block: Record<string, unknown>, delta: JsonObject): void {
  if (delta.type === 'citations_delta') block.citations = [...asArray(block.citations), delta.citation]
  else if (delta.type === 'input_json_delta') block.json = `${asString(block.json)}${asString(delta.partial_json)}`
  else
    for (const name of ['text', 'thinking', 'signature'])
      if (typeof delta[name] === 'string') block[name] = `${asString(block[name])}${delta[name]}`
}

/** Texts that follow each other are one. */
function addPart(parts: Record<string, unknown>[], part: JsonObject): void {
  const before = parts.at(-1)
  const joins = before?.text !== undefined && part.text !== undefined && before.thought === part.thought
  if (joins) before.text = `${before.text}${part.text}`
  else parts.push({ ...part })
}

function withInput(block: JsonObject, json: unknown): JsonObject {
  return { ...block, input: JSON.parse(asString(json) || '{}') }
}

/** The same of a whole answer. */
const whole: Record<FormatName, (body: JsonObject) => unknown> = {
  chat(body) {
    const choice = asObject(asArray(body.choices)[0])
    const message = Object.entries(asObject(choice?.message) ?? {}).filter(
      ([name, value]) => value !== null && !(name === 'content' && value === ''),
    )
    return { ...Object.fromEntries(message), finish: choice?.finish_reason }
  },
  responses: (body) => body,
  messages: ({ content, stop_reason, stop_sequence, stop_details, container }) => ({
    content,
    stop_reason,
    stop_sequence,
    stop_details,
    container,
  }),
  generate: (body) => collected.generate(`data: ${JSON.stringify(body)}\n\n`),
}

it.each(formatNames)('an answer in the format %s is the same whole and streamed', (format) => {
  fc.assert(
    fc.property(replies, (reply) => {
      const writer = codecOf(format).openWriter(context)
      const stream = `${[...replyEvents(reply)].map((event) => writer.events([event])).join('')}${writer.end()}`
      const body = parseObject(writeDocument(codecOf(format).writeReply(reply, context))) ?? {}
      expect(collected[format](stream)).toEqual(whole[format](body))
    }),
    { numRuns: 300 },
  )
})

it('every refusal of an answer is said, whole and streamed', () => {
  const content = ['I will ', 'not.'].map((refusal) => ({ type: 'refusal', refusal }))
  const item = { type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content }
  const body = { id: 'resp_1', model: 'm', status: 'completed', output: [item] }
  const answer = JSON.parse(String(translateReply('messages', 'responses', JSON.stringify(body), context)))
  expect(answer.stop_details.explanation).toBe('I will not.')
  expect(answer.content.map(({ text }: { text: string }) => text)).toEqual(['I will ', 'not.'])
})
