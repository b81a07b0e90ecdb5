import type { ObjectType } from '../../core/stored-object.ts'
import type { AnswerReader, Endpoint, Inspection, Match } from '../contract.ts'
import {
  forgets,
  json,
  lists,
  makeRow,
  makes,
  modelRows,
  type RowFacts,
  refuse as refuseAt,
  uses,
} from '../endpoint-row.ts'
import { type AnswerShape, WholeReader } from '../whole-reader.ts'
import { createdInteraction, createdObjects } from './created-objects.ts'
import { endedBatch, endedBatches, endedInteraction } from './ended.ts'
import { GenerateReader } from './generate-reader.ts'
import { inspectBody, inspectHead, inspectNamed } from './inspection.ts'
import { InteractionsReader } from './interactions-reader.ts'
import { waysInBatches, waysInCalls } from './model-spans.ts'
import { findBatchReferences, findReferences } from './references.ts'
import { inspectSetup } from './setup-frame.ts'
import { liveSocket, readAuthToken } from './sockets.ts'
import { readGenerateUsage } from './usage.ts'

/** No form here says what must be known: the model is in the path, and a file comes with its own description. */
const formFields = { needed: [], early: [], read: [] }

/** Answers about these have no place for a file. */
const withoutFiles: ReadonlySet<ObjectType> = new Set(['cached_content', 'tuned_model'])

/** A row of this lane. */
function row(operation: string, call: Parameters<typeof makeRow>[1], facts: RowFacts = {}): Endpoint {
  const { model = 'none', takes = [], object = null } = facts
  const hasJson = takes.includes('json')
  const usual = {
    inspect: !hasJson ? inspectHead : model === 'path' ? inspectNamed() : inspectBody,
    formFields,
    inspectForm: inspectHead,
    reader: readWhole,
    ...(hasJson ? { references: findReferences } : {}),
    createdObjects,
    answersHoldUrls: object !== null && !withoutFiles.has(object.type),
  }
  return makeRow(operation, call, usual, facts)
}

function refuse(operation: string, path: `/${string}`, why: string): Endpoint[] {
  return refuseAt(row, operation, path, why)
}

/** Counting tokens uses none. */
const shape: AnswerShape = {
  model: 'modelVersion',
  id: 'responseId',
  usage: 'usageMetadata',
  readUsage: () => null,
}
const embeddingShape: AnswerShape = { ...shape, readUsage: readGenerateUsage }

function readWhole(): AnswerReader {
  return new WholeReader(shape)
}

/** Embeddings report usage only in newer versions. */
function readEmbedding(): AnswerReader {
  return new WholeReader(embeddingShape)
}

function readGenerate({ framing }: Inspection): AnswerReader {
  return new GenerateReader(framing)
}

function readInteraction({ framing }: Inspection): AnswerReader {
  return new InteractionsReader(framing, true)
}

function readStoredInteraction({ framing }: Inspection): AnswerReader {
  return new InteractionsReader(framing, false)
}

const generate = { reader: readGenerate, answersHoldUrls: true }
const generateContent = call('generate', 'generateContent', generate)

/** The call as whose body the frames of the Live API name objects. */
const generateCall: Match = {
  endpoint: generateContent,
  pathModel: 'any',
  path: '/v1beta/models/any:generateContent',
  version: 'v1beta',
  object: null,
}

const batch = { object: makes('batch'), inspect: inspectNamed(waysInBatches), references: findBatchReferences }

function call(operation: string, verb: string, facts: RowFacts = {}): Endpoint {
  return row(operation, `POST /{version}/{model}:${verb}`, { model: 'path', takes: json, ...facts })
}

const operation = uses('operation')

/** Bytes for an upload that has begun, whatever their type says; the last of them make the file. Source: wire/lanes.md, section 3.4. */
const uploadChunk: Endpoint = row('files.upload', 'POST /upload/{version}/files', {
  takes: ['bytes'],
  object: makes('file'),
  carries: 'input',
})

const content = { gives: 'bytes', object: uses('file'), brings: 'results' } as const

const store = uses('file_search_store')
const documents = '/{version}/fileSearchStores/{object}/documents' as const

const method = 'SOCKET /ws/google.ai.generativelanguage.{version}.GenerativeService.'
const socket = liveSocket(generateCall)

const agents =
  "the provider's hosted agents act with the account's own credentials and environments, which no project owns"
const webhooks = "the provider's webhooks tell of the whole account, which no project owns"
const voices = "the account's own voices are its operator's to make and to remove"
const storage = 'it makes the provider read cloud storage with rights that are not those of the gateway key'
const openai = 'the OpenAI format has a lane of its own, at /v1'

/** Source: wire/lanes.md, section 3.3. `{model}` covers `models/x` and `tunedModels/x`. */
export const endpoints: readonly Endpoint[] = [
  // What answers from a model; long-running ones answer with the name of an operation.
  generateContent,
  // Without `alt=sse` the answer is a JSON array.
  call('generate', 'streamGenerateContent', { ...generate, stream: 'json-array' }),
  call('count_tokens', 'countTokens', { usesTokens: false, inspect: inspectNamed(waysInCalls) }),
  call('embed', 'embedContent', { reader: readEmbedding }),
  call('embed', 'batchEmbedContents', { reader: readEmbedding, inspect: inspectNamed(waysInCalls) }),
  call('predict', 'predict'),
  call('predict.start', 'predictLongRunning', { object: makes('operation') }),
  call('batches.create', 'batchGenerateContent', batch),
  call('batches.create', 'asyncBatchEmbedContent', batch),

  // Batches, and operations by whatever name they have: below a model, a store, or by themselves.
  row('batches.list', 'GET /{version}/batches', { object: lists('batch'), brings: 'end', endedWork: endedBatches }),
  row('batches.get', 'GET /{version}/batches/{object}', {
    object: uses('batch'),
    brings: 'end',
    endedWork: endedBatch,
  }),
  row('batches.delete', 'DELETE /{version}/batches/{object}', { object: forgets('batch') }),
  row('batches.cancel', 'POST /{version}/batches/{object}:cancel', { object: uses('batch') }),

  row('operations.get', 'GET /{version}/operations/{object}', { object: operation }),
  row('operations.get', 'GET /{version}/models/{name}/operations/{object}', { object: operation }),
  row('operations.get', 'GET /{version}/tunedModels/{name}/operations/{object}', { object: operation }),
  row('operations.get', 'GET /{version}/fileSearchStores/{name}/operations/{object}', { object: operation }),
  row('operations.get', 'GET /{version}/fileSearchStores/{name}/upload/operations/{object}', { object: operation }),

  // Files come up in several ways at one path: `start` of a resumable upload and mere metadata as JSON, bytes and multipart in one call (wire/lanes.md, section 3.4).
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

  // What is made once and then used by name: caches of a model's context, and tuned models.
  row('caches.create', 'POST /{version}/cachedContents', {
    model: 'body',
    takes: json,
    object: makes('cached_content'),
  }),
  row('caches.list', 'GET /{version}/cachedContents', { object: lists('cached_content') }),
  row('caches.get', 'GET /{version}/cachedContents/{object}', { object: uses('cached_content') }),
  row('caches.update', 'PATCH /{version}/cachedContents/{object}', { takes: json, object: uses('cached_content') }),
  row('caches.delete', 'DELETE /{version}/cachedContents/{object}', { object: forgets('cached_content') }),

  row('tuned_models.create', 'POST /{version}/tunedModels', { takes: json, object: makes('tuned_model') }),
  row('tuned_models.list', 'GET /{version}/tunedModels', { object: lists('tuned_model') }),
  row('tuned_models.update', 'PATCH /{version}/tunedModels/{object}', { takes: json, object: uses('tuned_model') }),
  row('tuned_models.delete', 'DELETE /{version}/tunedModels/{object}', { object: forgets('tuned_model') }),

  // Stores to search files in; their documents and media belong to them.
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

  // One that is stored is read again, also as a stream from any of its events on.
  row('interactions', 'POST /{version}/interactions', {
    model: 'body-optional',
    takes: json,
    stream: 'sse',
    object: makes('interaction'),
    reader: readInteraction,
    createdObjects: createdInteraction,
  }),
  row('interactions.get', 'GET /{version}/interactions/{object}', {
    stream: 'sse',
    object: uses('interaction'),
    reader: readStoredInteraction,
    brings: 'end',
    endedWork: endedInteraction,
  }),
  row('interactions.delete', 'DELETE /{version}/interactions/{object}', { object: forgets('interaction') }),
  row('interactions.cancel', 'POST /{version}/interactions/{object}/cancel', {
    object: uses('interaction'),
    brings: 'end',
    endedWork: endedInteraction,
  }),

  row('live', `${method}BidiGenerateContent`, { model: 'body', opensWith: 'auth-token', socket }),
  row('live', `${method}BidiGenerateContentConstrained`, { model: 'body', opensWith: 'auth-token', socket }),
  row('live.music', `${method}BidiGenerateMusic`, { model: 'body', opensWith: 'auth-token', socket }),
  row('live.auth_tokens', 'POST /{version}/auth_tokens', {
    model: 'body-optional',
    takes: json,
    mints: 'auth-token',
    inspect: inspectSetup,
    readClientToken: readAuthToken,
  }),

  ...modelRows(row, '/{version}/models', '/{version}/{model}'),

  row('files.register', 'POST /{version}/files:register', { served: 'nobody', why: storage }),
  ...refuse('agents', '/{version}/agents', agents),
  ...refuse('environments', '/{version}/environments', agents),
  ...refuse('environments', '/upload/{version}/environments', agents),
  ...refuse('triggers', '/{version}/triggers', agents),
  ...refuse('credentials', '/{version}/credentials', agents),
  ...refuse('webhooks', '/{version}/webhooks', webhooks),
  ...refuse('voices', '/{version}/voices', voices),
  ...refuse('openai', '/{version}/openai', openai),
]

/**
 * Path forms. The model runs to the last colon, since names may hold colons themselves. Ids are plain words at this
 * provider; nothing that could lead out of its segment is one, whoever decodes the path on the way.
 */
export const pathForms = {
  version: 'v1|v1beta|v1alpha',
  model: '(?:models|tunedModels)(?:/|%2[Ff]).+',
  object: '(?!\\.+(?:[/:%]|$))[\\w.~=-]+',
}
