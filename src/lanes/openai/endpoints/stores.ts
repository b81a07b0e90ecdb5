import type { Endpoint } from '../../contract.ts'
import { creates, deletes, json, jsonOrMultipart, lists, multipart, uses } from '../../endpoint-row.ts'
import type { Matcher } from '../../endpoint-table.ts'
import { inspectJson } from '../inspection.ts'
import { rejectParts, rejectUnserved } from '../objects/batch-call.ts'
import { endedBatch, endedBatches } from '../objects/ended.ts'
import { row } from './row.ts'

const ended = { reportsUsage: 'end', endedWork: endedBatch } as const

/** Files, uploads and batches. A batch names one of the lane's endpoints, which `match` finds. Source: wire/lanes.md, section 1.3. */
export const files = (match: Matcher): readonly Endpoint[] => [
  row('files.create', 'POST /files', { requestForms: multipart, object: creates('file'), holdsBatchInput: true }),
  row('files.list', 'GET /files', { object: lists('file') }),
  row('files.get', 'GET /files/{object}', { object: uses('file') }),
  row('files.delete', 'DELETE /files/{object}', { object: deletes('file') }),
  row('files.content', 'GET /files/{object}/content', {
    responseForm: 'bytes',
    object: uses('file'),
    reportsUsage: 'results',
  }),

  row('uploads.create', 'POST /uploads', {
    requestForms: json,
    object: creates('upload'),
    inspect: inspectJson({ validate: rejectParts }),
  }),
  row('uploads.parts', 'POST /uploads/{object}/parts', { requestForms: multipart, object: uses('upload') }),
  row('uploads.complete', 'POST /uploads/{object}/complete', { requestForms: json, object: uses('upload') }),
  row('uploads.cancel', 'POST /uploads/{object}/cancel', { object: uses('upload') }),

  row('batches.create', 'POST /batches', {
    media: 'answer',
    requestForms: json,
    object: creates('batch'),
    inspect: inspectJson({ validate: rejectUnserved(match) }),
    batchAsks: (_inspection, _body, inputs) => inputs,
  }),
  row('batches.list', 'GET /batches', { object: lists('batch'), reportsUsage: 'end', endedWork: endedBatches }),
  row('batches.get', 'GET /batches/{object}', { object: uses('batch'), ...ended }),
  row('batches.cancel', 'POST /batches/{object}/cancel', { object: uses('batch'), ...ended }),
]

/**
 * Vector stores, containers and skills. What is inside one belongs to its owner. Source: wire/lanes.md, section 1.3.
 */
export const stores: readonly Endpoint[] = [
  row('vector_stores.create', 'POST /vector_stores', { requestForms: json, object: creates('vector_store') }),
  row('vector_stores.list', 'GET /vector_stores', { object: lists('vector_store') }),
  row('vector_stores.get', 'GET /vector_stores/{object}', { object: uses('vector_store') }),
  row('vector_stores.update', 'POST /vector_stores/{object}', { requestForms: json, object: uses('vector_store') }),
  row('vector_stores.delete', 'DELETE /vector_stores/{object}', { object: deletes('vector_store') }),
  row('vector_stores.search', 'POST /vector_stores/{object}/search', {
    requestForms: json,
    object: uses('vector_store'),
  }),
  ...inside('vector_stores.files', '/vector_stores/{object}/files', [
    ['create', 'POST', ''],
    ['list', 'GET', ''],
    ['get', 'GET', '/{file}'],
    ['update', 'POST', '/{file}'],
    ['delete', 'DELETE', '/{file}'],
    ['content', 'GET', '/{file}/content'],
  ]),
  ...inside('vector_stores.file_batches', '/vector_stores/{object}/file_batches', [
    ['create', 'POST', ''],
    ['get', 'GET', '/{batch}'],
    ['files', 'GET', '/{batch}/files'],
  ]),
  row('vector_stores.file_batches.cancel', 'POST /vector_stores/{object}/file_batches/{batch}/cancel', {
    object: uses('vector_store'),
  }),

  row('containers.create', 'POST /containers', { billed: true, requestForms: json, object: creates('container') }),
  row('containers.list', 'GET /containers', { object: lists('container') }),
  row('containers.get', 'GET /containers/{object}', { object: uses('container') }),
  row('containers.delete', 'DELETE /containers/{object}', { responseForm: 'nothing', object: deletes('container') }),
  row('containers.files.create', 'POST /containers/{object}/files', {
    requestForms: jsonOrMultipart,
    object: uses('container'),
    formObjects: { file_id: 'file' },
  }),
  row('containers.files.list', 'GET /containers/{object}/files', { object: uses('container') }),
  row('containers.files.get', 'GET /containers/{object}/files/{file}', { object: uses('container') }),
  row('containers.files.delete', 'DELETE /containers/{object}/files/{file}', {
    responseForm: 'nothing',
    object: uses('container'),
  }),
  row('containers.files.content', 'GET /containers/{object}/files/{file}/content', {
    responseForm: 'bytes',
    object: uses('container'),
  }),

  row('skills.create', 'POST /skills', { requestForms: jsonOrMultipart, object: creates('skill') }),
  row('skills.list', 'GET /skills', { object: lists('skill') }),
  row('skills.get', 'GET /skills/{object}', { object: uses('skill') }),
  row('skills.update', 'POST /skills/{object}', { requestForms: json, object: uses('skill') }),
  row('skills.delete', 'DELETE /skills/{object}', { object: deletes('skill') }),
  row('skills.content', 'GET /skills/{object}/content', { responseForm: 'bytes', object: uses('skill') }),
  row('skills.versions.create', 'POST /skills/{object}/versions', {
    requestForms: jsonOrMultipart,
    object: uses('skill'),
  }),
  row('skills.versions.list', 'GET /skills/{object}/versions', { object: uses('skill') }),
  row('skills.versions.get', 'GET /skills/{object}/versions/{release}', { object: uses('skill') }),
  row('skills.versions.delete', 'DELETE /skills/{object}/versions/{release}', { object: uses('skill') }),
  row('skills.versions.content', 'GET /skills/{object}/versions/{release}/content', {
    responseForm: 'bytes',
    object: uses('skill'),
  }),
]

type Inside = readonly [verb: string, method: 'GET' | 'POST' | 'DELETE', below: string]

/** Every POST below a vector store takes JSON. */
function inside(family: string, path: `/${string}`, calls: readonly Inside[]): Endpoint[] {
  return calls.map(([verb, method, below]) =>
    row(`${family}.${verb}`, `${method} ${path}${below}`, {
      requestForms: method === 'POST' ? json : [],
      object: uses('vector_store'),
    }),
  )
}
