import type { FormatName } from '../../../src/core/format.ts'
import { checkChatStream } from './chat-grammar.ts'
import { checkGenerateStream } from './generate-grammar.ts'
import { checkMessagesStream } from './messages-grammar.ts'
import { checkResponsesStream } from './responses-grammar.ts'
import { readSse, type SentEvent } from './sse.ts'

/** Reads a stream to its end, and says what a strict client would not accept. */
export type StreamCheck = (events: readonly SentEvent[]) => string[]

const checks: Readonly<Record<FormatName, StreamCheck>> = {
  chat: checkChatStream,
  responses: checkResponsesStream,
  messages: checkMessagesStream,
  generate: checkGenerateStream,
}

/** What is wrong with a whole stream to a client, in words: nothing where it is as the format says. */
export function checkStream(format: FormatName, stream: string): string[] {
  const unclosed = stream === '' || /\n\r?\n$/.test(stream) ? [] : ['the last event is not closed by a blank line']
  return [...unclosed, ...checks[format](readSse(stream))]
}
