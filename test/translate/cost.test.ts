import { describe, expect, it, vi } from 'vitest'
import { type FormatName, formatNames } from '../../src/core/format.ts'
import type { JsonObject } from '../../src/core/json/json-value.ts'
import { promptEdits } from '../../src/lanes/patch-body.ts'
import { Ledger } from '../../src/translate/ledger.ts'
import { growth } from '../support/count-steps.ts'
import { callChunk, chatChunk } from '../support/translate/chunks.ts'
import type { SentEvent } from '../support/translate/sse.ts'
import { codecOf, isFault, plainCarriers, writeContext } from '../support/translate/stage.ts'

const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index))
const asked = (...messages: object[]) => ({ model: 'm', messages })
const question = { role: 'user', content: 'x' }
const call = (index: number) => ({ id: `call.${index}`, type: 'function', function: { name: 'f', arguments: '{}' } })

/** Requests of a client of chat, each made so that some step is done often. */
const requests: Readonly<Record<string, (count: number) => JsonObject>> = {
  'messages of one role': (count) => asked(...times(count, () => question)),
  'calls and results in another order': (count) =>
    asked(
      question,
      { role: 'assistant', tool_calls: times(count, call) },
      ...times(count, (index) => ({ role: 'tool', tool_call_id: `call.${index}`, content: 'r' })).reverse(),
    ),
  'results of functions by name': (count) =>
    asked(
      question,
      ...times(count, () => ({ role: 'assistant', function_call: { name: 'f', arguments: '{}' } })),
      ...times(count, () => ({ role: 'function', name: 'f', content: 'r' })),
    ),
  'system messages among the others': (count) =>
    asked(...times(count, (index) => (index % 2 ? question : { role: 'system', content: 's' }))),
  'tools with long names': (count) => ({
    ...asked(question),
    tools: times(count, (index) => ({ type: 'function', function: { name: `${index} ${'n'.repeat(80)}` } })),
  }),
  'marked parts': (count) =>
    asked({
      role: 'user',
      content: times(count, () => ({ type: 'text', text: 'x', cache_control: { type: 'ephemeral' } })),
    }),
  'members that nobody knows': (count) =>
    Object.assign(asked(question), Object.fromEntries(times(count, (index) => [`m${index}`, 1]))),
  'a wide schema': (count) => {
    const properties = Object.fromEntries(times(count, (index) => [`p${index}`, { type: 'string', minLength: 1 }]))
    return {
      ...asked(question),
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'n', strict: true, schema: { type: 'object', properties } },
      },
    }
  },
}

function translate(body: JsonObject, to: FormatName): void {
  const conversation = codecOf('chat').readRequest(body, { streamed: true, carriers: plainCarriers })
  if (isFault(conversation)) throw new Error(conversation.message)
  const target = {
    format: to,
    model: 'claude-opus-4-5',
    streamed: true,
    maxOutput: null,
    outputCap: null,
    compatible: false,
    logprobs: true,
    streamOptions: true,
  }
  codecOf(to).writeRequest(conversation, target, new Ledger('chat', to, false))
}

describe.each(Object.keys(requests))('%s', (shape) => {
  it.each(formatNames.filter((format) => format !== 'chat'))(
    'cost twice as much for twice as many, to %s',
    async (to) => {
      expect(await growth((count) => translate(requests[shape]!(count), to), 300)).toBeLessThan(2.3)
    },
  )
})

/** Requests of other clients. */
const read: readonly (readonly [string, FormatName, (count: number) => JsonObject])[] = [
  [
    'comments on the way',
    'responses',
    (count) => ({ model: 'm', input: times(count, () => ({ role: 'assistant', phase: 'commentary', content: 'x' })) }),
  ],
  [
    'an answer that a chat keeps in pieces',
    'generate',
    (count) => ({
      contents: times(count, () => ({ role: 'model', parts: [{ functionCall: { name: 'f', args: {} } }] })),
    }),
  ],
]

it.each(read)('reads %s at a cost that grows with them', async (_, format, bodyOf) => {
  const run = (count: number) => codecOf(format).readRequest(bodyOf(count), { streamed: true, carriers: plainCarriers })
  expect(isFault(run(1))).toBe(false)
  expect(await growth(run, 300)).toBeLessThan(2.3)
})

it('hides values beside reasoning that is left out at a cost that grows with them', async () => {
  const span = (start: number) => ({ span: { start, end: start + 40 }, text: '' })
  const edit = (count: number) => {
    const carrierEdits = times(count, (index) => span(100 * (count - index)))
    const contentEdits = times(2 * count, (index) => span(50 * index))
    return promptEdits({ renameTo: null, askForUsage: false, carrierEdits, contentEdits }, [])
  }
  const hidden = edit(3).map((one) => one.span.start)
  expect(hidden).toEqual([0, 50, 150, 250, 300, 200, 100])
  expect(await growth(edit, 300)).toBeLessThan(2.3)
})

/** Streams of a provider of chat. */
const streams: Readonly<Record<string, (count: number) => SentEvent[]>> = {
  texts: (count) => times(count, () => chatChunk({ content: 'x' })),
  'calls one after another': (count) =>
    times(count, (index) => callChunk(index, '{}', { id: `call_${index}`, name: 'f' })),
  'calls at once': (count) => [
    ...times(count, (index) => callChunk(index, '{', { id: `call_${index}`, name: 'f' })),
    ...times(count, (index) => callChunk(count - 1 - index, '}')),
  ],
  'pieces of one call without an index': (count) => [
    ...times(count, (index) => callChunk(index, '{}', { id: `call_${index}`, name: 'f' })),
    ...times(count, () => chatChunk({ tool_calls: [{ function: { arguments: ' ' } }] })),
  ],
  'text and reasoning in turns': (count) =>
    times(count, (index) => chatChunk(index % 2 ? { content: 'x' } : { reasoning_content: 'y' })),
}

describe.each(Object.keys(streams))('a stream of %s', (shape) => {
  it.each(formatNames.filter((format) => format !== 'chat'))(
    'costs twice as much for twice as many, to %s',
    async (client) => {
      const run = (count: number) => {
        const [reader, writer] = [codecOf('chat').openReader(), codecOf(client).openWriter(writeContext())]
        for (const { name, data } of streams[shape]!(count)) if (data !== null) writer.events(reader.event(name, data))
        writer.events(reader.end())
        writer.end()
      }
      expect(await growth(run, 300)).toBeLessThan(2.3)
    },
  )
})

it('looks at a call that comes in named pieces without ids once for each of them', async () => {
  const parse = vi.spyOn(JSON, 'parse')
  const reader = codecOf('chat').openReader()
  const piece = (text: string) => chatChunk({ tool_calls: [{ function: { name: 'f', arguments: text } }] })
  const texts = ['{"a":"', ...times(200, () => '}'), '\\"', '"', '}', '{"b":[', '{}', ']}']
  const events = texts.flatMap((text) => reader.event('', piece(text).data ?? {}))
  expect(events.filter(({ kind }) => kind === 'call')).toHaveLength(2)
  expect(parse.mock.calls.length).toBeLessThan(5)
  parse.mockRestore()
})

it('finds the citations of Gemini’s texts at a cost that grows with the answer', async () => {
  const part = { text: 'word', thoughtSignature: 'c2ln' }
  const support = { segment: { startIndex: 0, endIndex: 4 }, groundingChunkIndices: [0] }
  const run = (count: number) => {
    const grounding = { groundingChunks: [{ web: { uri: 'https://a.example' } }], groundingSupports: [] as object[] }
    grounding.groundingSupports = times(count, () => support)
    const candidate = { content: { parts: [part] }, groundingMetadata: grounding, index: 0 }
    const reader = codecOf('generate').openReader()
    for (let index = 0; index < count; index++) reader.event('', { candidates: [candidate] })
    reader.end()
  }
  expect(await growth(run, 300)).toBeLessThan(2.3)
})
