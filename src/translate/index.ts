import type { FormatName } from '../core/format.ts'
import { chatCodec } from './chat/codec.ts'
import type { Codec } from './codec.ts'
import { messagesCodec } from './messages/codec.ts'

/** null: the format is not translated yet. */
export const codecs: Readonly<Record<FormatName, Codec | null>> = {
  chat: chatCodec,
  responses: null,
  messages: messagesCodec,
  generate: null,
}
