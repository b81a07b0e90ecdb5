import { describe, expect, it } from 'vitest'
import { lastSignature, readConversation } from '../../src/lanes/conversation.ts'
import { countedBytes, stepsOf } from '../support/counted-bytes.ts'

const long = 'word '.repeat(1200)
const read = (body: object) => readConversation(Buffer.from(JSON.stringify(body)), null).start
const text = (body: object) => read(body)?.text

const first = { role: 'user', content: `Read this. ${long}` }
const reply = { role: 'assistant', content: 'Done.' }
const next = { role: 'user', content: 'And now?' }

describe('how a prompt begins', () => {
  it('is the same for every turn of a conversation, in each format', () => {
    const system = [{ type: 'text', text: 'Be brief.' }]
    const parts = (turn: typeof first) => ({ role: turn.role, parts: [{ text: turn.content }] })
    const formats: ((turns: (typeof first)[]) => object)[] = [
      (messages) => ({ model: 'm', messages: [{ role: 'system', content: 'Be brief.' }, ...messages] }),
      (messages) => ({ model: 'm', system, messages }),
      (input) => ({ model: 'm', instructions: 'Be brief.', input }),
      (turns) => ({ systemInstruction: { parts: [{ text: 'Be brief.' }] }, contents: turns.map(parts) }),
    ]
    for (const format of formats) {
      expect(text(format([first]))).toBeTypeOf('string')
      expect(text(format([first, reply, next]))).toBe(text(format([first])))
      expect(text(format([next, reply, first]))).not.toBe(text(format([first])))
    }
  })

  it('differs with the tools, the system prompt and the first turn', () => {
    const plain = { system: 'a', tools: [{ name: 'x' }], messages: [first] }
    for (const change of [
      { system: 'b' },
      { tools: [{ name: 'y' }] },
      { messages: [{ ...first, content: `${long}!` }] },
    ])
      expect(text({ ...plain, ...change })).not.toBe(text(plain))
  })

  it('does not change when the mark of the cache moves on (litellm 6784)', () => {
    const marked = [{ type: 'text', text: first.content, cache_control: { type: 'ephemeral' } }]
    const one = { system: 'a', messages: [{ role: 'user', content: marked }] }
    const last = [{ type: 'text', text: next.content, cache_control: { type: 'ephemeral' } }]
    const two = { system: 'a', messages: [first, reply, { role: 'user', content: last }] }
    expect(text(two)).toBe(text(one))
  })

  it('does not change with the line for billing that Claude Code begins with (claude-code 68900)', () => {
    const claudeCode = (cch: string) => ({
      system: [
        { type: 'text', text: `x-anthropic-billing-header: cc_version=2.1.332.01c; cc_entrypoint=cli; cch=${cch};` },
        { type: 'text', text: 'You are Claude Code.' },
      ],
      messages: [first],
    })
    expect(text(claudeCode('36ee5'))).toBe(text(claudeCode('0aaa9')))
    expect(text(claudeCode('36ee5'))).toContain('YouareClaudeCode.')
  })

  it('is what the client names it', () => {
    expect(text({ prompt_cache_key: 'chat-1', messages: [first] })).toBe('key chat-1')
    expect(text({ prompt_cache_key: '', messages: [first] })).toBe(text({ messages: [first] }))
  })

  it('is nothing below what providers cache (litellm PR 33637)', () => {
    const body = (bytes: number) => {
      const empty = JSON.stringify({ messages: [{ role: 'user', content: '' }] }).length
      return Buffer.from(JSON.stringify({ messages: [{ role: 'user', content: 'x'.repeat(bytes - empty) }] }))
    }
    expect(readConversation(body(4095), null).start).toBeNull()
    expect(readConversation(body(4096), null).start).not.toBeNull()
  })

  it('is kept for as long as the longest mark asks (litellm 28427, PR 40776)', () => {
    const minutes = (body: object) => (read(body)?.ttlMs ?? 0) / 60_000
    const part = (ttl?: string) => ({ type: 'text', text: long, cache_control: { type: 'ephemeral', ttl } })
    expect(minutes({ messages: [first] })).toBe(5)
    expect(minutes({ system: [part('1h')], messages: [first] })).toBe(60)
    expect(minutes({ system: [part('5m')], messages: [{ role: 'user', content: [part('1h')] }] })).toBe(60)
    expect(minutes({ prompt_cache_retention: '24h', messages: [first] })).toBe(24 * 60)
    expect(minutes({ prompt_cache_retention: 'constructor', messages: [first] })).toBe(5)
    expect(minutes({ prompt_cache_options: { ttl: '30m' }, messages: [first] })).toBe(30)
    // What a text quotes is no mark.
    expect(minutes({ messages: [{ role: 'user', content: `{"ttl":"1h"} ${long}` }] })).toBe(5)
  })

  it('is read without a fault from a body of any form', () => {
    for (const body of ['', '[]', '{"messages":5}', '{"messages":[[]]}', '{"messages":[{"role":5}]}', 'nonsense'])
      expect(() => readConversation(Buffer.from(body.padEnd(5000)), null)).not.toThrow()
  })
})

describe('the last signature', () => {
  const signature = (letter: string) => letter.repeat(40)
  const last = (body: object) => lastSignature(Buffer.from(JSON.stringify(body)), ['signature'])

  it('is the last that stands there', () => {
    const block = (letter: string) => ({ type: 'thinking', thinking: 'hm', signature: signature(letter) })
    expect(last({ messages: [{ content: [block('a')] }, { content: [block('b')] }] })).toBe(signature('b'))
  })

  it('is no schema’s member, no text, and nothing short', () => {
    const tool = { name: 'sign', input_schema: { properties: { signature: { type: 'string' } } } }
    expect(last({ messages: [{ content: [{ signature: signature('a') }] }], tools: [tool] })).toBe(signature('a'))
    expect(last({ messages: [{ content: `{"signature":"${signature('a')}"}` }] })).toBeNull()
    expect(last({ signature: 'short' })).toBeNull()
    expect(last({ messages: [] })).toBeNull()
  })

  it('is looked for in no more than a few places', () => {
    const body = Buffer.from(`{"a":[${'"signature",'.repeat(200_000)}0]}`)
    const { bytes, work } = countedBytes(body)
    expect(lastSignature(bytes, ['signature'])).toBeNull()
    expect(stepsOf(work)).toBeLessThan(body.length)
  })
})
