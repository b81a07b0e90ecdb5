import type { Codec } from '../codec.ts'
import { readMessagesError, writeMessagesError } from './errors.ts'
import { messagesPausing } from './paused-answer.ts'
import { readMessagesReply } from './read-reply.ts'
import { readMessagesRequest } from './read-request.ts'
import { MessagesStreamReader } from './read-stream.ts'
import { writeMessagesReply } from './write-reply.ts'
import { writeMessagesRequest } from './write-request.ts'
import { MessagesStreamWriter } from './write-stream.ts'

export const messagesCodec: Codec = {
  format: 'messages',
  readRequest: readMessagesRequest,
  writeRequest: writeMessagesRequest,
  readReply: readMessagesReply,
  writeReply: writeMessagesReply,
  openReader: () => new MessagesStreamReader(),
  openWriter: (context) => new MessagesStreamWriter(context),
  readError: readMessagesError,
  writeError: writeMessagesError,
  pausing: messagesPausing,
}
