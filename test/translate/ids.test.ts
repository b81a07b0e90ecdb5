import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatNames } from '../../src/core/format.ts'
import { answerId, callIdFor, clientToolName, mintId, toolNameFor } from '../../src/translate/ids.ts'
import { blankConversation } from '../support/translate/stage.ts'

const tool = (name: string) => ({
  path: 'tools[0]',
  kind: 'function' as const,
  name,
  description: null,
  schema: null,
  strict: null,
})

describe('ids of calls', () => {
  it('are accepted by every format, whatever the client had, and stay what they are the second time', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), fc.constantFrom(...formatNames), (id, format) => {
        const written = callIdFor(format, id)
        expect(written).toMatch(/^[\x21-\x7e]{1,64}$/)
        expect(callIdFor(format, written)).toBe(written)
        if (format === 'messages') expect(written).toMatch(/^[\w-]+$/)
      }),
    )
  })

  it('are different for different ids', () => {
    const ids = ['a b', 'a  b', 'é', `${'x'.repeat(70)}1`, `${'x'.repeat(70)}2`]
    expect(new Set(ids.map((id) => callIdFor('messages', id))).size).toBe(ids.length)
  })

  it('are minted from what they are an id of', () => {
    expect(mintId('toolu_', 'msg_1', 0)).toMatch(/^toolu_[a-z2-7]{24}$/)
    expect(mintId('toolu_', 'msg_1', 0)).toBe(mintId('toolu_', 'msg_1', 0))
    expect(mintId('toolu_', 'msg_1', 0)).not.toBe(mintId('toolu_', 'msg_1', 1))
  })
})

describe('ids of answers', () => {
  it('have the prefix of the client, and not that of the provider', () => {
    expect(answerId('chatcmpl-', 'msg_01ABCDEFGH', 'req')).toBe('chatcmpl-01ABCDEFGH')
    expect(answerId('msg_', '', 'req')).toMatch(/^msg_[a-z2-7]{24}$/)
    expect(answerId('msg_', 'has spaces in it', 'req')).toMatch(/^msg_[a-z2-7]{24}$/)
  })
})

describe('names of tools', () => {
  it('are looked through once for all calls of an answer', () => {
    let read = 0
    const tools = Array.from({ length: 500 }, (_, index) =>
      Object.defineProperty(tool(''), 'name', {
        get() {
          read++
          return `näme ${index}`
        },
      }),
    )
    const conversation = { ...blankConversation, tools }
    const written = toolNameFor('messages', 'näme 499')
    for (let call = 0; call < 100; call++) {
      expect(clientToolName(conversation, written)).toBe('näme 499')
      expect(clientToolName(conversation, 'none_abcdefgh')).toBe('none_abcdefgh')
    }
    expect(read).toBe(500)
  })

  it('are shortened where the provider takes fewer characters, and come back whole', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, maxLength: 200 }), (name) => {
        const written = toolNameFor('chat', name)
        expect(written).toMatch(/^[\w-]{1,64}$/)
        expect(clientToolName({ ...blankConversation, tools: [tool('other'), tool(name)] }, written)).toBe(name)
      }),
    )
  })

  it('stay what they are where the provider knows them', () => {
    const long = `mcp__server__${'x'.repeat(80)}`
    expect(toolNameFor('messages', long)).toBe(long)
    expect(toolNameFor('chat', 'read_abcdefgh')).toBe('read_abcdefgh')
    expect(clientToolName({ ...blankConversation, tools: [tool('read_abcdefgh')] }, 'read_abcdefgh')).toBe(
      'read_abcdefgh',
    )
    expect(clientToolName(blankConversation, 'made_up')).toBe('made_up')
  })
})
