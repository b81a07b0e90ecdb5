import { describe, expect, it } from 'vitest'
import type { FormatName } from '../../src/core/format.ts'
import { asArray, asObject, type JsonObject } from '../../src/core/json/json-value.ts'
import { block, chatChunk, messageEvents } from '../support/translate/chunks.ts'
import { blankConversation, translateEvents, translateReply, writeContext } from '../support/translate/stage.ts'

const formats = ['chat', 'responses', 'messages', 'generate'] as const

/** A whole answer that was served by a tier. */
const answers: Readonly<Record<FormatName, (tier: string | null) => JsonObject>> = {
  chat: (service_tier) => ({
    choices: [{ message: { content: 'a' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 1, completion_tokens: 1 },
    service_tier,
  }),
  responses: (service_tier) => ({
    status: 'completed',
    output: [{ type: 'message', content: [{ type: 'output_text', text: 'a' }] }],
    usage: { input_tokens: 1, output_tokens: 1 },
    service_tier,
  }),
  messages: (service_tier) => ({
    content: [{ type: 'text', text: 'a' }],
    stop_reason: 'end_turn',
    usage: { input_tokens: 1, output_tokens: 1, service_tier },
  }),
  generate: (serviceTier) => ({
    candidates: [{ content: { parts: [{ text: 'a' }] }, finishReason: 'STOP' }],
    usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, ...(serviceTier !== null && { serviceTier }) },
  }),
}

function tierOf(format: FormatName, answer: JsonObject): unknown {
  if (format === 'messages') return asObject(answer.usage)?.service_tier
  return format === 'generate' ? asObject(answer.usageMetadata)?.serviceTier : answer.service_tier
}

const of = (from: FormatName, to: FormatName, tier: string | null): unknown => {
  const written = translateReply(from, to, JSON.stringify(answers[to](tier)), writeContext())
  if (typeof written !== 'string') throw new Error(written.message)
  return tierOf(from, JSON.parse(written))
}

describe("an answer's service tier is the provider's own", () => {
  it.each(formats.flatMap((from) => formats.filter((to) => to !== from).map((to) => [from, to] as const)))(
    'for %s from %s',
    (from, to) => {
      const usual = (format: FormatName) => (format === 'chat' || format === 'responses' ? 'default' : 'standard')
      expect(of(from, to, usual(to))).toBe(usual(from))
      expect(of(from, to, 'priority')).toBe('priority')
      expect(of(from, to, 'flex')).toBe(from === 'messages' ? null : 'flex')
      // What nobody has said is not made up.
      expect(of(from, to, null) ?? null).toBe(null)
    },
  )

  it('streamed, with what ends the answer', () => {
    const usage = { input_tokens: 1, output_tokens: 1, service_tier: 'priority' }
    const streamed = messageEvents(block(0, { type: 'text', text: 'a' }), 'end_turn', usage)
    const settings = { ...blankConversation.settings, streamUsage: true }
    const context = writeContext({ conversation: { ...blankConversation, settings } })
    const chunks = translateEvents('chat', 'messages', streamed, context).join('').trim().split('\n\n')
    const read = chunks.slice(0, -1).map((chunk): JsonObject => JSON.parse(chunk.slice('data: '.length)))
    const ends = read.filter(({ choices, usage }) => asObject(asArray(choices)[0])?.finish_reason != null || usage)
    expect(ends.map(({ service_tier }) => service_tier)).toEqual(['priority', 'priority'])
    const last = translateEvents('responses', 'chat', [chatChunk({ content: 'a' }, 'stop')], writeContext()).join('')
    expect(last).not.toContain('"service_tier":"')
  })
})
