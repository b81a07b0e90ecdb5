import type { Endpoint } from '../../contract.ts'
import { forgets, json, lists, makes, row, uses } from '../../endpoint-row.ts'
import { uploadChunk } from './upload-chunk.ts'

const store = uses('file_search_store')
const documents = '/{version}/fileSearchStores/{object}/documents' as const

/** Stores to search files in; their documents and media belong to them. Source: wire/lanes.md, section 3.3. */
export const stores: readonly Endpoint[] = [
  row('stores.create', 'POST /{version}/fileSearchStores', { takes: json, object: makes('file_search_store') }),
  row('stores.list', 'GET /{version}/fileSearchStores', { object: lists('file_search_store') }),
  row('stores.get', 'GET /{version}/fileSearchStores/{object}', { object: store }),
  row('stores.update', 'PATCH /{version}/fileSearchStores/{object}', { takes: json, object: store }),
  row('stores.delete', 'DELETE /{version}/fileSearchStores/{object}', { object: forgets('file_search_store') }),
  row('stores.import', 'POST /{version}/fileSearchStores/{object}:importFile', { takes: json, object: store }),
  row('stores.upload', 'POST /upload/{version}/fileSearchStores/{object}:uploadToFileSearchStore', {
    takes: ['json', 'multipart', 'bytes'],
    object: store,
    resumedAs: uploadChunk,
  }),
  row('stores.documents.create', `POST ${documents}`, { takes: json, object: store }),
  row('stores.documents.list', `GET ${documents}`, { object: store }),
  row('stores.documents.get', `GET ${documents}/{document}`, { object: store }),
  row('stores.documents.update', `PATCH ${documents}/{document}`, { takes: json, object: store }),
  row('stores.documents.delete', `DELETE ${documents}/{document}`, { object: store }),
  row('stores.media', 'GET /{version}/fileSearchStores/{object}/media/{blob}', { gives: 'bytes', object: store }),
]
