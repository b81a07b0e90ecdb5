import type { Fault } from '../../core/errors.ts'
import { type Member, type Span, scanObject } from '../../core/json-scan.ts'
import type { AnswerReader, BodyChange, Endpoint, Inspection, Lane, Match } from '../contract.ts'
import { compileEndpoints, encodeModel } from '../endpoint-table.ts'
import { inspectFormFields, usualFormFields } from '../form-request.ts'
import { plainInspection } from '../plain-inspection.ts'
import { forwardedQuery } from '../query.ts'
import {
  applyEdits,
  type Edit,
  isFault,
  readEndUser,
  readModel,
  readOutputLimit,
  readStream,
  scanBody,
} from '../request-body.ts'
import { WholeReader } from '../whole-reader.ts'
import { readBatchModels } from './batch-models.ts'
import { CompleteReader } from './complete-reader.ts'
import { canonicalPath, endpoints, pathForms } from './endpoints.ts'
import { renderError, streamError } from './errors.ts'
import { MessagesReader } from './messages-reader.ts'
import { renderModel, renderModels } from './models.ts'
import { objects, referringNames } from './objects.ts'

const heartbeat = Buffer.from('event: ping\ndata: {"type": "ping"}\n\n')
const findEndpoint = compileEndpoints(endpoints, pathForms)

/** The Anthropic lane. Source: wire/lanes.md, section 2. */
export const anthropic: Lane = {
  name: 'anthropic',
  prefix: '/v1/anthropic',
  endpoints,
  match(method, path) {
    const found = findEndpoint(method, canonicalPath(path))
    return found === null ? null : { ...found, path }
  },
  inspect,
  formFields: (match) => usualFormFields(match),
  inspectForm: inspectFormFields,
  splice,
  upstreamPath,
  renderError,
  streamError: (_match, fault, requestId, reader) => streamError(fault, requestId, reader),
  requestIdHeader: 'request-id',
  endMark: true,
  heartbeat: (match) => (match.endpoint.stream === null ? null : heartbeat),
  reader,
  objects,
  sockets: null,
  renderModels: (_match, models, query) => renderModels(models, query),
  renderModel: (_match, model) => renderModel(model),
}

/** What belongs to an object goes up as it came; a path that names a model or nothing is the table's own. */
function upstreamPath(match: Match, inspection: Inspection, upstreamModel: string): string {
  const path =
    match.object === null
      ? match.endpoint.path.replace('{model}', () => encodeModel(upstreamModel))
      : canonicalPath(match.path)
  return path + inspection.query
}

function inspect(match: Match, query: string, body: Buffer): Inspection | Fault {
  const { endpoint } = match
  const plain = plainInspection(match.pathModel, forwardedQuery(query))
  plain.stores = endpoint.object?.effect === 'make' && endpoint.operation !== 'messages'
  if (!endpoint.takes.includes('json')) return plain
  const watch = { names: referringNames, seen: false }
  const scan = scanBody(body, wanted, watch)
  if (isFault(scan)) return scan
  plain.mayRefer = watch.seen
  if (endpoint.operation === 'batches.create') return readBatch(plain, body, scan.members)
  return readCall(endpoint, plain, body, scan.members)
}

const outputLimits = ['max_tokens', 'max_tokens_to_sample']
const wanted = ['model', 'stream', 'metadata', 'thread', 'tools', 'requests', ...outputLimits]

function readCall(endpoint: Endpoint, plain: Inspection, body: Buffer, members: readonly Member[]): Inspection | Fault {
  const named = readModel(body, members, false)
  if (isFault(named)) return named
  const endUser = readMetadataUser(body, members)
  const outputLimit = readOutputLimit(body, members, outputLimits, [])
  const stores = endpoint.operation === 'messages' && leavesSomething(body, members)
  const found = { ...plain, model: named.model, modelSpans: named.spans, endUser, outputLimit, stores }
  if (endpoint.stream === null) return found
  const streamed = readStream(body, members)
  if (typeof streamed !== 'boolean') return streamed
  return streamed ? { ...found, streamed, framing: 'sse' } : found
}

const codeTool = Buffer.from('"code_execution_')

/** A conversation that is kept, or a tool that runs code: its container and the files in it live on by themselves. */
function leavesSomething(body: Buffer, members: readonly Member[]): boolean {
  return members.some(
    ({ name, start, end }) => name === 'thread' || (name === 'tools' && body.subarray(start, end).includes(codeTool)),
  )
}

function readBatch(plain: Inspection, body: Buffer, members: readonly Member[]): Inspection | Fault {
  const named = readBatchModels(body, members)
  if (isFault(named)) return named
  const [first, ...further] = named
  const found = { ...plain, model: first?.name ?? null, modelSpans: first?.spans ?? [] }
  return further.length === 0 ? found : { ...found, further }
}

/** `metadata.user_id` */
function readMetadataUser(body: Buffer, members: readonly Member[]): string | null {
  const metadata = members.find((member) => member.name === 'metadata')
  if (metadata === undefined) return null
  const within = scanObject(body, ['user_id'], metadata)
  return within.ok ? readEndUser(body, within.members, ['user_id']) : null
}

function splice(body: Buffer, inspection: Inspection, change: BodyChange): Buffer {
  const { renameTo, furtherTo } = change
  if (renameTo === null && furtherTo === undefined) return body
  const edits = renameTo === null ? [] : renameAll(inspection.modelSpans, renameTo)
  for (const [index, { name, spans }] of (inspection.further ?? []).entries()) {
    const to = furtherTo?.[index] ?? name
    if (to !== name) edits.push(...renameAll(spans, to))
  }
  return applyEdits(body, edits)
}

function renameAll(spans: readonly Span[], name: string): Edit[] {
  const text = JSON.stringify(name)
  return spans.map((span) => ({ span, text }))
}

function reader(match: Match, inspection: Inspection): AnswerReader {
  if (match.endpoint.operation === 'messages') return new MessagesReader(inspection.framing)
  if (match.endpoint.operation === 'complete') return new CompleteReader(inspection.framing)
  // Counting tokens uses none: its `input_tokens` are an answer, not a cost.
  return new WholeReader({ model: 'model', id: 'id', usage: 'usage', readUsage: () => null })
}
