import { describe, expect, it } from 'vitest'
import { scanObject } from '../../src/core/json/json-scan.ts'
import type { LaneName } from '../../src/core/lane.ts'
import { isSealedEncoded, sealedPrefix, unsignedMark } from '../../src/core/secrets/sealed-mark.ts'
import { ReplayedCarriers } from '../../src/gateway/translation/replayed-carriers.ts'
import { applyEdits } from '../../src/lanes/patch-body.ts'
import { ClientTokens } from '../../src/sealing/client-token.ts'

const tokens = new ClientTokens(new Uint8Array(32))
const sealed = sealedPrefix + tokens.seal('reasoning', '["p",{}]', Date.now())
const encoded = Buffer.from(`${sealed}\n${sealed}`).toString('base64')

function strip(lane: LaneName, body: object, model = 'gemini-3-pro'): object {
  const bytes = Buffer.from(JSON.stringify(body, null, 1))
  return JSON.parse(applyEdits(bytes, ReplayedCarriers.find(lane, bytes)?.editsFor(model) ?? []).toString())
}

it('recognises what the gateway seals, and little else', () => {
  const finds = (body: object) => scanObject(Buffer.from(JSON.stringify(body)), [])
  expect(finds({ messages: [{ content: [{ signature: sealed }] }] })).toMatchObject({ sealed: true })
  expect(finds({ contents: { thoughtSignature: encoded } })).toMatchObject({ sealed: true })
  expect(finds({ messages: [{ content: [{ thinking: 'so', signature: '' }] }] })).toMatchObject({ sealed: true })
  expect(scanObject(Buffer.from('{"a": [{"signature": ""}]}'), [])).toMatchObject({ sealed: true })
  expect(finds({ input: [{ type: 'reasoning', id: 'rs_sp_aaaa' }] })).toMatchObject({ sealed: true })
  expect(finds({ signatures: '', text: '', b: ['', { signature: ' ' }], id: 'rs_spx' })).toMatchObject({
    sealed: false,
  })
  expect(isSealedEncoded(encoded.replaceAll('+', '-').replaceAll('/', '_'))).toBe(true)
  expect(finds({ text: 'An sp1.AQ', more: ['"sp1.', 's', 'sp1', 'c3A'], 'sp1.': 1 })).toMatchObject({ sealed: false })
})

describe('messages', () => {
  const own = { type: 'thinking', thinking: 'mine', signature: 'EqQB' }
  const foreign = { type: 'thinking', thinking: 'theirs', signature: sealed }
  const redacted = { type: 'redacted_thinking', data: sealed }
  const call = { type: 'tool_use', id: 'toolu_1', name: 'look', input: { signature: sealed, type: 'thinking' } }

  it('loses sealed blocks, and keeps its provider’s own', () => {
    const blocks = [foreign, foreign, own, redacted, call, redacted]
    expect(strip('anthropic', { messages: [{ role: 'assistant', content: blocks }] })).toEqual({
      messages: [{ role: 'assistant', content: [own, call] }],
    })
  })

  it('loses what nobody has signed at Claude, which refuses it, and at no other: those want it back', () => {
    const unsigned = { type: 'thinking', thinking: 'shown', signature: '' }
    const body = { messages: [{ role: 'assistant', content: [unsigned, own, foreign, unsigned, call] }] }
    const content = (...blocks: object[]) => ({ messages: [{ role: 'assistant', content: blocks }] })
    expect(strip('anthropic', body, 'claude-opus-4-7')).toEqual(content(own, call))
    expect(strip('anthropic', body, 'deepseek-v4')).toEqual(content(unsigned, own, unsigned, call))
    expect(strip('anthropic', content(unsigned, call), 'deepseek-v4')).toEqual(content(unsigned, call))
  })

  it('stops thinking by a budget in the turn with calls that another model began, which older Claude refuses', () => {
    const thinking = { type: 'enabled', budget_tokens: 2048 }
    const result = { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'r' }] }
    const older = 'eu.anthropic.claude-sonnet-4-5-20250929-v1:0'
    const sent = (model: string, ...blocks: object[]) => {
      const body = { thinking, messages: [{ role: 'assistant', content: blocks }, result], max_tokens: 4096 }
      return Object.keys(strip('anthropic', body, model))
    }
    for (const block of [foreign, redacted, { ...own, signature: '' }])
      expect(sent(older, block, call)).toEqual(['messages', 'max_tokens'])
    const all = ['thinking', 'messages', 'max_tokens']
    expect(sent('claude-opus-4-7', foreign, call)).toEqual(all)
    expect(sent(older, own, foreign, call)).toEqual(all)
    expect(sent(older, foreign, own, call)).toEqual(all)
    expect(sent(older, foreign, { type: 'text', text: 'x' })).toEqual(all)
    const said = (...content: object[]) => ({ role: 'assistant', content })
    const keeps = (...messages: object[]) => 'thinking' in strip('anthropic', { thinking, messages }, older)
    const reminded = { ...result, content: [...result.content, { type: 'text', text: 'Go on.' }] }
    expect(keeps(said(foreign, call), reminded, said(call), result)).toBe(false)
    // Its own thinking began the answer.
    expect(keeps(said(own, call), result, said(foreign, call), result)).toBe(true)
    // It would refuse its own thinking, too, in an answer that it is not asked to think for.
    const mixed = { thinking, messages: [said(foreign, call), result, said(own, call), result] }
    expect(strip('anthropic', mixed, older)).toEqual({ messages: [said(call), result, said(call), result] })
    expect(keeps(said(foreign, call), result, said(call), { role: 'user', content: 'Next.' })).toBe(true)
    expect(keeps(said(foreign, call), result, { role: 'user', content: 'Next.' }, said(own, call), result)).toBe(true)
    const clears = { type: 'clear_thinking_20251015' }
    const others = { type: 'clear_tool_uses_20250919' }
    const cleared = (edits: object[], asked: object = thinking) =>
      strip(
        'anthropic',
        { context_management: { edits }, thinking: asked, messages: [{ role: 'assistant', content: [foreign, call] }] },
        older,
      )
    const messages = [{ role: 'assistant', content: [call] }]
    expect(cleared([clears])).toEqual({ messages })
    expect(cleared([clears, others])).toEqual({ context_management: { edits: [others] }, messages })
    const off = { type: 'disabled' }
    expect(cleared([clears], off)).toEqual({ context_management: { edits: [clears] }, thinking: off, messages })
  })

  it('stops thinking where Claude has refused it, since a model without reasoning began the answer', () => {
    const thinking = { type: 'enabled', budget_tokens: 2048 }
    const messages = (...thoughts: object[]) => [{ role: 'assistant', content: [call, ...thoughts] }]
    const find = (body: object) => {
      const bytes = Buffer.from(JSON.stringify(body))
      const found = ReplayedCarriers.findThinking(bytes)
      const edits = found?.editsFor('claude-opus-4-5') ?? []
      return [found?.stopsThinking('claude-opus-4-5') ?? null, JSON.parse(applyEdits(bytes, edits).toString())]
    }
    expect(find({ messages: messages(own), thinking })).toEqual([true, { messages: messages() }])
    const adaptive = { messages: messages(own), thinking: { type: 'adaptive' } }
    expect(find(adaptive)).toEqual([null, adaptive])
  })

  it('loses a message of nothing else', () => {
    const user = { role: 'user', content: 'hi' }
    const messages = [user, { role: 'assistant', content: [foreign] }, user]
    expect(strip('anthropic', { messages })).toEqual({ messages: [user, user] })
  })

  it('keeps what a tool or a text says', () => {
    const body = { messages: [{ role: 'user', content: [{ type: 'text', text: sealed }, call] }] }
    expect(strip('anthropic', body)).toEqual(body)
  })
})

it('responses: loses sealed reasoning items', () => {
  const message = { role: 'user', content: sealed }
  const item = (content: string) => ({ type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: content })
  const call = { type: 'function_call', call_id: 'call_1', name: 'look', arguments: '{}' }
  const input = [item(sealed), message, item('gAAAA'), item(sealed), call, item(sealed)]
  expect(strip('openai', { input })).toEqual({ input: [message, item('gAAAA'), call] })
})

it('responses: loses reasoning of other providers that OpenAI would look up by an id that it has never given', () => {
  const text = { type: 'summary_text', text: 'I think.' }
  const item = (id: string) => ({ type: 'reasoning', id, summary: [text], encrypted_content: null })
  const message = { role: 'user', content: 'hi' }
  const input = [item('rs_sp_abcdefghijklmnopqrstuvwx'), message, item('rs_1')]
  expect(strip('openai', { input })).toEqual({ input: [message, item('rs_1')] })
})

it('chat: loses the members that carry it', () => {
  const call = { id: 'call_1', type: 'function', function: { name: 'look', arguments: '{}' } }
  const google = { extra_content: { google: { thought_signature: sealed } } }
  const carried = { extra_content: { spgw: { reasoning: [sealed] } }, role: 'assistant', content: null }
  expect(strip('openai', { messages: [{ ...carried, tool_calls: [{ ...call, ...google }] }] })).toEqual({
    messages: [{ role: 'assistant', content: null, tool_calls: [call] }],
  })
})

it('chat: loses what it shows of reasoning at a vendor that refuses it', () => {
  const shown = { role: 'assistant', content: 'so', reasoning_content: 'I think.' }
  const call = { id: 'c', type: 'function', function: { name: 'f', arguments: '{"reasoning_content":"mine"}' } }
  const find = (body: object) => {
    const bytes = Buffer.from(JSON.stringify(body))
    const edits = ReplayedCarriers.findShown(bytes)?.editsFor('llama')
    return edits === undefined ? null : JSON.parse(applyEdits(bytes, edits).toString())
  }
  const atOpenRouter = { reasoning: 'I think.', reasoning_details: [{ type: 'reasoning.text', text: 'I think.' }] }
  const carried = { ...shown, ...atOpenRouter, extra_content: { spgw: { reasoning: [sealed] } } }
  expect(find({ reasoning: { effort: 'low' }, messages: [shown, carried] })).toEqual({
    reasoning: { effort: 'low' },
    messages: [
      { role: 'assistant', content: 'so' },
      { role: 'assistant', content: 'so' },
    ],
  })
  expect(find({ messages: [{ role: 'assistant', content: 'reasoning_content', tool_calls: [call] }] })).toBeNull()
})

it('generate: finds signatures in Google’s other spelling', () => {
  const function_call = { name: 'look', args: {} }
  const parts = [
    { function_call, thought_signature: encoded },
    { text: 'x', thought_signature: encoded },
  ]
  const contents = [{ role: 'model', parts }]
  const kept = [{ function_call, thought_signature: 'skip_thought_signature_validator' }, { text: 'x' }]
  expect(strip('gemini', { contents })).toEqual({ contents: [{ role: 'model', parts: kept }] })
  const older = [{ function_call }, { text: 'x' }]
  expect(strip('gemini', { generate_content_request: { contents } }, 'gemini-2.5-pro')).toEqual({
    generate_content_request: { contents: [{ role: 'model', parts: older }] },
  })
})

it('generate: a call that nobody has signed is like one that another model made', () => {
  const functionCall = { name: 'look', args: {} }
  const contents = [{ role: 'model', parts: [{ functionCall, thoughtSignature: unsignedMark }, { functionCall }] }]
  const stripped = (first: object) => ({ contents: [{ role: 'model', parts: [first, { functionCall }] }] })
  const word = { functionCall, thoughtSignature: 'skip_thought_signature_validator' }
  expect(scanObject(Buffer.from(JSON.stringify({ contents })), [])).toMatchObject({ sealed: true })
  expect(strip('gemini', { contents })).toEqual(stripped(word))
  expect(strip('gemini', { contents }, 'gemini-2.5-pro')).toEqual(stripped({ functionCall }))
})

it('generate: newer models get the word for a call of another model, older ones nothing', () => {
  const functionCall = { name: 'look', args: {} }
  const parts = [
    { text: 'so', thought: true, thoughtSignature: encoded },
    { functionCall, thoughtSignature: encoded },
    { functionCall, thoughtSignature: 'CtwB' },
  ]
  const contents = [{ role: 'model', parts }]
  const stripped = (first: object) => ({
    contents: [{ role: 'model', parts: [{ text: 'so', thought: true }, first, parts[2]] }],
  })
  const word = { functionCall, thoughtSignature: 'skip_thought_signature_validator' }
  expect(strip('gemini', { contents })).toEqual(stripped(word))
  expect(strip('gemini', { contents }, 'gemini-2.5-pro')).toEqual(stripped({ functionCall }))
})
