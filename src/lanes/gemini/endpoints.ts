import type { ObjectType } from '../../core/objects/stored-object.ts'
import type { AnswerReader, Endpoint, Inspection, Match } from '../contract.ts'
import {
  creates,
  deletes,
  json,
  lists,
  makeRow,
  modelRows,
  notServed as notServedAt,
  type RowFacts,
  uses,
} from '../endpoint-row.ts'
import { type AnswerShape, WholeReader } from '../whole-reader.ts'
import { askedByBatch, askedByEmbeddings } from './batch-asks.ts'
import { createdInteraction, createdObjects } from './created-objects.ts'
import { endedBatch, endedBatches, endedInteraction, startedInteraction } from './ended.ts'
import { GenerateReader } from './generate-reader.ts'
import { generateLimits, inspectBody, inspectHead, inspectNamed, interactionLimits } from './inspection.ts'
import { InteractionsReader } from './interactions-reader.ts'
import { waysInBatches, waysInCalls } from './model-spans.ts'
import { findBatchReferences, findReferences } from './references.ts'
import { inspectSetup } from './setup-frame.ts'
import { liveSocket, readAuthToken } from './sockets.ts'
import { readGenerateUsage, readPredictUnits } from './usage.ts'

/** No form contains anything that must be known: the model is in the path, and a file has its own description. */
const formFields = { needed: [], early: [], read: [] }

/** Answers about these types never contain a file. */
const withoutFiles: ReadonlySet<ObjectType> = new Set(['cached_content', 'tuned_model'])

/** A row of this lane. */
function row(operation: string, call: Parameters<typeof makeRow>[1], facts: RowFacts = {}): Endpoint {
  const { model = 'none', requestForms = [], object = null } = facts
  const hasJson = requestForms.includes('json')
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

function notServed(operation: string, path: `/${string}`, why: string): Endpoint[] {
  return notServedAt(row, operation, path, why)
}

/** Counting tokens uses no tokens. */
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

const generate = {
  format: 'generate' as const,
  reader: readGenerate,
  answersHoldUrls: true,
  outputLimits: generateLimits,
  signedReasoning: { hint: '', names: ['thoughtSignature', 'thought_signature'] },
}
const generateContent = call('generate', 'generateContent', generate)

/** The call whose rules for references apply to the frames of the Live API. */
const generateCall: Match = {
  endpoint: generateContent,
  pathModel: 'any',
  path: '/v1beta/models/any:generateContent',
  version: 'v1beta',
  object: null,
}

const batch = {
  billed: false,
  object: creates('batch'),
  inspect: inspectNamed(waysInBatches),
  references: findBatchReferences,
}

function call(operation: string, verb: string, facts: RowFacts = {}): Endpoint {
  return row(operation, `POST /{version}/{model}:${verb}`, { model: 'path', requestForms: json, ...facts })
}

const operation = uses('operation')

/**
 * Bytes of an upload in progress, whatever their content-type; the last of them create the file. Source: wire/lanes.md,
 * section 3.4.
 */
const uploadChunk: Endpoint = row('files.upload', 'POST /upload/{version}/files', {
  requestForms: ['bytes'],
  object: creates('file'),
  holdsBatchInput: true,
})

const content = { responseForm: 'bytes', object: uses('file'), reportsUsage: 'results' } as const

const store = uses('file_search_store')
const documents = '/{version}/fileSearchStores/{object}/documents' as const

const method = 'SOCKET /ws/google.ai.generativelanguage.{version}.GenerativeService.'
const socket = liveSocket(generateCall)

const agents =
  "the provider's hosted agents act with the account's own credentials and environments, which no project owns"
const webhooks = "the provider's webhooks report on the whole account, which no project owns"
const voices = "only the account's operator may create and delete its voices"
const storage = 'it makes the provider read cloud storage with permissions that the gateway key does not have'
const openai = 'the OpenAI format has its own lane, at /v1'

/** Source: wire/lanes.md, section 3.3. `{model}` covers `models/x` and `tunedModels/x`. */
export const endpoints: readonly Endpoint[] = [
  // What answers from a model; long-running ones answer with the name of an operation.
  generateContent,
  // Without `alt=sse` the answer is a JSON array.
  call('generate', 'streamGenerateContent', { ...generate, stream: 'json-array' }),
  call('count_tokens', 'countTokens', { counts: 'generate', usesTokens: false, inspect: inspectNamed(waysInCalls) }),
  call('embed', 'embedContent', { embeds: true, reader: readEmbedding }),
  call('embed', 'batchEmbedContents', { embeds: true, reader: readEmbedding, inspect: inspectNamed(waysInCalls) }),
  call('predict', 'predict', { media: 'answer', readUnits: readPredictUnits }),
  call('predict.start', 'predictLongRunning', { media: 'answer', object: creates('operation') }),
  call('batches.create', 'batchGenerateContent', { ...batch, batchAsks: askedByBatch }),
  call('batches.create', 'asyncBatchEmbedContent', { ...batch, batchAsks: askedByEmbeddings }),

  // Batches, and operations by whatever name they have: below a model, a store, or by themselves.
  row('batches.list', 'GET /{version}/batches', {
    object: lists('batch'),
    reportsUsage: 'end',
    endedWork: endedBatches,
  }),
  row('batches.get', 'GET /{version}/batches/{object}', {
    object: uses('batch'),
    reportsUsage: 'end',
    endedWork: endedBatch,
  }),
  row('batches.delete', 'DELETE /{version}/batches/{object}', { object: deletes('batch') }),
  row('batches.cancel', 'POST /{version}/batches/{object}:cancel', { object: uses('batch') }),

  row('operations.get', 'GET /{version}/operations/{object}', { object: operation }),
  row('operations.get', 'GET /{version}/models/{name}/operations/{object}', { object: operation }),
  row('operations.get', 'GET /{version}/tunedModels/{name}/operations/{object}', { object: operation }),
  row('operations.get', 'GET /{version}/fileSearchStores/{name}/operations/{object}', { object: operation }),
  row('operations.get', 'GET /{version}/fileSearchStores/{name}/upload/operations/{object}', { object: operation }),

  // Files come up in several ways at one path: `start` of a resumable upload and mere metadata as JSON, bytes and multipart in one call (wire/lanes.md, section 3.4).
  row('files.create', 'POST /upload/{version}/files', {
    requestForms: ['json', 'multipart', 'bytes'],
    object: creates('file'),
    holdsBatchInput: true,
    resumedAs: uploadChunk,
  }),
  row('files.list', 'GET /{version}/files', { object: lists('file') }),
  row('files.content', 'GET /{version}/files/{object}:download', content),
  row('files.content', 'GET /download/{version}/files/{object}:download', content),
  row('files.get', 'GET /{version}/files/{object}', { object: uses('file') }),
  row('files.delete', 'DELETE /{version}/files/{object}', { object: deletes('file') }),

  // What is made once and then used by name: caches of a model's context, and tuned models.
  row('caches.create', 'POST /{version}/cachedContents', {
    model: 'body',
    requestForms: json,
    object: creates('cached_content'),
  }),
  row('caches.list', 'GET /{version}/cachedContents', { object: lists('cached_content') }),
  row('caches.get', 'GET /{version}/cachedContents/{object}', { object: uses('cached_content') }),
  row('caches.update', 'PATCH /{version}/cachedContents/{object}', {
    requestForms: json,
    object: uses('cached_content'),
  }),
  row('caches.delete', 'DELETE /{version}/cachedContents/{object}', { object: deletes('cached_content') }),

  row('tuned_models.create', 'POST /{version}/tunedModels', { requestForms: json, object: creates('tuned_model') }),
  row('tuned_models.list', 'GET /{version}/tunedModels', { object: lists('tuned_model') }),
  row('tuned_models.update', 'PATCH /{version}/tunedModels/{object}', {
    requestForms: json,
    object: uses('tuned_model'),
  }),
  row('tuned_models.delete', 'DELETE /{version}/tunedModels/{object}', { object: deletes('tuned_model') }),

  // Stores to search files in; their documents and media belong to them.
  row('stores.create', 'POST /{version}/fileSearchStores', {
    requestForms: json,
    object: creates('file_search_store'),
  }),
  row('stores.list', 'GET /{version}/fileSearchStores', { object: lists('file_search_store') }),
  row('stores.get', 'GET /{version}/fileSearchStores/{object}', { object: store }),
  row('stores.update', 'PATCH /{version}/fileSearchStores/{object}', { requestForms: json, object: store }),
  row('stores.delete', 'DELETE /{version}/fileSearchStores/{object}', { object: deletes('file_search_store') }),
  // What is added to a store is embedded, which costs.
  row('stores.import', 'POST /{version}/fileSearchStores/{object}:importFile', {
    billed: true,
    requestForms: json,
    object: store,
  }),
  row('stores.upload', 'POST /upload/{version}/fileSearchStores/{object}:uploadToFileSearchStore', {
    billed: true,
    requestForms: ['json', 'multipart', 'bytes'],
    object: store,
    resumedAs: uploadChunk,
  }),
  row('stores.documents.create', `POST ${documents}`, { requestForms: json, object: store }),
  row('stores.documents.list', `GET ${documents}`, { object: store }),
  row('stores.documents.get', `GET ${documents}/{document}`, { object: store }),
  row('stores.documents.update', `PATCH ${documents}/{document}`, { requestForms: json, object: store }),
  row('stores.documents.delete', `DELETE ${documents}/{document}`, { object: store }),
  row('stores.media', 'GET /{version}/fileSearchStores/{object}/media/{blob}', {
    responseForm: 'bytes',
    object: store,
  }),

  // A stored interaction can be read again, also as a stream from any of its events.
  row('interactions', 'POST /{version}/interactions', {
    billed: false,
    model: 'body-optional',
    requestForms: json,
    stream: 'sse',
    object: creates('interaction'),
    outputLimits: interactionLimits,
    reader: readInteraction,
    startedWork: startedInteraction,
    createdObjects: createdInteraction,
  }),
  row('interactions.get', 'GET /{version}/interactions/{object}', {
    stream: 'sse',
    object: uses('interaction'),
    reader: readStoredInteraction,
    reportsUsage: 'end',
    endedWork: endedInteraction,
  }),
  row('interactions.delete', 'DELETE /{version}/interactions/{object}', { object: deletes('interaction') }),
  row('interactions.cancel', 'POST /{version}/interactions/{object}/cancel', {
    object: uses('interaction'),
    reportsUsage: 'end',
    endedWork: endedInteraction,
  }),

  row('live', `${method}BidiGenerateContent`, { model: 'body', acceptsClientToken: 'auth-token', socket }),
  row('live', `${method}BidiGenerateContentConstrained`, { model: 'body', acceptsClientToken: 'auth-token', socket }),
  row('live.music', `${method}BidiGenerateMusic`, { model: 'body', acceptsClientToken: 'auth-token', socket }),
  row('live.auth_tokens', 'POST /{version}/auth_tokens', {
    billed: false,
    model: 'body-optional',
    requestForms: json,
    issuesClientToken: 'auth-token',
    inspect: inspectSetup,
    readClientToken: readAuthToken,
  }),

  ...modelRows(row, '/{version}/models', '/{version}/{model}'),

  row('files.register', 'POST /{version}/files:register', { served: 'nobody', why: storage }),
  ...notServed('agents', '/{version}/agents', agents),
  ...notServed('environments', '/{version}/environments', agents),
  ...notServed('environments', '/upload/{version}/environments', agents),
  ...notServed('triggers', '/{version}/triggers', agents),
  ...notServed('credentials', '/{version}/credentials', agents),
  ...notServed('webhooks', '/{version}/webhooks', webhooks),
  ...notServed('voices', '/{version}/voices', voices),
  ...notServed('openai', '/{version}/openai', openai),
]

/**
 * The forms of names in paths. The model extends to the last colon, since names may contain colons. This provider's ids
 * are plain words. No id can lead out of its segment, whoever decodes the path.
 */
export const pathForms = {
  version: 'v1|v1beta|v1alpha',
  model: '(?:models|tunedModels)(?:/|%2[Ff]).+',
  object: '(?!\\.+(?:[/:%]|$))[\\w.~=-]+',
}
