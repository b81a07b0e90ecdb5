import type { AnswerReader, BodyChange, Inspection, Lane, Match } from '../contract.ts'
import { compileEndpoints, encodeModel } from '../endpoint-table.ts'
import { applyEdits } from '../request-body.ts'
import { WholeReader } from '../whole-reader.ts'
import { endpoints, modelName, pathForms, resourceName } from './endpoints.ts'
import { renderError, streamError } from './errors.ts'
import { GenerateReader } from './generate-reader.ts'
import { inspect, inspectHead } from './inspection.ts'
import { InteractionsReader } from './interactions-reader.ts'
import { renderModel, renderModels } from './models.ts'
import { objects } from './objects.ts'
import { geminiSockets } from './sockets.ts'
import { readGenerateUsage } from './usage.ts'

const findEndpoint = compileEndpoints(endpoints, pathForms)

/** The Gemini lane. Source: wire/lanes.md, section 3. */
export const gemini: Lane = {
  name: 'gemini',
  prefix: '/v1/gemini',
  endpoints,
  match,
  inspect,
  // No form here says what must be known: the model is in the path, and a file comes with its own description.
  formFields: () => ({ needed: [], early: [], read: [] }),
  inspectForm: (match, query) => inspectHead(match, query),
  splice,
  upstreamPath,
  renderError,
  streamError,
  requestIdHeader: null,
  endMark: false,
  // Its SDKs bear no comment, no name and no extra chunk (wire/streaming.md, section 0).
  heartbeat: () => null,
  reader,
  objects,
  sockets: geminiSockets(() => match('POST', '/v1beta/models/any:generateContent')),
  renderModels: (_match, models, query) => renderModels(models, query),
  renderModel: (_match, model) => renderModel(model),
}

function match(method: string, path: string): Match | null {
  const found = findEndpoint(method, plainPath(path))
  if (found === null) return null
  if (found.object !== null) return { ...found, object: resourceOf(found) }
  if (found.pathModel === null) return found
  const pathModel = modelName(found.pathModel)
  return pathModel === null ? null : { ...found, pathModel }
}

/** The SDKs take the id out of a file's URI only where that begins with https; any other becomes part of their path as it is. */
function plainPath(path: string): string {
  return path.includes('/files/http') ? path.replace(/\/files\/http:\/\/.+\/files\//, '/files/') : path
}

/** The name that the object has at the provider: the path from its collection to its id. Interactions go by the bare id. */
function resourceOf({ endpoint, path, object }: Match): string {
  if (endpoint.object?.type === 'interaction') return object ?? ''
  const place = endpoint.path.split('/').findIndex((segment) => segment.startsWith('{object}'))
  const first = endpoint.path.split('/').indexOf('{version}') + 1
  return [...path.split('/').slice(first, place), object].join('/')
}

function splice(body: Buffer, inspection: Inspection, change: BodyChange): Buffer {
  const { renameTo } = change
  if (renameTo === null) return body
  return applyEdits(
    body,
    inspection.modelSpans.map((span) => ({ span, text: JSON.stringify(nameLike(body, span.start + 1, renameTo)) })),
  )
}

const collections = ['models/', 'tunedModels/'].map((text) => Buffer.from(text))

/** A name is written the way the one was whose place it takes: with its collection or without. */
function nameLike(body: Buffer, at: number, name: string): string {
  const full = collections.some((text) => body.subarray(at, at + text.length).equals(text))
  return full ? resourceName(name) : name
}

/** A path that names a model is the table's own; every other goes up as it came. */
function upstreamPath(match: Match, inspection: Inspection, upstreamModel: string): string {
  const { endpoint, version } = match
  if (endpoint.model !== 'path') return match.path + inspection.query
  const path = endpoint.path
    .replace('{version}', version ?? 'v1beta')
    .replace('{model}', () => encodeModel(resourceName(upstreamModel)))
  return path + inspection.query
}

function reader({ endpoint }: Match, { framing }: Inspection): AnswerReader {
  const { operation, object } = endpoint
  if (operation === 'generate') return new GenerateReader(framing)
  if (endpoint.stream !== null) return new InteractionsReader(framing, object?.effect === 'make')
  // Counting tokens uses none; embeddings report usage only in newer versions.
  const readUsage = operation === 'embed' ? readGenerateUsage : () => null
  return new WholeReader({ model: 'modelVersion', id: 'responseId', usage: 'usageMetadata', readUsage })
}
