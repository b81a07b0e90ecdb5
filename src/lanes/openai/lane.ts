import { type Fault, fault } from '../../core/errors.ts'
import type { Member } from '../../core/json-scan.ts'
import type { AnswerReader, BodyChange, Endpoint, FormField, Inspection, Lane, Match } from '../contract.ts'
import { compileEndpoints } from '../endpoint-table.ts'
import { inspectFormFields, usualFormFields } from '../form-request.ts'
import { readValue } from '../json-value.ts'
import { plainInspection } from '../plain-inspection.ts'
import { forwardedQuery, readQuery } from '../query.ts'
import {
  applyEdits,
  type Edit,
  isFault,
  readEndUser,
  readModel,
  readOutputLimit,
  readStream,
  type ScannedObject,
  scanBody,
} from '../request-body.ts'
import { WholeReader } from '../whole-reader.ts'
import { AnyReader } from './any-reader.ts'
import { ChatReader } from './chat-reader.ts'
import { endpoints } from './endpoints.ts'
import { renderError, streamError } from './errors.ts'
import { MediaReader } from './media-reader.ts'
import { renderModel, renderModels } from './models.ts'
import { findCall, refuseParts } from './objects/batch-call.ts'
import { referringFields } from './objects/form-references.ts'
import { watchReferences } from './objects/references.ts'
import { findWideSource } from './objects/wide-source.ts'
import { objects } from './objects.ts'
import { ResponsesReader } from './responses-reader.ts'
import { inspectSession, openaiSockets, socketPath } from './sockets.ts'
import { ThreadsReader } from './threads-reader.ts'
import { readUsage } from './usage.ts'
import { askForUsage } from './usage-request.ts'

/** Of its members for the end user, the one that is called like the tag first. */
const endUserNames = ['user', 'safety_identifier']
const outputLimits = ['max_tokens', 'max_completion_tokens', 'max_output_tokens']
const choices = ['n']
const wanted = [
  'model',
  'stream',
  'stream_options',
  'store',
  'audio',
  'stream_format',
  'endpoint',
  ...endUserNames,
  ...outputLimits,
  ...choices,
]

const heartbeat = Buffer.from(': keep-alive\n\n')

/** The OpenAI-compatible lane. Source: wire/lanes.md, section 1. */
export const openai: Lane = {
  name: 'openai',
  prefix: '/v1',
  endpoints,
  match: compileEndpoints(endpoints, { model: '.+', version: '', object: '[^/]+' }),
  inspect,
  formFields: (match) => usualFormFields(match, referringFields(match)),
  inspectForm,
  inspectWhole: async (...given) => (await import('./call-offer.ts')).inspectOffer(...given),
  splice,
  // No call that goes on has its model in the path, and ids go on as they came.
  upstreamPath: (match, inspection, upstreamModel) =>
    match.endpoint.model === 'query' ? socketPath(match, inspection, upstreamModel) : match.path + inspection.query,
  renderError,
  streamError: (match, fault, _requestId, reader) => streamError(match, fault, reader),
  requestIdHeader: 'x-request-id',
  endMark: true,
  heartbeat: (match) => (match.endpoint.stream === null ? null : heartbeat),
  reader,
  objects,
  sockets: openaiSockets(() => openai.match('POST', '/responses')),
  renderModels: (_match, models) => renderModels(models),
  renderModel: (_match, model) => renderModel(model),
}

function inspect(match: Match, query: string, body: Buffer): Inspection | Fault {
  const { endpoint } = match
  const plain = plainInspection(match.pathModel, forwardedQuery(query))
  plain.stores = endpoint.object?.effect === 'make'
  if (endpoint.takes.length === 0) return endpoint.stream === null ? plain : replayed(plain)
  // Nothing to say is nothing to read, where no model must be named.
  if (!endpoint.takes.includes('json') || (body.length === 0 && endpoint.model === 'none')) return plain
  const watch = watchReferences(match)
  const scan = scanBody(body, wanted, watch)
  if (isFault(scan)) return scan
  if (endpoint.mints !== undefined || setUp.has(endpoint.operation)) {
    const session = inspectSession(plain, body)
    return !isFault(session) && session.model === null && endpoint.model === 'body' ? noModelNamed : session
  }
  if (watch !== null) plain.mayRefer = watch.seen
  return inspectBody(endpoint, plain, body, scan)
}

function inspectForm(match: Match, query: string, fields: readonly FormField[]): Inspection | Fault {
  const found = inspectFormFields(match, query, fields)
  return isFault(found) ? found : { ...found, stores: match.endpoint.object?.effect === 'make' }
}

/** What they are given sets a session up, as what mints a credential for one does. */
const setUp = new Set(['realtime.calls.accept', 'live.accept', 'live.create'])

/** A stored answer comes as a stream when the query says so. */
function replayed(plain: Inspection): Inspection {
  const streamed = readQuery(plain.query).get('stream') === 'true'
  return streamed ? { ...plain, streamed, framing: 'sse' } : plain
}

function inspectBody(endpoint: Endpoint, plain: Inspection, body: Buffer, scan: ScannedObject): Inspection | Fault {
  const { members } = scan
  const wide = findWideSource(endpoint, body) ?? findUnserved(endpoint, body, members)
  if (wide !== null) return wide
  const named = endpoint.model === 'none' ? noModel : readModel(body, members, endpoint.model === 'body-optional')
  if (isFault(named)) return named
  const found: Inspection = {
    ...plain,
    model: named.model,
    modelSpans: named.spans,
    endUser: readEndUser(body, members, endUserNames),
    outputLimit: readOutputLimit(body, members, outputLimits, choices),
    stores: plain.stores && keepsAnswer(endpoint, body, members),
  }
  if (endpoint.stream === null) return found
  const streamed = endpoint.operation === 'audio.speech' ? asksForEvents(body, members) : readStream(body, members)
  if (typeof streamed !== 'boolean') return streamed
  if (!streamed) return found
  const usageSplice = asksUsage.has(endpoint.operation) ? askForUsage(body, scan, members) : null
  if (usageSplice !== null && isFault(usageSplice)) return usageSplice
  return { ...found, streamed, framing: 'sse', usageSplice }
}

/** A batch may ask for no more than its client could. */
function findUnserved({ operation }: Endpoint, body: Buffer, members: readonly Member[]): Fault | null {
  if (operation === 'uploads.create') return refuseParts(body)
  if (operation !== 'batches.create') return null
  const named = members.filter(({ name }) => name === 'endpoint')
  if (named.every((member) => findCall(readValue(body, member), openai) !== null)) return null
  const message = '`endpoint` is nothing that this lane serves in batches; write it like /v1/responses.'
  return fault('invalid_request', message, { param: 'endpoint' })
}

const noModelNamed = fault('invalid_request', '`session.model` is missing; name the model in the session.', {
  param: 'session.model',
})
const noModel = { model: null, spans: [] }
const asksUsage = new Set(['chat', 'completions'])

/** Speech comes as events when the body says so, else as sound. */
function asksForEvents(body: Buffer, members: readonly Member[]): boolean {
  return members.some((member) => member.name === 'stream_format' && readValue(body, member) === 'sse')
}

const codeTool = Buffer.from('"code_interpreter"')
const shellTool = Buffer.from('"shell"')

/**
 * A completion is stored when its body says so, a response unless its body says no. A container that a response makes lives on by
 * itself either way, and so does what the model says aloud.
 */
function keepsAnswer({ operation }: Endpoint, body: Buffer, members: readonly Member[]): boolean {
  if (operation === 'chat') {
    return members.some(({ name, start }) => (name === 'store' && body[start] === 0x74) || name === 'audio')
  }
  if (operation !== 'responses') return true
  const refuses = members.some(({ name, start }) => name === 'store' && body[start] === 0x66)
  return !refuses || body.includes(codeTool) || body.includes(shellTool)
}

function splice(body: Buffer, inspection: Inspection, change: BodyChange): Buffer {
  const edits: Edit[] = []
  if (change.renameTo !== null) {
    const text = JSON.stringify(change.renameTo)
    for (const span of inspection.modelSpans) edits.push({ span, text })
  }
  for (const [index, { name, spans }] of (inspection.further ?? []).entries()) {
    const to = change.furtherTo?.[index] ?? name
    if (to !== name) for (const span of spans) edits.push({ span, text: JSON.stringify(to) })
  }
  if (change.askForUsage && inspection.usageSplice !== null) edits.push(inspection.usageSplice)
  return applyEdits(body, edits)
}

function reader(match: Match, inspection: Inspection, change: BodyChange): AnswerReader {
  const { framing, stores } = inspection
  const { operation, gives } = match.endpoint
  switch (operation) {
    case 'chat':
    case 'completions':
      return new ChatReader(framing, change.askForUsage && inspection.usageSplice !== null)
    case 'responses':
    case 'responses.compact':
      return new ResponsesReader(framing, stores ? 'stored-too' : 'made')
    case 'responses.get':
      return new ResponsesReader(framing, 'replayed')
  }
  if (framing !== null && operation.startsWith('threads.'))
    return new ThreadsReader(framing, operation === 'threads.run')
  if (framing !== null) return new MediaReader(framing)
  const usage = counted.test(operation) ? 'usage' : ''
  const shape = { model: 'model', id: 'id', usage, readUsage }
  return gives === 'json' ? new WholeReader(shape) : new AnyReader(shape)
}

/** What makes something; what only shows it again was counted then. */
const counted = /^(?:embeddings|moderations|decisions|images|audio)/
