import { describe, expect, it } from 'vitest'
import { type FormatName, formatNames } from '../../src/core/format.ts'
import { codecs } from '../../src/translate/index.ts'
import { writeFor } from '../../src/translate/write-for.ts'
import { blankConversation } from '../support/translate/stage.ts'

const user = { role: 'user' as const, path: 'messages[0]', parts: [{ kind: 'text' as const, text: 'hi', path: '' }] }

/** The limit of the answer that a provider of this format gets. */
function limitAt(to: FormatName, maxOutput: number | null, outputCap: number | null): unknown {
  const conversation = {
    ...blankConversation,
    turns: [user],
    settings: { ...blankConversation.settings, maxOutput },
  }
  const target = {
    ...{ format: to, model: to === 'messages' ? 'claude-opus-4-6' : 'a-model', streamed: false, maxOutput: 100_000 },
    ...{ outputCap, compatible: false, logprobs: true, streamOptions: true },
  }
  const written = writeFor(conversation, to === 'chat' ? 'messages' : 'chat', codecs[to], {
    ...{ target, providerId: 'prv_1', strict: false },
  })
  if ('code' in written) throw new Error(written.message)
  const text = JSON.stringify(written.body)
  return Number(/"(?:max_tokens|max_completion_tokens|max_output_tokens|maxOutputTokens)":(\d+)/.exec(text)?.[1] ?? -1)
}

describe.each(formatNames)('the most tokens that a policy allows, at a provider of %s', (to) => {
  it('lowers what the client asks for, and limits who asks for nothing', () => {
    expect([limitAt(to, 64_000, 1000), limitAt(to, null, 1000)]).toEqual([1000, 1000])
  })

  it('raises no limit', () => {
    expect(limitAt(to, 50, 1000)).toBe(50)
  })
})
