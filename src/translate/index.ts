import type { FormatName } from '../core/format.ts'
import { chatCodec } from './chat/codec.ts'
import type { Codec } from './codec.ts'
import { generateCodec } from './generate/codec.ts'
import { messagesCodec } from './messages/codec.ts'
import { responsesCodec } from './responses/codec.ts'

export const codecs: Readonly<Record<FormatName, Codec>> = {
  chat: chatCodec,
  responses: responsesCodec,
  messages: messagesCodec,
  generate: generateCodec,
}
