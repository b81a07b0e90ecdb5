import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { FormatName } from '../../src/core/format.ts'
import type { JsonObject } from '../../src/core/json/json-value.ts'
import { chatProvider } from '../support/matrix/providers/chat.ts'
import { generateProvider } from '../support/matrix/providers/generate.ts'
import { messagesProvider } from '../support/matrix/providers/messages.ts'
import { responsesProvider } from '../support/matrix/providers/responses.ts'
import { type RequestOptions, translateRequest } from '../support/translate/stage.ts'

/** What agents bring back after interruptions, reminders, errors and servers that count their calls anew. */
interface Round {
  said: readonly string[]
  shows: boolean
  /** A system message stands in the midst. */
  reminds: boolean
  thought: string | null
  answer: string
  calls: readonly { id: number | null; text: string; failed: boolean; image: boolean; custom: boolean }[]
  /** Results come in another order, in two messages, or with text before them. */
  turned: boolean
  split: boolean
  textFirst: boolean
  /** The user interrupted: after the results there is one more message, and no answer. */
  interrupted: boolean
}

const text = fc.constantFrom('', ' ', 'a', '<system-reminder>x</system-reminder>')
const round: fc.Arbitrary<Round> = fc.record({
  said: fc.array(text, { minLength: 1, maxLength: 3 }),
  shows: fc.boolean(),
  reminds: fc.boolean(),
  thought: fc.constantFrom(null, '', 'Hm.'),
  answer: text,
  calls: fc.array(
    fc.record({
      id: fc.constantFrom(null, 0, 1),
      text,
      failed: fc.boolean(),
      image: fc.boolean(),
      custom: fc.boolean(),
    }),
    { maxLength: 3 },
  ),
  turned: fc.boolean(),
  split: fc.boolean(),
  textFirst: fc.boolean(),
  interrupted: fc.boolean(),
})
const talk = fc.record({ rounds: fc.array(round, { minLength: 1, maxLength: 4 }), prefill: fc.boolean() })
type Talk = typeof talk extends fc.Arbitrary<infer Value> ? Value : never

const png = 'iVBORw0KGgo='
const dataUrl = `data:image/png;base64,${png}`
const last = 'Go on.'

/** With an id of its own in the answer: a repeated one is of an earlier answer. */
const callsOf = ({ calls }: Round, at: number) =>
  calls.map((call, index) => ({ ...call, key: call.id === null ? `c${at}_${index}` : `same${call.id}_${index}` }))
const turn = <T>(list: readonly T[], turned: boolean) => (turned ? list.toReversed() : [...list])

function claudeCode({ rounds, prefill }: Talk): JsonObject {
  const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } }
  const texts = (list: readonly string[]) => list.map((one) => ({ type: 'text', text: one }))
  const messages = rounds.flatMap((one, at) => {
    const calls = callsOf(one, at)
    const results = turn(calls, one.turned).map(({ key, text: given, failed, image: shown }) => ({
      type: 'tool_result',
      tool_use_id: key,
      content: shown ? [...texts([given]), image] : given,
      is_error: failed,
    }))
    const uses = calls.map(({ key }) => ({ type: 'tool_use', id: key, name: 'f', input: {} }))
    const thinking = one.thought === null ? [] : [{ type: 'thinking', thinking: one.thought, signature: '' }]
    const content = [...thinking, ...texts([one.answer]), ...uses]
    const before = one.textFirst ? texts(['<system-reminder>y</system-reminder>']) : []
    const halves = one.split ? [results.slice(0, 1), results.slice(1)] : [results]
    return [
      { role: 'user', content: [...(one.shows ? [image] : []), ...texts(one.said)] },
      { role: 'assistant', content },
      ...halves.map((half) => ({ role: 'user', content: [...before, ...half] })),
      ...(one.reminds ? [{ role: 'system', content: 'Be brief.' }] : []),
      ...(one.interrupted ? [{ role: 'user', content: '[Request interrupted by user]' }] : []),
    ]
  })
  const end = prefill ? [{ role: 'assistant', content: [{ type: 'text', text: '{' }] }] : []
  return {
    model: 'm',
    max_tokens: 100,
    system: texts(['x-anthropic-billing-header: a\n', 'S']),
    messages: [...messages, { role: 'user', content: last }, ...end],
    tools: [{ name: 'f', input_schema: { type: 'object', properties: {} } }],
  }
}

function codex({ rounds }: Talk): JsonObject {
  const message = (role: string, texts: readonly string[]) => ({
    type: 'message',
    role,
    content: texts.map((one) => ({ type: role === 'assistant' ? 'output_text' : 'input_text', text: one })),
  })
  const items = rounds.flatMap((one, at) => {
    const calls = callsOf(one, at)
    const outputs = turn(calls, one.turned).map(({ key, text: given, image, custom }) => ({
      type: custom ? 'custom_tool_call_output' : 'function_call_output',
      call_id: key,
      output: image
        ? [
            { type: 'input_text', text: given },
            { type: 'input_image', image_url: dataUrl },
          ]
        : given,
    }))
    return [
      message('user', one.said),
      ...(one.shows ? [{ type: 'message', role: 'user', content: [{ type: 'input_image', image_url: dataUrl }] }] : []),
      ...(one.thought === null ? [] : [{ type: 'reasoning', summary: [{ type: 'summary_text', text: one.thought }] }]),
      message('assistant', [one.answer]),
      ...calls.map(({ key, custom }) =>
        custom
          ? { type: 'custom_tool_call', call_id: key, name: 'g', input: 'x' }
          : { type: 'function_call', call_id: key, name: 'f', arguments: '{}' },
      ),
      ...(one.textFirst ? [message('developer', ['y'])] : []),
      ...outputs,
      ...(one.reminds ? [message('developer', ['Be brief.'])] : []),
      ...(one.interrupted ? [message('user', ['<turn_aborted>'])] : []),
    ]
  })
  return {
    model: 'm',
    instructions: 'S',
    input: [...items, message('user', [last])],
    tools: [
      { type: 'function', name: 'f', parameters: { type: 'object', properties: {} }, strict: false },
      { type: 'custom', name: 'g' },
    ],
    store: false,
  }
}

function geminiCli({ rounds }: Talk): JsonObject {
  const texts = (list: readonly string[]) => list.map((one) => ({ text: one }))
  const image = { inlineData: { mimeType: 'image/png', data: png } }
  const contents = rounds.flatMap((one, at) => {
    const calls = callsOf(one, at).map((call) => ({ ...call, id: one.split ? { id: call.key } : {} }))
    // Without ids they must be in order.
    const responses = turn(calls, one.turned && one.split).map(({ id, text: given, failed, image: shown }) => ({
      functionResponse: {
        ...id,
        name: 'f',
        response: { [failed ? 'error' : 'output']: given },
        ...(shown && { parts: [image] }),
      },
    }))
    const thoughts = one.thought === null ? [] : [{ text: one.thought, thought: true }]
    const uses = calls.map(({ id }) => ({ functionCall: { ...id, name: 'f', args: {} } }))
    return [
      { role: 'user', parts: [...(one.shows ? [image] : []), ...texts(one.said)] },
      { role: 'model', parts: [...thoughts, ...texts([one.answer]), ...uses] },
      ...(responses.length > 0
        ? [{ role: 'user', parts: [...responses, ...(one.textFirst ? texts(['y']) : [])] }]
        : []),
      ...(one.interrupted ? [{ role: 'user', parts: texts(['z']) }] : []),
    ]
  })
  return {
    systemInstruction: { parts: texts(['S']) },
    contents: [...contents, { role: 'user', parts: texts([last]) }],
    tools: [{ functionDeclarations: [{ name: 'f', parametersJsonSchema: { type: 'object', properties: {} } }] }],
  }
}

function opencode({ rounds }: Talk): JsonObject {
  const image = { type: 'image_url', image_url: { url: dataUrl } }
  const texts = (list: readonly string[]) => list.map((one) => ({ type: 'text', text: one }))
  const messages = rounds.flatMap((one, at) => {
    const calls = callsOf(one, at)
    const results = turn(calls, one.turned).map(({ key, text: given, image: shown }) => ({
      role: 'tool',
      tool_call_id: key,
      content: shown ? [...texts([given]), image] : given,
    }))
    const uses = calls.map(({ key }) => ({ id: key, type: 'function', function: { name: 'f', arguments: '' } }))
    return [
      { role: 'user', content: [...(one.shows ? [image] : []), ...texts(one.said)] },
      {
        role: 'assistant',
        content: one.split ? null : one.answer,
        ...(one.thought !== null && { reasoning_content: one.thought }),
        ...(uses.length > 0 && { tool_calls: uses }),
      },
      ...results,
      ...(one.reminds ? [{ role: 'system', content: 'Be brief.' }] : []),
      ...(one.interrupted ? [{ role: 'user', content: 'Stop.' }] : []),
    ]
  })
  return {
    model: 'm',
    messages: [{ role: 'system', content: 'S' }, ...messages, { role: 'user', content: last }],
    tools: [{ type: 'function', function: { name: 'f', parameters: { type: 'object', properties: {} } } }],
  }
}

const agents = { chat: opencode, responses: codex, messages: claudeCode, generate: geminiCli }
const providers = {
  chat: chatProvider,
  responses: responsesProvider,
  messages: messagesProvider,
  generate: generateProvider,
}
const models: readonly [FormatName, RequestOptions][] = [
  // The mock takes no custom tools, which Codex has.
  ['chat', { model: 'gpt-5.2' }],
  ['chat', { model: 'qwen3', compatible: true }],
  ['responses', { model: 'gpt-5.2' }],
  ['messages', { model: 'claude-sonnet-4-5', maxOutput: 100 }],
  ['messages', { model: 'claude-opus-4-8', maxOutput: 100 }],
  ['generate', { model: 'gemini-3-pro' }],
]

describe.each(Object.entries(agents) as [FormatName, (told: Talk) => JsonObject][])('an agent of %s', (from, write) => {
  const targets = models.filter(
    ([to, { compatible }]) => to !== from && !(from === 'responses' && to === 'chat' && !compatible),
  )
  it.each(targets)('is taken by %s, whatever its history: %j', (to, options) => {
    fc.assert(
      fc.property(talk, (told) => {
        const { body, refused } = translateRequest(from, to, JSON.stringify(write(told)), options)
        expect(refused).toBe(null)
        const { turns } = providers[to].read(JSON.parse(body ?? ''))
        expect(JSON.stringify(turns)).toContain(last)
      }),
      { numRuns: 150 },
    )
  })
})
