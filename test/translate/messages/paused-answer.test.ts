import { expect, it } from 'vitest'
import { applyEdits } from '../../../src/lanes/patch-body.ts'
import { messagesPausing } from '../../../src/translate/messages/paused-answer.ts'

const search = { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'a' } }
const text = (words: string) => ({ type: 'text', text: words })
const whole = (content: unknown, stop_reason = 'pause_turn') => Buffer.from(JSON.stringify({ content, stop_reason }))

it.each([
  ['keeps blocks as they were', [text('a "pause_turn"'), search], [text('a "pause_turn"'), search]],
  ['leaves out texts of nothing', [text(' \n'), search, text('')], [search]],
  ['ends in no white space', [search, text('b \n')], [search, text('b')]],
  ['cannot go on with nothing', [], null],
  ['cannot go on past a call of the client', [search, { type: 'tool_use', id: 't', name: 'f', input: {} }], null],
  ['cannot go on where there is no content', 'x', null],
])('a whole answer that pauses %s', (_, content, blocks) => {
  const read = messagesPausing.readWhole(whole(content))
  expect(read?.map((block) => JSON.parse(block)) ?? null).toEqual(blocks)
})

it('is only an answer whose stop reason says so', () => {
  expect(messagesPausing.readWhole(whole([text('"pause_turn"')], 'end_turn'))).toBeNull()
  expect(messagesPausing.readWhole(Buffer.from('"pause_turn"'))).toBeNull()
})

it('keeps numbers of a block to the digit', () => {
  const body = Buffer.from('{"content":[{"type":"x","n":12345678901234567890.0}],"stop_reason":"pause_turn"}')
  expect(messagesPausing.readWhole(body)).toEqual(['{"type":"x","n":12345678901234567890.0}'])
})

it('puts streamed blocks together, whatever their index', () => {
  const blocks = messagesPausing.openBlocks()
  const delta = (index: number, more: object) => blocks.add({ type: 'content_block_delta', index, delta: more })
  blocks.add({ type: 'content_block_start', index: 4_000_000_000, content_block: { type: 'thinking', thinking: '' } })
  delta(4_000_000_000, { type: 'thinking_delta', thinking: 'hm' })
  delta(4_000_000_000, { type: 'signature_delta', signature: 'signed' })
  blocks.add({ type: 'content_block_start', index: 1, content_block: { ...search, input: {} } })
  delta(1, { type: 'input_json_delta', partial_json: '{"query":' })
  delta(1, { type: 'input_json_delta', partial_json: '"a"}' })
  blocks.add({ type: 'content_block_start', index: 2, content_block: { ...text(''), citations: null } })
  delta(2, { type: 'text_delta', text: 'b' })
  delta(2, { type: 'citations_delta', citation: { url: 'u' } })
  delta(7, { type: 'text_delta', text: 'of no block' })
  expect(blocks.read()).toBeNull()
  blocks.add({ type: 'message_delta', delta: { stop_reason: 'pause_turn' } })
  expect(blocks.read()?.map((block) => JSON.parse(block))).toEqual([
    { type: 'thinking', thinking: 'hm', signature: 'signed' },
    search,
    { type: 'text', text: 'b', citations: [{ url: 'u' }] },
  ])
})

const asked = (more = '') => Buffer.from(`{"max_tokens":100,"messages":[{"role":"user","content":"a"}]${more}}`)

it('asks for the rest with what was written, and with what is left of the limit', () => {
  const edits = messagesPausing.editRequest(asked(), ['{"type":"x"}'], 30)
  expect(applyEdits(asked(), edits ?? []).toString()).toBe(
    '{"max_tokens":70,"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"x"}]}]}',
  )
})

it.each([
  ['the limit leaves nothing', asked(), 100],
  ['the model may think as much as is left', asked(',"thinking":{"type":"enabled","budget_tokens":70}'), 30],
  ['there is no limit to lower', Buffer.from('{"messages":[]}'), 0],
])('does not ask for the rest where %s', (_, body, written) => {
  expect(messagesPausing.editRequest(body, ['{}'], written)).toBeNull()
})

it.each([
  ['[{"b":1}]', '[{"a":1},{"b":1}]'],
  ['[ ]', '[{"a":1} ]'],
])('makes the last part of a whole answer all of it: %s', (content, joined) => {
  const body = Buffer.from(`{"content":${content}}`)
  const edits = messagesPausing.editAnswer(body, ['{"a":1}'])
  expect(applyEdits(body, edits).toString()).toBe(`{"content":${joined}}`)
})
