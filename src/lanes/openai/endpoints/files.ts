import type { Endpoint } from '../../contract.ts'
import { forgets, json, lists, makes, multipart, row, uses } from '../../endpoint-row.ts'

/** Files, uploads and batches. Source: wire/lanes.md, section 1.3. */
export const files: readonly Endpoint[] = [
  row('files.create', 'POST /files', { takes: multipart, object: makes('file'), carries: 'input' }),
  row('files.list', 'GET /files', { object: lists('file') }),
  row('files.get', 'GET /files/{object}', { object: uses('file') }),
  row('files.delete', 'DELETE /files/{object}', { object: forgets('file') }),
  row('files.content', 'GET /files/{object}/content', { gives: 'bytes', object: uses('file'), brings: 'results' }),

  row('uploads.create', 'POST /uploads', { takes: json, object: makes('upload') }),
  row('uploads.parts', 'POST /uploads/{object}/parts', { takes: multipart, object: uses('upload') }),
  row('uploads.complete', 'POST /uploads/{object}/complete', { takes: json, object: uses('upload') }),
  row('uploads.cancel', 'POST /uploads/{object}/cancel', { object: uses('upload') }),

  row('batches.create', 'POST /batches', { takes: json, object: makes('batch') }),
  row('batches.list', 'GET /batches', { object: lists('batch') }),
  row('batches.get', 'GET /batches/{object}', { object: uses('batch') }),
  row('batches.cancel', 'POST /batches/{object}/cancel', { object: uses('batch') }),
]
