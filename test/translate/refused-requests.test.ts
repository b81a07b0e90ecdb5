import { describe, expect, it } from 'vitest'
import type { FormatName } from '../../src/core/format.ts'
import { type RequestOptions, translateRequest } from '../support/translate/stage.ts'

const chat = (more: object) => ({ model: 'm', messages: [{ role: 'user', content: 'hi' }], ...more })
const messages = (more: object) => ({ ...chat({ max_tokens: 100 }), ...more })
const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } }
const picture = { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } }
const address = (url: string) => [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }]
const search = (more: object = {}) => ({ type: 'web_search_20250305', name: 'web_search', ...more })
const tree = { type: 'object', properties: { next: { $ref: '#' } }, additionalProperties: false }
const strict = { type: 'function', function: { name: 'walk', strict: true, parameters: tree } }
const stop = { stop_sequences: ['a', 'b', 'c', 'd', 'e'] }
const result = { type: 'tool_result', tool_use_id: 'call_1', content: 'ok' }

/** What would change the answer, had it been left out. */
const refused: [string, FormatName, FormatName, object, RequestOptions, string, RegExp][] = [
  ['stop sequences', 'messages', 'chat', messages(stop), {}, 'stop_sequences', /at most 4 stop sequences/],
  ['stop sequences', 'messages', 'chat', messages(stop), { model: 'o3' }, 'stop_sequences', /no stop sequences/],
  ['a search', 'messages', 'chat', messages({ tools: [search()] }), { compatible: true }, 'tools[0]', /hosts no web/],
  ['a search', 'messages', 'responses', messages({ tools: [search()] }), { compatible: true }, 'tools[0]', /hosts no/],
  [
    'domains that a search leaves out',
    ...(['messages', 'responses', messages({ tools: [search({ blocked_domains: ['a.example'] })] }), {}] as const),
    ...(['tools[0]', /cannot leave domains out/] as const),
  ],
  [
    'a search beside a function',
    ...([
      'messages',
      'generate',
      messages({ tools: [{ name: 'f', input_schema: { type: 'object' } }, search()] }),
    ] as const),
    ...([{}, 'tools[1]', /cannot be combined with functions/] as const),
  ],
  ['a schema within itself', 'chat', 'messages', chat({ tools: [strict] }), {}, 'tools[0]', /contains itself/],
  [
    'a picture of the system',
    ...(['chat', 'messages', chat({ messages: [{ role: 'system', content: [picture] }] }), {}] as const),
    ...(['messages[0].content[0]', /holds text only/] as const),
  ],
  [
    'a result of the assistant',
    ...(['messages', 'chat', messages({ messages: [{ role: 'assistant', content: [result] }] }), {}] as const),
    ...(['messages[0].content[0]', /is in an assistant's message/] as const),
  ],
  [
    'a picture of the assistant',
    ...(['messages', 'responses', messages({ messages: [{ role: 'assistant', content: [image] }] }), {}] as const),
    ...(['messages[0].content[0]', /holds no images or files/] as const),
  ],
  [
    'a picture at an address',
    ...([
      'chat',
      'generate',
      chat({ messages: address('https://a.example/x.png') }),
      { model: 'gemini-2.5-pro' },
    ] as const),
    ...(['messages[0].content[0]', /reads no addresses/] as const),
  ],
  [
    'a picture of no known type',
    ...(['chat', 'generate', chat({ messages: address('https://a.example/x') }), { model: 'gemini-3-pro' }] as const),
    ...(['messages[0].content[0]', /the type of what is at the address is not known/] as const),
  ],
]

describe('a request is refused by its place', () => {
  it.each(refused)('for %s, from %s to %s', (_what, from, to, body, options, place, reason) => {
    const { refused: fault } = translateRequest(from, to, JSON.stringify(body), options)
    expect(fault?.message).toMatch(reason)
    expect(`${fault?.param} ${fault?.message}`).toContain(place)
  })
})

const generate = (more: object) => ({ contents: [{ role: 'user', parts: [{ text: 'hi' }] }], ...more })
const responses = (more: object) => ({ model: 'm', input: 'hi', ...more })

it.each([
  ['chat', chat({ tools: { type: 'function', function: { name: 'f' } } }), 'tools'],
  ['chat', chat({ stop: 5 }), 'stop'],
  ['chat', chat({ max_tokens: '100' }), 'max_tokens'],
  ['chat', chat({ max_completion_tokens: 1.5 }), 'max_completion_tokens'],
  ['responses', responses({ tools: 'x' }), 'tools'],
  ['responses', responses({ max_output_tokens: true }), 'max_output_tokens'],
  ['messages', messages({ stop_sequences: 'END' }), 'stop_sequences'],
  ['messages', messages({ tools: { name: 'f' } }), 'tools'],
  ['messages', messages({ max_tokens: '100' }), 'max_tokens'],
  ['generate', generate({ generationConfig: { maxOutputTokens: 'many' } }), 'generationConfig.maxOutputTokens'],
] as const)('%s: a list that is none, and a limit that is none, are not left out: %j', (from, body, param) => {
  const to = from === 'messages' ? 'chat' : 'messages'
  const { refused: fault } = translateRequest(from, to, JSON.stringify(body), {})
  expect(fault).toMatchObject({ code: 'invalid_request', param })
})

it('-1 is no limit, and Gemini takes numbers that are written as texts', () => {
  const sent = (from: FormatName, body: object) =>
    JSON.parse(translateRequest(from, 'chat', JSON.stringify(body)).body ?? '')
  expect(sent('responses', responses({ max_output_tokens: -1 }))).not.toHaveProperty('max_completion_tokens')
  const generationConfig = { maxOutputTokens: '256', temperature: '0.5', seed: '7', topP: 1 }
  expect(sent('generate', generate({ generationConfig }))).toMatchObject({
    max_completion_tokens: 256,
    temperature: 0.5,
    seed: 7,
    top_p: 1,
  })
})

it.each(['messages', 'generate'] as const)('arguments of more values than anybody reads are refused, to %s', (to) => {
  const withCalls = (count: number, values: number) => {
    const ids = Array.from({ length: count }, (_, index) => `call_${index}`)
    const text = `{"a":[${'1.0,'.repeat(values)}1]}`
    const tool_calls = ids.map((id) => ({ id, type: 'function', function: { name: 'f', arguments: text } }))
    const results = ids.map((id) => ({ role: 'tool', tool_call_id: id, content: 'r' }))
    const asked = { role: 'user', content: 'hi' }
    return JSON.stringify(chat({ messages: [asked, { role: 'assistant', content: null, tool_calls }, ...results] }))
  }
  expect(translateRequest('chat', to, withCalls(20, 9000)).refused).toBeNull()
  for (const text of [withCalls(1, 300_000), withCalls(30, 9000)])
    expect(translateRequest('chat', to, text).refused?.message).toMatch(/arguments of its calls have too many values/)
})
