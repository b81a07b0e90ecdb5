import fc from 'fast-check'
import { vi } from 'vitest'
import type { JsonObject } from '../../src/core/json/json-value.ts'
import { describePrefixes, type TalkPair } from '../support/translate/prefixes.ts'

/** `SPGW_TRANSLATE_RUNS=100000` for as many conversations. */
const numRuns = Number(process.env.SPGW_TRANSLATE_RUNS ?? 300)
// Many conversations take as long as they take.
vi.setConfig({ testTimeout: 180_000 + numRuns * 100 })

const words = fc.oneof(
  fc.string({ maxLength: 12 }),
  fc.constantFrom('', ' ', 'a', '\ud83d', '\u0000', 'Ünïcödé', '"\\'),
)
const json = fc.jsonValue({ maxDepth: 2 }).map((value) => JSON.stringify({ value }))

interface Round {
  said: readonly { text: string; mark: boolean; image: boolean }[]
  answer: string
  calls: readonly { name: string; arguments: string; result: string; failed: boolean }[]
  /** Results come back in another order. */
  turned: boolean
}

const round: fc.Arbitrary<Round> = fc.record({
  said: fc.array(fc.record({ text: words, mark: fc.boolean(), image: fc.boolean() }), { minLength: 1, maxLength: 3 }),
  answer: words,
  calls: fc.array(
    fc.record({ name: fc.constantFrom('read', 'write'), arguments: json, result: words, failed: fc.boolean() }),
    { maxLength: 3 },
  ),
  turned: fc.boolean(),
})

const conversation = fc.record({
  system: fc.array(fc.record({ text: words, mark: fc.boolean() }), { maxLength: 2 }),
  rounds: fc.array(round, { minLength: 1, maxLength: 4 }),
  temperature: fc.option(fc.double({ min: 0, max: 2, noNaN: true })),
})
type Talk = typeof conversation extends fc.Arbitrary<infer Value> ? Value : never

const picture = 'iVBORw0KGgo='

function chatBody({ system, rounds, temperature }: Talk, turns: number): JsonObject {
  const mark = (marked: boolean) => (marked ? { prompt_cache_breakpoint: { mode: 'explicit', ttl: '30m' } } : {})
  const messages = rounds.slice(0, turns + 1).flatMap((one, turn) => {
    const image = { type: 'image_url', image_url: { url: `data:image/png;base64,${picture}` } }
    const said = one.said.flatMap(({ text, mark: marked, image: shown }) => [
      ...(shown ? [image] : []),
      { type: 'text', text: `${text}.`, ...mark(marked) },
    ])
    const calls = one.calls.map((call, index) => ({
      id: `call.${turn}:${index}`,
      type: 'function',
      function: { name: call.name, arguments: call.arguments },
    }))
    const results = one.calls.map(({ result }, index) => ({
      role: 'tool',
      tool_call_id: `call.${turn}:${index}`,
      content: result,
    }))
    if (turn === turns) return [{ role: 'user', content: said }]
    const answer = calls.length > 0 ? one.answer : `${one.answer}.`
    return [
      { role: 'user', content: said },
      { role: 'assistant', content: answer, ...(calls.length > 0 ? { tool_calls: calls } : {}) },
      ...(one.turned ? results.reverse() : results),
    ]
  })
  const first = {
    role: 'system',
    content: system.map(({ text, mark: marked }) => ({ type: 'text', text: `${text}.`, ...mark(marked) })),
  }
  const tools = ['read', 'write'].map((name) => ({
    type: 'function',
    function: { name, parameters: { type: 'object' } },
  }))
  return {
    model: 'm',
    messages: [...(system.length > 0 ? [first] : []), ...messages],
    tools,
    ...(temperature === null ? {} : { temperature }),
  }
}

function messagesBody({ system, rounds, temperature }: Talk, turns: number): JsonObject {
  const mark = (marked: boolean) => (marked ? { cache_control: { type: 'ephemeral' } } : {})
  let results: JsonObject[] = []
  const messages = rounds.slice(0, turns + 1).flatMap((one, turn) => {
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: picture } }
    const said = one.said.flatMap(({ text, mark: marked, image: shown }) => [
      ...(shown ? [image] : []),
      { type: 'text', text: `${text}.`, ...mark(marked) },
    ])
    const content = [...results, ...said]
    if (turn === turns) return [{ role: 'user', content }]
    results = one.calls.map(({ result, failed }, index) => ({
      type: 'tool_result',
      tool_use_id: `toolu_${turn}_${index}`,
      content: result,
      is_error: failed,
    }))
    if (one.turned) results.reverse()
    const calls = one.calls.map((call, index) => ({
      type: 'tool_use',
      id: `toolu_${turn}_${index}`,
      name: call.name,
      input: JSON.parse(call.arguments),
    }))
    return [
      { role: 'user', content },
      { role: 'assistant', content: [{ type: 'text', text: `${one.answer}.` }, ...calls] },
    ]
  })
  const tools = ['read', 'write'].map((name) => ({ name, input_schema: { type: 'object' } }))
  return {
    model: 'm',
    max_tokens: 100,
    ...(system.length > 0
      ? { system: system.map(({ text, mark: marked }) => ({ type: 'text', text: `${text}.`, ...mark(marked) })) }
      : {}),
    messages,
    tools,
    ...(temperature === null ? {} : { temperature: Math.min(1, temperature) }),
  }
}

const pairs: readonly TalkPair<Talk>[] = [
  ['chat', 'messages', chatBody, { model: 'claude-sonnet-4-5' }],
  ['chat', 'messages', chatBody, { model: 'claude-opus-5' }],
  ['chat', 'responses', chatBody, { model: 'gpt-5.4' }],
  ['chat', 'generate', chatBody, { model: 'gemini-3-pro' }],
  ['messages', 'chat', messagesBody, { model: 'gpt-5.2' }],
  ['messages', 'chat', messagesBody, { model: 'qwen', compatible: true }],
  ['messages', 'responses', messagesBody, { model: 'gpt-5.5' }],
  ['messages', 'generate', messagesBody, { model: 'gemini-2.5-flash' }],
]

describePrefixes(pairs, conversation, numRuns)
