import type { Endpoint } from '../../contract.ts'
import { forgets, json, lists, makes, row, uses } from '../../endpoint-row.ts'

/** Chat, stored chat completions, and what else answers from a model at once. Source: wire/lanes.md, section 1.3. */
export const generation: readonly Endpoint[] = [
  row('chat', 'POST /chat/completions', {
    model: 'body',
    takes: json,
    stream: 'sse',
    object: makes('chat_completion'),
  }),
  row('chat.list', 'GET /chat/completions', { object: lists('chat_completion') }),
  row('chat.get', 'GET /chat/completions/{object}', { object: uses('chat_completion') }),
  row('chat.update', 'POST /chat/completions/{object}', { takes: json, object: uses('chat_completion') }),
  row('chat.delete', 'DELETE /chat/completions/{object}', { object: forgets('chat_completion') }),
  row('chat.messages', 'GET /chat/completions/{object}/messages', { object: uses('chat_completion') }),
  row('completions', 'POST /completions', { model: 'body', takes: json, stream: 'sse' }),
  row('embeddings', 'POST /embeddings', { model: 'body', takes: json }),
  row('moderations', 'POST /moderations', { model: 'body-optional', takes: json }),
  row('decisions', 'POST /decisions', { model: 'body', takes: json }),
]
