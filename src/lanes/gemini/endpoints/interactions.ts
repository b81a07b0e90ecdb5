import type { Endpoint } from '../../contract.ts'
import { forgets, json, makes, row, uses } from '../../endpoint-row.ts'

/** One that is stored is read again, also as a stream from any of its events on. Source: wire/lanes.md, section 3.3. */
export const interactions: readonly Endpoint[] = [
  row('interactions', 'POST /{version}/interactions', {
    model: 'body-optional',
    takes: json,
    stream: 'sse',
    object: makes('interaction'),
  }),
  row('interactions.get', 'GET /{version}/interactions/{object}', {
    stream: 'sse',
    object: uses('interaction'),
    brings: 'end',
  }),
  row('interactions.delete', 'DELETE /{version}/interactions/{object}', { object: forgets('interaction') }),
  row('interactions.cancel', 'POST /{version}/interactions/{object}/cancel', {
    object: uses('interaction'),
    brings: 'end',
  }),
]
