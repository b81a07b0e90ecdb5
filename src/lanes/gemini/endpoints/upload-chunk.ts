import type { Endpoint } from '../../contract.ts'
import { makes, row } from '../../endpoint-row.ts'

/** Bytes for an upload that has begun, whatever their type says; the last of them make the file. Source: wire/lanes.md, section 3.4. */
export const uploadChunk: Endpoint = row('files.upload', 'POST /upload/{version}/files', {
  takes: ['bytes'],
  object: makes('file'),
  carries: 'input',
})
