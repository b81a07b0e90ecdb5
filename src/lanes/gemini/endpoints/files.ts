import type { Endpoint } from '../../contract.ts'
import { forgets, lists, makes, row, uses } from '../../endpoint-row.ts'
import { uploadChunk } from './upload-chunk.ts'

const content = { gives: 'bytes', object: uses('file'), brings: 'results' } as const

/**
 * Files come up in several ways at one path: `start` of a resumable upload and mere metadata as JSON, bytes and multipart in
 * one call. Source: wire/lanes.md, sections 3.3 and 3.4.
 */
export const files: readonly Endpoint[] = [
  row('files.create', 'POST /upload/{version}/files', {
    takes: ['json', 'multipart', 'bytes'],
    object: makes('file'),
    carries: 'input',
    resumedAs: uploadChunk,
  }),
  row('files.list', 'GET /{version}/files', { object: lists('file') }),
  row('files.content', 'GET /{version}/files/{object}:download', content),
  row('files.content', 'GET /download/{version}/files/{object}:download', content),
  row('files.get', 'GET /{version}/files/{object}', { object: uses('file') }),
  row('files.delete', 'DELETE /{version}/files/{object}', { object: forgets('file') }),
]
