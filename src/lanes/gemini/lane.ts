import type { Fault } from '../../core/errors.ts'
import { type Member, scanObject } from '../../core/json-scan.ts'
import type { AnswerReader, BodyChange, Inspection, Lane, Match } from '../contract.ts'
import { compileEndpoints, encodeModel } from '../endpoint-table.ts'
import { noObjects } from '../no-objects.ts'
import { forwardedQuery } from '../query.ts'
import { applyEdits, isFault, readOutputLimit, scanBody } from '../request-body.ts'
import { WholeReader } from '../whole-reader.ts'
import { readAlt, refuseForm } from './answer-form.ts'
import { endpoints, modelName, pathForms, resourceName } from './endpoints.ts'
import { renderError, streamError } from './errors.ts'
import { GenerateReader } from './generate-reader.ts'
import { findModelSpans, modelHolders } from './model-spans.ts'
import { renderModel, renderModels } from './models.ts'
import { readGenerateUsage } from './usage.ts'

const findEndpoint = compileEndpoints(endpoints, pathForms)

/** Both JSON spellings are taken (wire/lanes.md, 3.2). */
const generationConfigs = ['generationConfig', 'generation_config']
const outputLimits = ['maxOutputTokens', 'max_output_tokens']
const choices = ['candidateCount', 'candidate_count']

/** The Gemini lane. Source: wire/lanes.md, section 3. */
export const gemini: Lane = {
  name: 'gemini',
  prefix: '/v1/gemini',
  endpoints,
  match(method, path) {
    const found = findEndpoint(method, path)
    if (found === null || found.pathModel === null) return found
    const pathModel = modelName(found.pathModel)
    return pathModel === null ? null : { ...found, pathModel }
  },
  inspect,
  splice,
  upstreamPath,
  renderError,
  streamError: (_match, fault, requestId, reader) => streamError(fault, requestId, reader),
  requestIdHeader: null,
  endMark: false,
  // Its SDKs bear no comment, no name and no extra chunk (wire/streaming.md, section 0).
  heartbeat: () => null,
  reader,
  objects: noObjects,
  renderModels: (_match, models, query) => renderModels(models, query),
  renderModel: (_match, model) => renderModel(model),
}

function inspect(match: Match, query: string, body: Buffer): Inspection | Fault {
  const { endpoint, pathModel } = match
  const streamed = endpoint.stream !== null
  const found: Inspection = {
    model: pathModel,
    streamed,
    framing: streamed && readAlt(query) === 'sse' ? 'sse' : endpoint.stream,
    query: forwardedQuery(query),
    modelSpans: [],
    // The format has no field for it.
    endUser: null,
    outputLimit: null,
    stores: false,
    usageSplice: null,
  }
  if (endpoint.takes.length === 0) return found
  const odd = refuseForm(endpoint, query)
  if (odd !== null) return odd
  const scan = scanBody(body, [...generationConfigs, ...modelHolders(match)])
  if (isFault(scan)) return scan
  const holders = scan.members.filter(({ name }) => !generationConfigs.includes(name))
  const modelSpans = findModelSpans(body, holders, pathModel ?? '')
  if (isFault(modelSpans)) return modelSpans
  return { ...found, modelSpans, outputLimit: readConfiguredLimit(body, scan.members) }
}

function readConfiguredLimit(body: Buffer, members: readonly Member[]): number | null {
  const configuration = members.findLast(({ name }) => generationConfigs.includes(name))
  if (configuration === undefined) return null
  const within = scanObject(body, [...outputLimits, ...choices], configuration)
  return within.ok ? readOutputLimit(body, within.members, outputLimits, choices) : null
}

function splice(body: Buffer, inspection: Inspection, change: BodyChange): Buffer {
  if (change.renameTo === null) return body
  const text = JSON.stringify(resourceName(change.renameTo))
  return applyEdits(
    body,
    inspection.modelSpans.map((span) => ({ span, text })),
  )
}

function upstreamPath(match: Match, inspection: Inspection, upstreamModel: string): string {
  const path = match.endpoint.path
    .replace('{version}', match.version ?? 'v1beta')
    .replace('{model}', () => encodeModel(resourceName(upstreamModel)))
  return path + inspection.query
}

function reader(match: Match, inspection: Inspection): AnswerReader {
  if (match.endpoint.operation === 'generate') return new GenerateReader(inspection.framing)
  // Counting tokens uses none; embeddings report usage only in newer versions.
  const readUsage = match.endpoint.operation === 'embed' ? readGenerateUsage : () => null
  return new WholeReader({ model: 'modelVersion', id: 'responseId', usage: 'usageMetadata', readUsage })
}
