import { fault } from '../../src/core/errors.ts'
import { asText, type JsonObject } from '../../src/core/json/json-value.ts'
import type { Codec } from '../../src/translate/codec.ts'
import { blankSettings } from '../../src/translate/conversation.ts'
import { readOpenAiError } from '../../src/translate/openai-errors.ts'
import type { ReplyError, ReplyEvent } from '../../src/translate/reply.ts'

/**
 * A format that nobody has, as small as can be: `{model, say}` is answered with `{id, model, said}`, and streamed as lines of
 * `{said}`. What adding a format takes is tried with it.
 */
export const plainCodec: Omit<Codec, 'format'> & { format: string } = {
  format: 'plain',
  readRequest(body, { streamed }) {
    const text = asText(body.say)
    if (text === null) return fault('invalid_request', 'say must be a text.', { param: 'say' })
    return {
      turns: [{ role: 'user', path: 'say', parts: [{ kind: 'text', text, path: 'say' }] }],
      tools: [],
      toolChoice: null,
      parallelCalls: null,
      settings: { ...blankSettings, streamed: streamed || body.stream === true },
      seen: [],
    }
  },
  writeRequest({ turns }, { model, streamed }) {
    const texts = turns.flatMap(({ parts }) => parts.flatMap((part) => (part.kind === 'text' ? [part.text] : [])))
    return { model, say: texts.join('\n'), ...(streamed && { stream: true }) }
  },
  readReply({ id, model, said }) {
    return {
      id: asText(id) ?? '',
      model: asText(model) ?? '',
      parts: [{ kind: 'text', text: asText(said) ?? '', path: 'said' }],
      stop,
      created: null,
      dropped: [],
    }
  },
  writeReply({ id, model, parts }) {
    return { id, model, said: parts.map((part) => (part.kind === 'text' ? part.text : '')).join('') }
  },
  openReader: () => ({
    event: (_name, { said }) => [{ kind: 'text', part: 0, text: asText(said) ?? '' }],
    end: () => [{ kind: 'stop', stop }],
  }),
  openWriter: () => ({
    events: (events) => events.map(writeEvent).join(''),
    end: () => 'data: [DONE]\n\n',
    error: (error) => line(writeError(error).body),
  }),
  readError: readOpenAiError,
  writeError,
}

const stop = { reason: 'done', sequence: null, explanation: null } as const

function writeEvent(event: ReplyEvent): string {
  return event.kind === 'text' ? line({ said: event.text }) : ''
}

function writeError({ status, message }: ReplyError) {
  return { status, body: { error: { message } } }
}

function line(value: JsonObject): string {
  return `data: ${JSON.stringify(value)}\n\n`
}
