import type { Endpoint } from '../../contract.ts'
import { forgets, json, makes, row, uses } from '../../endpoint-row.ts'

/**
 * Responses and conversations. The `?beta=true` variants are the same paths. A stored response is replayed as a stream when its
 * query says `stream=true`. Source: wire/lanes.md, section 1.3.
 */
export const responses: readonly Endpoint[] = [
  row('responses', 'POST /responses', { model: 'body', takes: json, stream: 'sse', object: makes('response') }),
  row('responses.compact', 'POST /responses/compact', { model: 'body', takes: json }),
  row('responses.input_tokens', 'POST /responses/input_tokens', { model: 'body-optional', takes: json }),
  row('responses.get', 'GET /responses/{object}', { stream: 'sse', object: uses('response'), brings: 'end' }),
  row('responses.delete', 'DELETE /responses/{object}', { gives: 'nothing', object: forgets('response') }),
  row('responses.cancel', 'POST /responses/{object}/cancel', { object: uses('response'), brings: 'end' }),
  row('responses.input_items', 'GET /responses/{object}/input_items', { object: uses('response') }),

  row('conversations.create', 'POST /conversations', { takes: json, object: makes('conversation') }),
  row('conversations.get', 'GET /conversations/{object}', { object: uses('conversation') }),
  row('conversations.update', 'POST /conversations/{object}', { takes: json, object: uses('conversation') }),
  row('conversations.delete', 'DELETE /conversations/{object}', { object: forgets('conversation') }),
  row('conversations.items.create', 'POST /conversations/{object}/items', {
    takes: json,
    object: uses('conversation'),
  }),
  row('conversations.items.list', 'GET /conversations/{object}/items', { object: uses('conversation') }),
  row('conversations.items.get', 'GET /conversations/{object}/items/{item}', { object: uses('conversation') }),
  row('conversations.items.delete', 'DELETE /conversations/{object}/items/{item}', { object: uses('conversation') }),
]
