import { EventStreamCodec } from '@smithy/eventstream-codec'
import type { MessageDecoder } from './event-stream.ts'

/** Loaded with the first streamed call. */
export const decoder: MessageDecoder = new EventStreamCodec(
  (bytes) => (typeof bytes === 'string' ? bytes : Buffer.from(bytes).toString('utf8')),
  (text) => Buffer.from(text, 'utf8'),
)
