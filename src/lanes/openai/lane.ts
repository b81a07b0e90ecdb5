import type { Fault } from '../../core/errors.ts'
import type { AnswerReader, BodyChange, Inspection, Lane, Match } from '../contract.ts'
import { compileEndpoints, encodeModel } from '../endpoint-table.ts'
import { noObjects } from '../no-objects.ts'
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
import { ChatReader } from './chat-reader.ts'
import { endpoints } from './endpoints.ts'
import { renderError, streamError } from './errors.ts'
import { renderModel, renderModels } from './models.ts'
import { ResponsesReader } from './responses-reader.ts'
import { readChatUsage } from './usage.ts'
import { askForUsage } from './usage-request.ts'

/** Of its members for the end user, the one that is called like the tag first. */
const endUserNames = ['user', 'safety_identifier']
const outputLimits = ['max_tokens', 'max_completion_tokens', 'max_output_tokens']
const choices = ['n']
const wanted = ['model', 'stream', 'stream_options', ...endUserNames, ...outputLimits, ...choices]

const heartbeat = Buffer.from(': keep-alive\n\n')

/** The OpenAI-compatible lane. Source: wire/lanes.md, section 1. */
export const openai: Lane = {
  name: 'openai',
  prefix: '/v1',
  endpoints,
  match: compileEndpoints(endpoints, { model: '.+', version: '', object: '[^/]+' }),
  inspect,
  splice,
  upstreamPath: (match, inspection, upstreamModel) =>
    match.endpoint.path.replace('{model}', () => encodeModel(upstreamModel)) + inspection.query,
  renderError,
  streamError: (match, fault, _requestId, reader) => streamError(match, fault, reader),
  requestIdHeader: 'x-request-id',
  endMark: true,
  heartbeat: (match) => (match.endpoint.stream === null ? null : heartbeat),
  reader,
  objects: noObjects,
  renderModels: (_match, models) => renderModels(models),
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
  const scan = scanBody(body, wanted)
  if (isFault(scan)) return scan
  const named = readModel(body, scan.members, endpoint.model === 'body-optional')
  if (isFault(named)) return named
  const endUser = readEndUser(body, scan.members, endUserNames)
  const outputLimit = readOutputLimit(body, scan.members, outputLimits, choices)
  const found = { ...plain, model: named.model, modelSpans: named.spans, endUser, outputLimit }
  if (endpoint.stream === null) return found
  const streamed = readStream(body, scan.members)
  if (typeof streamed !== 'boolean') return streamed
  if (!streamed) return found
  const usageSplice = endpoint.operation === 'responses' ? null : askForUsage(body, scan, scan.members)
  return { ...found, streamed, framing: 'sse', usageSplice }
}

function splice(body: Buffer, inspection: Inspection, change: BodyChange): Buffer {
  const edits: Edit[] = []
  if (change.renameTo !== null) {
    const text = JSON.stringify(change.renameTo)
    for (const span of inspection.modelSpans) edits.push({ span, text })
  }
  if (change.askForUsage && inspection.usageSplice !== null) edits.push(inspection.usageSplice)
  return applyEdits(body, edits)
}

function reader(match: Match, inspection: Inspection, change: BodyChange): AnswerReader {
  switch (match.endpoint.operation) {
    case 'chat':
    case 'completions':
      return new ChatReader(inspection.framing, change.askForUsage && inspection.usageSplice !== null)
    case 'responses':
      return new ResponsesReader(inspection.framing)
    default:
      return new WholeReader({ model: 'model', id: 'id', usage: 'usage', readUsage: readChatUsage })
  }
}
