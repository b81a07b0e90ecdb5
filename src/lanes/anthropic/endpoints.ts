import type { AnswerReader, Endpoint, Inspection } from '../contract.ts'
import {
  creates,
  deletes,
  json,
  lists,
  makeRow,
  modelRows,
  multipart,
  notServed as notServedAt,
  type RowFacts,
  uses,
} from '../endpoint-row.ts'
import { inspectFormFields, usualFormFields } from '../form-request.ts'
import { type AnswerShape, WholeReader } from '../whole-reader.ts'
import { CompleteReader } from './complete-reader.ts'
import { endedBatch, endedBatches } from './ended.ts'
import { completeLimits, inspectBatch, inspectCall, inspectHead, inspectMessages, messageLimits } from './inspection.ts'
import { MessagesReader } from './messages-reader.ts'
import { createdMessage, createdObject, findReferences } from './objects.ts'

/** A row of this lane. */
function row(operation: string, call: Parameters<typeof makeRow>[1], facts: RowFacts = {}): Endpoint {
  const { model = 'none', stream = null, requestForms = [], object = null } = facts
  const hasJson = requestForms.includes('json')
  const usual = {
    inspect: hasJson ? inspectCall : inspectHead,
    formFields: usualFormFields(model, stream),
    inspectForm: inspectFormFields,
    reader: readWhole,
    ...(hasJson ? { references: findReferences } : {}),
    createdObjects: createdObject,
    answersHoldUrls: object?.type === 'batch',
  }
  return makeRow(operation, call, usual, facts)
}

function notServed(operation: string, path: `/${string}`, why: string): Endpoint[] {
  return notServedAt(row, operation, path, why)
}

/** Counting tokens uses no tokens: its `input_tokens` are the answer, not a cost. */
const shape: AnswerShape = { model: 'model', id: 'id', usage: 'usage', readUsage: () => null }

function readWhole(): AnswerReader {
  return new WholeReader(shape)
}

function readMessages({ framing }: Inspection): AnswerReader {
  return new MessagesReader(framing)
}

function readComplete({ framing }: Inspection): AnswerReader {
  return new CompleteReader(framing)
}

const batch = uses('batch')

const skill = uses('skill')

const account =
  "administration of the provider's account belongs to its operator and is not offered through a gateway key"
const agents = "the provider's hosted agents act with the account's own vaults and environments, which no project owns"
const profiles =
  "user profiles belong to the account, and their links lead to the provider's pages, bypassing the gateway"

/** Source: wire/lanes.md, section 2.3. The SDKs append their own `/v1` to the lane's prefix. */
export const endpoints: readonly Endpoint[] = [
  // `messages` keeps a conversation at the provider where the body has a `thread`.
  row('messages', 'POST /v1/messages', {
    format: 'messages',
    model: 'body',
    requestForms: json,
    stream: 'sse',
    object: creates('thread'),
    outputLimits: messageLimits,
    signedReasoning: { hint: 'thinking', names: ['signature'] },
    inspect: inspectMessages,
    reader: readMessages,
    createdObjects: createdMessage,
  }),
  row('count_tokens', 'POST /v1/messages/count_tokens', {
    counts: 'messages',
    model: 'body',
    requestForms: json,
    usesTokens: false,
  }),
  // Deprecated, and removed from the newest SDK.
  row('complete', 'POST /v1/complete', {
    model: 'body',
    requestForms: json,
    stream: 'sse',
    outputLimits: completeLimits,
    reader: readComplete,
  }),

  // The SDKs find the results by `results_url`, which is rewritten to lead here (wire/lanes.md, section 2.5).
  row('batches.create', 'POST /v1/messages/batches', {
    billed: false,
    media: 'answer',
    model: 'body-optional',
    requestForms: json,
    object: creates('batch'),
    inspect: inspectBatch,
    batchAsks: ({ asks = [] }) => asks,
  }),
  row('batches.list', 'GET /v1/messages/batches', {
    object: lists('batch'),
    reportsUsage: 'end',
    endedWork: endedBatches,
  }),
  row('batches.get', 'GET /v1/messages/batches/{object}', {
    object: batch,
    reportsUsage: 'end',
    endedWork: endedBatch,
  }),
  row('batches.delete', 'DELETE /v1/messages/batches/{object}', { object: deletes('batch') }),
  row('batches.cancel', 'POST /v1/messages/batches/{object}/cancel', {
    object: batch,
    reportsUsage: 'end',
    endedWork: endedBatch,
  }),
  row('batches.results', 'GET /v1/messages/batches/{object}/results', {
    responseForm: 'lines',
    object: batch,
    reportsUsage: 'results',
  }),

  // Files and skills; a version belongs to its skill.
  row('files.create', 'POST /v1/files', { requestForms: multipart, object: creates('file') }),
  row('files.list', 'GET /v1/files', { object: lists('file') }),
  row('files.get', 'GET /v1/files/{object}', { object: uses('file') }),
  row('files.delete', 'DELETE /v1/files/{object}', { object: deletes('file') }),
  row('files.content', 'GET /v1/files/{object}/content', { responseForm: 'bytes', object: uses('file') }),

  row('skills.create', 'POST /v1/skills', { requestForms: multipart, object: creates('skill') }),
  row('skills.list', 'GET /v1/skills', { object: lists('skill') }),
  row('skills.get', 'GET /v1/skills/{object}', { object: skill }),
  row('skills.delete', 'DELETE /v1/skills/{object}', { object: deletes('skill') }),
  row('skills.versions.create', 'POST /v1/skills/{object}/versions', { requestForms: multipart, object: skill }),
  row('skills.versions.list', 'GET /v1/skills/{object}/versions', { object: skill }),
  row('skills.versions.get', 'GET /v1/skills/{object}/versions/{release}', { object: skill }),
  row('skills.versions.delete', 'DELETE /v1/skills/{object}/versions/{release}', { object: skill }),
  row('skills.versions.content', 'GET /v1/skills/{object}/versions/{release}/content', {
    responseForm: 'bytes',
    object: skill,
  }),

  ...modelRows(row, '/v1/models', '/v1/models/{model}'),

  ...notServed('organizations', '/v1/organizations', account),
  ...notServed('tunnels', '/v1/tunnels', account),
  ...notServed('user_profiles', '/v1/user_profiles', profiles),
  ...notServed('agents', '/v1/agents', agents),
  ...notServed('sessions', '/v1/sessions', agents),
  ...notServed('environments', '/v1/environments', agents),
  ...notServed('deployments', '/v1/deployments', agents),
  ...notServed('deployments', '/v1/deployment_runs', agents),
  ...notServed('vaults', '/v1/vaults', agents),
  ...notServed('memory_stores', '/v1/memory_stores', agents),
  ...notServed('dreams', '/v1/dreams', agents),
]

/**
 * The forms of names in paths. This provider's ids are plain words. No id can lead out of its segment, whoever decodes
 * the path.
 */
export const pathForms = { model: '.+', version: '', object: '[A-Za-z0-9_-]+' }

/** People set a base URL that contains the version, or none: `/v1/v1/messages` and `/messages` mean `/v1/messages`. */
export function canonicalPath(path: string): string {
  if (path.startsWith('/v1/v1/')) return path.slice(3)
  return path.startsWith('/v1/') ? path : `/v1${path}`
}
