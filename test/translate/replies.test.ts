import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatNames } from '../../src/core/format.ts'
import { type JsonObject, parseObject } from '../../src/core/json/json-value.ts'
import { blankSettings, type Conversation } from '../../src/translate/conversation.ts'
import { writeDocument } from '../../src/translate/json.ts'
import type { ModelReply, ReplyEvent, StopReason } from '../../src/translate/reply.ts'
import { replyEvents } from '../../src/translate/reply-events.ts'
import { checkStream } from '../support/translate/grammar.ts'
import { readSse } from '../support/translate/sse.ts'
import { blankConversation, codecOf, isFault, writeContext } from '../support/translate/stage.ts'

const said = fc.string({ minLength: 1, unit: 'binary' })
const parts: fc.Arbitrary<ModelReply['parts'][number]> = fc.oneof(
  fc.record({ kind: fc.constant('text' as const), path: fc.constant(''), text: said }),
  fc.record({ kind: fc.constant('reasoning' as const), path: fc.constant(''), text: said }),
  fc.record({
    kind: fc.constant('call' as const),
    path: fc.constant(''),
    id: fc.oneof(fc.constant(null), fc.uuid()),
    name: fc.constantFrom('read', 'write'),
    arguments: fc
      .dictionary(fc.string(), fc.jsonValue({ maxDepth: 1 }), { maxKeys: 2 })
      .map((value) => JSON.stringify(value)),
    custom: fc.constant(false),
  }),
)
const reasons: StopReason[] = ['done', 'length', 'filtered']
const replies: fc.Arbitrary<ModelReply> = fc.record({
  id: fc.constantFrom('', 'resp_abcdefgh1234', 'r/1'),
  model: fc.constant('m'),
  parts: fc.array(parts, { maxLength: 5 }),
  stop: fc.constantFrom(...reasons).map((reason) => ({ reason, sequence: null, explanation: null })),
  created: fc.constant(null),
  dropped: fc.constant([]),
})

const conversation: Conversation = {
  ...blankConversation,
  settings: {
    ...blankSettings,
    reasoning: { path: 'reasoning', effort: null, budget: null, visible: true, encrypted: false },
  },
}
const usage = {
  tokens: { input: 9, output: 5, cache_read: 0, cache_write: 0, reasoning: 0, source: 'reported' as const },
  detail: null,
}
const context = writeContext({ conversation, usage: () => usage })

/** What a reader must get out of an answer, whatever the parts were cut into. */
interface Said {
  text: string
  reasoning: string
  calls: (readonly [name: string, args: unknown])[]
  reason: StopReason
}

function saidBy(events: readonly ReplyEvent[]): Said {
  const found: Said = { text: '', reasoning: '', calls: [], reason: 'done' }
  const calls = new Map<number, { name: string; text: string }>()
  for (const event of events) {
    if (event.kind === 'text') found.text += event.text
    else if (event.kind === 'reasoning') found.reasoning += event.text
    else if (event.kind === 'call') calls.set(event.part, { name: event.name, text: '' })
    else if (event.kind === 'arguments') {
      const call = calls.get(event.part)
      if (call !== undefined) call.text += event.text
    } else if (event.kind === 'stop') found.reason = event.stop.reason
  }
  // Anthropic has one reason for both.
  if (found.reason === 'filtered') found.reason = 'refused'
  // The end of an answer with calls is theirs.
  if (calls.size > 0 && found.reason === 'done') found.reason = 'calls'
  found.calls = [...calls.values()].map(({ name, text }) => [name, JSON.parse(text)])
  return found
}

/** Cuts each text into pieces, and mixes nothing: that is another test's. */
function cut(events: Iterable<ReplyEvent>, size: number): ReplyEvent[] {
  return [...events].flatMap((event): ReplyEvent[] => {
    if (event.kind !== 'text' && event.kind !== 'arguments' && event.kind !== 'reasoning') return [event]
    return event.text.match(new RegExp(`[\\s\\S]{1,${size}}`, 'g'))?.map((text) => ({ ...event, text })) ?? []
  })
}

function readBack(format: (typeof formatNames)[number], body: JsonObject): ReplyEvent[] {
  const read = codecOf(format).readReply(body)
  if (isFault(read)) throw new Error(read.message)
  return [...replyEvents(read)]
}

describe.each(formatNames)('answers in the format %s', (format) => {
  // Anthropic's clients get no blocks of white space.
  const isBlank = ({ kind, text }: { kind: string; text?: string }) =>
    format === 'messages' && kind === 'text' && text?.trim() === ''
  const told = (reply: ModelReply) =>
    saidBy([...replyEvents({ ...reply, parts: reply.parts.filter((part) => !isBlank(part)) })])

  it('say the same when they are read back, whole', () => {
    fc.assert(
      fc.property(replies, (reply) => {
        const body = parseObject(writeDocument(codecOf(format).writeReply(reply, context)))
        expect(saidBy(readBack(format, body ?? {}))).toEqual(told(reply))
      }),
    )
  })

  it('say the same when they are read back, streamed in pieces, and are valid', () => {
    fc.assert(
      fc.property(replies, fc.integer({ min: 1, max: 9 }), (reply, size) => {
        const writer = codecOf(format).openWriter(context)
        const pieces = cut(replyEvents(reply), size).map((event) => writer.events([event]))
        const stream = `${pieces.join('')}${writer.end()}`
        expect(checkStream(format, stream)).toEqual([])
        const reader = codecOf(format).openReader()
        const events = readSse(stream).flatMap(({ name, data }) => (data === null ? [] : reader.event(name, data)))
        expect(saidBy([...events, ...reader.end()])).toEqual(told(reply))
      }),
    )
  })
})
