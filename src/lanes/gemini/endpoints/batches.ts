import type { Endpoint } from '../../contract.ts'
import { forgets, lists, row, uses } from '../../endpoint-row.ts'

const operation = uses('operation')

/** Batches, and operations by whatever name they have: below a model, a store, or by themselves. Source: wire/lanes.md, section 3.3. */
export const batches: readonly Endpoint[] = [
  row('batches.list', 'GET /{version}/batches', { object: lists('batch'), brings: 'end' }),
  row('batches.get', 'GET /{version}/batches/{object}', { object: uses('batch'), brings: 'end' }),
  row('batches.delete', 'DELETE /{version}/batches/{object}', { object: forgets('batch') }),
  row('batches.cancel', 'POST /{version}/batches/{object}:cancel', { object: uses('batch') }),

  row('operations.get', 'GET /{version}/operations/{object}', { object: operation }),
  row('operations.get', 'GET /{version}/models/{name}/operations/{object}', { object: operation }),
  row('operations.get', 'GET /{version}/tunedModels/{name}/operations/{object}', { object: operation }),
  row('operations.get', 'GET /{version}/fileSearchStores/{name}/operations/{object}', { object: operation }),
  row('operations.get', 'GET /{version}/fileSearchStores/{name}/upload/operations/{object}', { object: operation }),
]
