import type { Codec } from '../codec.ts'
import { readChatError, writeChatError } from './errors.ts'
import { readChatReply } from './read-reply.ts'
import { readChatRequest } from './read-request.ts'
import { ChatStreamReader } from './read-stream.ts'
import { writeChatReply } from './write-reply.ts'
import { writeChatRequest } from './write-request.ts'
import { ChatStreamWriter } from './write-stream.ts'

export const chatCodec: Codec = {
  format: 'chat',
  readRequest: readChatRequest,
  writeRequest: writeChatRequest,
  readReply: readChatReply,
  writeReply: writeChatReply,
  openReader: () => new ChatStreamReader(),
  openWriter: (context) => new ChatStreamWriter(context),
  readError: readChatError,
  writeError: writeChatError,
}
