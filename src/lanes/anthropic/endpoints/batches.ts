import type { Endpoint } from '../../contract.ts'
import { forgets, json, lists, makes, row, uses } from '../../endpoint-row.ts'

const batch = uses('batch')

/** The SDKs find the results by `results_url`, which leads back here. Source: wire/lanes.md, sections 2.3 and 2.5. */
export const batches: readonly Endpoint[] = [
  row('batches.create', 'POST /v1/messages/batches', { model: 'body-optional', takes: json, object: makes('batch') }),
  row('batches.list', 'GET /v1/messages/batches', { object: lists('batch') }),
  row('batches.get', 'GET /v1/messages/batches/{object}', { object: batch }),
  row('batches.delete', 'DELETE /v1/messages/batches/{object}', { object: forgets('batch') }),
  row('batches.cancel', 'POST /v1/messages/batches/{object}/cancel', { object: batch }),
  row('batches.results', 'GET /v1/messages/batches/{object}/results', {
    gives: 'lines',
    object: batch,
    brings: 'results',
  }),
]
