import type { Fault } from '../../core/errors.ts'
import { type Member, scanObject } from '../../core/json-scan.ts'
import type { AnswerReader, BodyChange, Inspection, Lane, Match } from '../contract.ts'
import { compileEndpoints, encodeModel } from '../endpoint-table.ts'
import { noObjects } from '../no-objects.ts'
import { forwardedQuery } from '../query.ts'
import { applyEdits, isFault, readEndUser, readModel, readOutputLimit, readStream, scanBody } from '../request-body.ts'
import { WholeReader } from '../whole-reader.ts'
import { canonicalPath, endpoints } from './endpoints.ts'
import { renderError, streamError } from './errors.ts'
import { MessagesReader } from './messages-reader.ts'
import { renderModel, renderModels } from './models.ts'

const heartbeat = Buffer.from('event: ping\ndata: {"type": "ping"}\n\n')
const findEndpoint = compileEndpoints(endpoints, { model: '.+', version: '', object: '[^/]+' })

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
  splice,
  upstreamPath: (match, inspection, upstreamModel) =>
    match.endpoint.path.replace('{model}', () => encodeModel(upstreamModel)) + inspection.query,
  renderError,
  streamError: (_match, fault, requestId, reader) => streamError(fault, requestId, reader),
  requestIdHeader: 'request-id',
  endMark: true,
  heartbeat: (match) => (match.endpoint.stream === null ? null : heartbeat),
  reader,
  objects: noObjects,
  renderModels: (_match, models, query) => renderModels(models, query),
  renderModel: (_match, model) => renderModel(model),
}

function inspect(match: Match, query: string, body: Buffer): Inspection | Fault {
  const { endpoint } = match
  const plain = {
    streamed: false,
    framing: null,
    query: forwardedQuery(query),
    modelSpans: [],
    endUser: null,
    outputLimit: null,
    stores: false,
    usageSplice: null,
  }
  if (endpoint.takes.length === 0) return { ...plain, model: match.pathModel }
  const scan = scanBody(body, ['model', 'stream', 'metadata', 'max_tokens'])
  if (isFault(scan)) return scan
  const named = readModel(body, scan.members, false)
  if (isFault(named)) return named
  const endUser = readMetadataUser(body, scan.members)
  const outputLimit = readOutputLimit(body, scan.members, ['max_tokens'], [])
  const found = { ...plain, model: named.model, modelSpans: named.spans, endUser, outputLimit }
  if (endpoint.stream === null) return found
  const streamed = readStream(body, scan.members)
  if (typeof streamed !== 'boolean') return streamed
  return streamed ? { ...found, streamed, framing: 'sse' } : found
}

/** `metadata.user_id` */
function readMetadataUser(body: Buffer, members: readonly Member[]): string | null {
  const metadata = members.find((member) => member.name === 'metadata')
  if (metadata === undefined) return null
  const within = scanObject(body, ['user_id'], metadata)
  return within.ok ? readEndUser(body, within.members, ['user_id']) : null
}

function splice(body: Buffer, inspection: Inspection, change: BodyChange): Buffer {
  if (change.renameTo === null) return body
  const text = JSON.stringify(change.renameTo)
  return applyEdits(
    body,
    inspection.modelSpans.map((span) => ({ span, text })),
  )
}

function reader(match: Match, inspection: Inspection): AnswerReader {
  if (match.endpoint.operation === 'messages') return new MessagesReader(inspection.framing)
  // Counting tokens uses none: its `input_tokens` are an answer, not a cost.
  return new WholeReader({ model: 'model', id: 'id', usage: 'usage', readUsage: () => null })
}
