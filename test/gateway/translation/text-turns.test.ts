import { describe, expect, it } from 'vitest'
import { attachToTexts, TextTurns } from '../../../src/gateway/translation/text-turns.ts'
import type { TurnReasoning } from '../../../src/gateway/translation/vault.ts'
import { chatCodec } from '../../../src/translate/chat/codec.ts'
import type { Carriers } from '../../../src/translate/codec.ts'
import type { Conversation } from '../../../src/translate/conversation.ts'
import { type JsonDocument, readDocument, writeDocument } from '../../../src/translate/json.ts'
import { Ledger } from '../../../src/translate/ledger.ts'
import { messagesCodec } from '../../../src/translate/messages/codec.ts'

interface Message {
  role: string
  content: string
}

const carriers: Carriers = { seal: () => null, open: () => null }
const kept: TurnReasoning = {
  before: [{ text: 'hm', opaque: { family: 'anthropic', form: 'signature', value: 'sig' }, first: true }],
  own: null,
}

/** A question and its answer, so often; then a question. */
function chat(rounds: number): Message[] {
  const pairs = Array.from({ length: rounds }, (_, round) => [
    { role: 'user', content: `question ${round}` },
    { role: 'assistant', content: `answer "${round}"` },
  ])
  return [{ role: 'system', content: 'Be brief.' }, ...pairs.flat(), { role: 'user', content: `question ${rounds}` }]
}

function read(messages: Message[], more: object = {}) {
  const bytes = Buffer.from(JSON.stringify({ model: 'm', messages, ...more }))
  const document = readDocument(bytes, 'chat')
  if ('code' in document) throw new Error(document.message)
  const conversation = chatCodec.readRequest(document.value, { streamed: false, carriers })
  if ('code' in conversation) throw new Error(conversation.message)
  return { bytes, document, conversation }
}

const namesOf = (messages: Message[], more?: object, environmentId = 'env') => {
  const { bytes, conversation } = read(messages, more)
  return new TextTurns(bytes, 'chat', environmentId).nameTurns(conversation)
}
const nameOfAnswer = (messages: Message[], text: string, environmentId = 'env') =>
  new TextTurns(read(messages).bytes, 'chat', environmentId).nameAnswer(text)

describe('the name of a turn of text', () => {
  it.each([1, 2, 8, 49])('is the same when it is answered and in the next request, after %i turns', (rounds) => {
    const name = nameOfAnswer(chat(rounds - 1), `answer "${rounds - 1}"`)
    const later = namesOf(chat(rounds))
    expect(later.length).toBe(rounds)
    expect(later.at(-1)).toEqual({ index: 2 * rounds, name })
    // White space around a text is what clients change.
    expect(nameOfAnswer(chat(rounds - 1), ` answer "${rounds - 1}"\n`)).toBe(name)
  })

  it('says all that stood before it, and where', () => {
    const name = nameOfAnswer(chat(1), 'yes')
    const [, ...others] = chat(1)
    expect(nameOfAnswer([{ role: 'system', content: 'Be long.' }, ...others], 'yes')).not.toBe(name)
    expect(nameOfAnswer(chat(1), 'no')).not.toBe(name)
    expect(nameOfAnswer(chat(1), 'yes', 'other')).not.toBe(name)
  })

  it('is made of the last ones, and their first one moves in steps', () => {
    const counts = [99, 100, 149, 150].map((rounds) => namesOf(chat(rounds)))
    expect(counts.map((names) => [names.length, names[0]?.index])).toEqual([
      [99, 2],
      [50, 102],
      [99, 102],
      [50, 202],
    ])
  })

  it('is not looked for in a body that is scanned in slices', () => {
    const large = { role: 'user', content: 'x'.repeat(4 * 1024 * 1024) }
    expect(namesOf([large, { role: 'assistant', content: 'a' }, { role: 'user', content: 'b' }])).toEqual([])
  })
})

describe('what was kept of texts', () => {
  const written = ({
    conversation,
    document,
  }: {
    conversation: Conversation
    document: Pick<JsonDocument, 'pieces'>
  }) => {
    const ledger = new Ledger('chat', 'messages', false)
    const target = {
      ...{ format: 'messages' as const, model: 'claude-opus-4-6', streamed: false, maxOutput: 1000, outputCap: null },
      ...{ compatible: false, logprobs: true, streamOptions: true },
    }
    const body = messagesCodec.writeRequest(conversation, target, ledger)
    if ('code' in body) throw new Error('refused')
    return JSON.parse(writeDocument(body as Record<string, unknown>, document.pieces).toString())
  }

  it.each([[[2]], [[8]], [[20]], [[2, 8, 10, 20]], [[4, 6]], [[10, 12, 14, 16, 18]]])(
    'stands before the texts at %j, and nothing else changes',
    (places) => {
      const { conversation, document } = read(chat(10))
      // A long chat lies as bytes.
      expect(conversation.turns.some(({ plain }) => plain !== undefined)).toBe(true)
      const found = new Map(places.map((index) => [index, kept]))
      const attached = attachToTexts(conversation, found, document.pieces)
      const plain = written({ conversation, document })
      const { messages, ...rest } = written({
        conversation: attached.conversation,
        document: { pieces: attached.pieces },
      })
      const thinking = { type: 'thinking', thinking: 'hm', signature: 'sig' }
      const expected = plain.messages.map((message: { content: object[] }, index: number) =>
        places.includes(index + 1) ? { ...message, content: [thinking, ...message.content] } : message,
      )
      expect({ ...rest, messages }).toEqual({ ...plain, messages: expected })
    },
  )
})
