import type { Endpoint } from '../../contract.ts'
import { json, makes, row } from '../../endpoint-row.ts'

/** `messages` keeps a conversation at the provider where the body has a `thread`. Source: wire/lanes.md, section 2.3. */
export const messages: readonly Endpoint[] = [
  row('messages', 'POST /v1/messages', { model: 'body', takes: json, stream: 'sse', object: makes('thread') }),
  row('count_tokens', 'POST /v1/messages/count_tokens', { model: 'body', takes: json }),
  // Deprecated, and gone from the newest SDK.
  row('complete', 'POST /v1/complete', { model: 'body', takes: json, stream: 'sse' }),
]
