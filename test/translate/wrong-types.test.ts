import { describe, expect, it } from 'vitest'
import type { FormatName } from '../../src/core/format.ts'
import { chatBodies, messagesBodies } from '../support/translate/field-bodies.ts'
import { generateBodies } from '../support/translate/generate-bodies.ts'
import { responsesBodies } from '../support/translate/responses-bodies.ts'
import { type RequestOptions, translateRequest } from '../support/translate/stage.ts'
import { checkTypes } from '../support/translate/wrong-types.ts'

const bodies = { chat: chatBodies, responses: responsesBodies, messages: messagesBodies, generate: generateBodies }
const models = { chat: 'gpt-4o', responses: 'gpt-4.1', messages: 'claude-sonnet-4-5', generate: 'gemini-3-pro' }
const formats = ['chat', 'responses', 'messages', 'generate'] as const
const pairs = formats.flatMap((from) => formats.filter((to) => to !== from).map((to) => [from, to] as const))

describe('a member of a wrong type is refused, listed, or passed on for the provider to refuse', () => {
  it.each(pairs)('from %s to %s', (from, to) => {
    const { tried, silent } = checkTypes(from, to, bodies[from], { model: models[to] })
    expect(silent).toEqual([])
    expect(tried).toBeGreaterThan(1000)
  })

  const chat = { model: 'm', messages: [{ role: 'user', content: 'hi' }] }
  const generate = { contents: [{ parts: [{ text: 'hi' }] }] }
  const refused: [FormatName, object, string, string][] = [
    ['chat', { ...chat, response_format: 'json_object' }, 'response_format', 'response_format is not an object'],
    ['chat', { ...chat, thinking: 'x' }, 'thinking', 'thinking is not an object'],
    ['chat', { ...chat, stop: ['a', 5] }, 'stop[1]', 'stop[1] is not text'],
    ['chat', { ...chat, user: 5 }, 'user', 'user is not text'],
    ['chat', { ...chat, thinking: { type: 'zz' } }, 'thinking.type', 'thinking.type is not a known type'],
    ['chat', { ...chat, parallel_tool_calls: 'no' }, 'parallel_tool_calls', 'parallel_tool_calls is not a boolean'],
    ['responses', { model: 'm', input: 5 }, 'input', 'input is neither text nor a list'],
    ['responses', { model: 'm', input: 'x', tool_choice: 'f' }, 'tool_choice', 'tool_choice is not a known'],
    ['messages', { ...chat, max_tokens: 9, tool_choice: 'any' }, 'tool_choice', 'tool_choice is not an object'],
    ['messages', { ...chat, max_tokens: 9, thinking: { type: 'zz' } }, 'thinking.type', 'thinking.type is not a known'],
    [
      'messages',
      { ...chat, max_tokens: 9, output_config: { format: { type: 'json_schema', schema: 'x' } } },
      'output_config.format.schema',
      'is not an object',
    ],
    ['generate', { ...generate, generationConfig: [] }, 'generationConfig', 'generationConfig is not an object'],
    [
      'generate',
      { ...generate, toolConfig: { functionCallingConfig: { mode: 'MUST' } } },
      'toolConfig.functionCallingConfig.mode',
      'not a known mode',
    ],
  ]
  it.each(refused)('%s: %j', (from, body, param, words) => {
    const to = from === 'messages' ? 'chat' : 'messages'
    const { refused: fault } = translateRequest(from, to, JSON.stringify(body))
    expect(fault).toMatchObject({ code: 'invalid_request', param, message: expect.stringContaining(words) })
  })

  const taken: [FormatName, FormatName, object, RequestOptions][] = [
    // A list with holes, where plain messages are.
    ['chat', 'messages', { ...chat, messages: [...chat.messages, { role: 'assistant', content: 'x' }] }, {}],
    // Google takes one element for a list, and numbers that are written as texts.
    ['generate', 'chat', { contents: { parts: { text: 'hi' } }, tools: { functionDeclarations: { name: 'f' } } }, {}],
    ['generate', 'messages', { ...generate, generationConfig: { thinkingConfig: { thinkingBudget: '1024' } } }, {}],
    // Volcano Engine's word.
    ['chat', 'messages', { ...chat, thinking: { type: 'auto' } }, {}],
    // What nobody reads.
    ['responses', 'chat', { model: 'm', input: [{ id: 5, role: 'user', content: 'x' }], stream_options: 1 }, {}],
    ['chat', 'messages', { ...chat, tools: null, stop: null, response_format: null, max_tokens: 100.0 }, {}],
  ]
  it.each(taken)('from %s to %s nothing is wrong with %j', (from, to, body, options) => {
    expect(translateRequest(from, to, JSON.stringify(body), options).refused).toBe(null)
  })

  it('takes arguments of a call as an object too, as Mistral does', () => {
    const call = { id: 'a', type: 'function', function: { name: 'f', arguments: { city: 'Bern', at: 1.5 } } }
    const messages = [...chat.messages, { role: 'assistant', tool_calls: [call] }, { role: 'tool', tool_call_id: 'a' }]
    const { body, refused } = translateRequest('chat', 'messages', JSON.stringify({ ...chat, messages }))
    expect(refused).toBe(null)
    expect(body).toContain('"input":{"city":"Bern","at":1.5}')
  })
})
