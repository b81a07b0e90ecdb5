import fc from 'fast-check'
import { vi } from 'vitest'
import type { JsonObject } from '../../src/core/json/json-value.ts'
import { describePrefixes, type TalkPair } from '../support/translate/prefixes.ts'

/** `SPGW_TRANSLATE_RUNS=100000` for as many conversations. */
const numRuns = Number(process.env.SPGW_TRANSLATE_RUNS ?? 200)
// Many conversations take as long as they take.
vi.setConfig({ testTimeout: 180_000 + numRuns * 100 })

const words = fc
  .oneof(fc.string({ maxLength: 12 }), fc.constantFrom('', ' ', '\ud83d', 'Ünïcödé', '"\\'))
  .map((text) => `${text}.`)
const input = fc.dictionary(fc.string(), fc.oneof(fc.integer(), fc.string(), fc.constant(null)), { maxKeys: 3 })
const round = fc.record({
  said: fc.array(fc.record({ text: words, mark: fc.boolean(), image: fc.boolean() }), { minLength: 1, maxLength: 3 }),
  thought: fc.option(words),
  answer: words,
  calls: fc.array(fc.record({ input, result: words, custom: fc.boolean(), failed: fc.boolean() }), { maxLength: 3 }),
  turned: fc.boolean(),
})
const talks = fc.record({ system: fc.option(words), rounds: fc.array(round, { minLength: 1, maxLength: 4 }) })
type Talk = typeof talks extends fc.Arbitrary<infer Value> ? Value : never

const png = 'iVBORw0KGgo='
/** What an answer of the client's provider has given it to carry. */
const sealed = (family: string, form: string) =>
  `sealed.${Buffer.from(JSON.stringify({ family, form, value: 'dmFsdWU=' })).toString('base64url')}`

function responsesBody({ system, rounds }: Talk, turns: number): JsonObject {
  const items = rounds.slice(0, turns + 1).flatMap((one, turn) => {
    const content = one.said.flatMap(({ text, mark, image }) => [
      ...(image ? [{ type: 'input_image', image_url: `data:image/png;base64,${png}` }] : []),
      { type: 'input_text', text, ...(mark && { prompt_cache_breakpoint: { mode: 'explicit' } }) },
    ])
    if (turn === turns) return [{ role: 'user', content }]
    const id = (index: number) => `call_${turn}_${index}`
    const calls = one.calls.map(({ input: args, custom }, index) =>
      custom
        ? { type: 'custom_tool_call', call_id: id(index), name: 'patch', input: JSON.stringify(args) }
        : { type: 'function_call', call_id: id(index), name: 'read', arguments: JSON.stringify(args) },
    )
    const results = one.calls.map(({ result, custom }, index) => ({
      type: custom ? 'custom_tool_call_output' : 'function_call_output',
      call_id: id(index),
      output: result,
    }))
    const thought = {
      type: 'reasoning',
      id: `rs_${turn}`,
      summary: [],
      encrypted_content: sealed('anthropic', 'redacted'),
    }
    return [
      { role: 'user', content },
      ...(one.thought === null ? [] : [thought]),
      { role: 'assistant', content: [{ type: 'output_text', text: one.answer }] },
      ...calls,
      ...(one.turned ? results.reverse() : results),
    ]
  })
  const tools = [
    { type: 'function', name: 'read', parameters: { type: 'object' }, strict: false },
    { type: 'custom', name: 'patch' },
  ]
  return { model: 'm', input: items, tools, ...(system !== null && { instructions: system }) }
}

/** Without ids, as the older models have it. */
function generateBody({ system, rounds }: Talk, turns: number): JsonObject {
  let results: JsonObject[] = []
  const contents = rounds.slice(0, turns + 1).flatMap((one, turn) => {
    const said = one.said.flatMap(({ text, image }) => [
      ...(image ? [{ inlineData: { mimeType: 'image/png', data: png } }] : []),
      { text },
    ])
    const user = { role: 'user', parts: [...results, ...said] }
    if (turn === turns) return [user]
    results = one.calls.map(({ result, failed }) => ({
      functionResponse: { name: 'read', response: { [failed ? 'error' : 'output']: result } },
    }))
    const calls = one.calls.map(({ input: args }) => ({
      functionCall: { name: 'read', args },
      thoughtSignature: 'c2ln',
    }))
    const thought = one.thought === null ? [] : [{ text: one.thought, thought: true }]
    return [user, { role: 'model', parts: [...thought, { text: one.answer }, ...calls] }]
  })
  const tools = [{ functionDeclarations: [{ name: 'read', parameters: { type: 'OBJECT', properties: { a: {} } } }] }]
  return { contents, tools, ...(system !== null && { systemInstruction: { parts: [{ text: system }] } }) }
}

const pairs: readonly TalkPair<Talk>[] = [
  ['responses', 'chat', responsesBody, { model: 'gpt-4o' }],
  ['responses', 'chat', responsesBody, { model: 'qwen', compatible: true }],
  ['responses', 'messages', responsesBody, { model: 'claude-opus-4-8' }],
  ['responses', 'generate', responsesBody, { model: 'gemini-2.5-pro' }],
  ['responses', 'generate', responsesBody, { model: 'gemini-3-pro' }],
  ['generate', 'chat', generateBody, { model: 'gpt-4o' }],
  ['generate', 'responses', generateBody, { model: 'gpt-5.4' }],
  ['generate', 'messages', generateBody, { model: 'claude-opus-4-8' }],
]

describePrefixes(pairs, talks, numRuns)
