import type { Edit } from '../../core/json/json-scan.ts'
import type { BodyPatch, Inspection, Lane, ListedModel, Match } from '../contract.ts'
import { compileEndpoints, encodeModel } from '../endpoint-table.ts'
import { applyEdits, capOutput, promptEdits } from '../patch-body.ts'
import { readPageSize, readQuery } from '../query.ts'
import { endpoints, pathForms } from './endpoints.ts'
import { renderError, streamError } from './errors.ts'
import { modelName, resourceName } from './names.ts'
import { objects } from './objects.ts'

const findEndpoint = compileEndpoints(endpoints, pathForms)

/** The Gemini lane. Source: wire/lanes.md, section 3. */
export const gemini: Lane = {
  name: 'gemini',
  prefix: '/v1/gemini',
  endpoints,
  match,
  patchBody,
  upstreamPath,
  renderError,
  streamError,
  requestIdHeader: null,
  // It has none; an error has its `RetryInfo`.
  limitHeaders: () => [],
  endMark: false,
  // The SDKs cannot handle comments, event names or extra chunks (wire/streaming.md, section 0).
  keepAlive: () => null,
  objects,
  renderModels,
  renderModel,
}

function match(method: string, path: string): Match | null {
  const found = findEndpoint(method, plainPath(path))
  if (found === null) return null
  if (found.object !== null) return { ...found, object: resourceOf(found) }
  if (found.pathModel === null) return found
  const pathModel = modelName(found.pathModel)
  return pathModel === null ? null : { ...found, pathModel }
}

/**
 * The SDKs take the id from a file's URI only where it starts with https. Any other URI becomes part of their path
 * unchanged.
 */
function plainPath(path: string): string {
  return path.includes('/files/http') ? path.replace(/\/files\/http:\/\/.+\/files\//, '/files/') : path
}

/** The object's name at the provider: the path from its collection to its id. Interactions have a bare id. */
function resourceOf({ endpoint, path, object }: Match): string {
  if (endpoint.object?.type === 'interaction') return object ?? ''
  const place = endpoint.path.split('/').findIndex((segment) => segment.startsWith('{object}'))
  const first = endpoint.path.split('/').indexOf('{version}') + 1
  return [...path.split('/').slice(first, place), object].join('/')
}

function patchBody(body: Buffer, inspection: Inspection, change: BodyPatch): Buffer {
  const { renameTo, cap } = change
  const edits: Edit[] = cap === undefined ? [] : capOutput(body, cap.limits, cap.most, cap.written)
  if (renameTo !== null)
    for (const span of inspection.modelSpans)
      edits.push({ span, text: JSON.stringify(nameLike(body, span.start + 1, renameTo)) })
  return applyEdits(body, [...edits, ...promptEdits(change, inspection.modelSpans)])
}

const collections = ['models/', 'tunedModels/'].map((text) => Buffer.from(text))

/** The new name is written like the old one: with its collection or without. */
function nameLike(body: Buffer, at: number, name: string): string {
  const full = collections.some((text) => body.subarray(at, at + text.length).equals(text))
  return full ? resourceName(name) : name
}

/** Paths with a model are built from the table; all others are forwarded as they came. */
function upstreamPath(match: Match, inspection: Inspection, upstreamModel: string): string {
  const { endpoint, version } = match
  if (endpoint.model !== 'path') return match.path + inspection.query
  const path = endpoint.path
    .replace('{version}', version ?? 'v1beta')
    .replace('{model}', () => encodeModel(resourceName(upstreamModel)))
  return path + inspection.query
}

function entry(model: ListedModel) {
  return {
    name: resourceName(model.name),
    displayName: model.name,
    ...(model.contextTokens === null ? {} : { inputTokenLimit: model.contextTokens }),
    ...(model.outputTokens === null ? {} : { outputTokenLimit: model.outputTokens }),
    supportedGenerationMethods: supportedMethods(model.name),
  }
}

/**
 * Clients filter their menus by this member, so it must not be missing. Only the name distinguishes the two families.
 */
function supportedMethods(name: string): string[] {
  return name.includes('embed')
    ? ['embedContent', 'batchEmbedContents', 'countTokens']
    : ['generateContent', 'streamGenerateContent', 'countTokens']
}

/**
 * Pages by `pageSize`, `pageToken` (both spellings). Source: wire/lanes.md, section 3.5. An unknown token starts at the
 * beginning.
 */
export function renderModels(models: readonly ListedModel[], query: string): Buffer {
  const parameters = readQuery(query)
  const size = readPageSize(parameters.get('pageSize') ?? parameters.get('page_size'), 50)
  const last = parameters.get('pageToken') ?? parameters.get('page_token')
  const first = last === null ? 0 : models.findIndex((model) => pageToken(model) === last) + 1
  const page = models.slice(first, first + size)
  const end = page.at(-1)
  const more = end !== undefined && first + page.length < models.length
  return Buffer.from(JSON.stringify({ models: page.map(entry), ...(more ? { nextPageToken: pageToken(end) } : {}) }))
}

/** The page's last model, so that a list that changes between pages neither repeats nor skips entries. */
function pageToken(model: ListedModel): string {
  return Buffer.from(model.name).toString('base64url')
}

export function renderModel(model: ListedModel): Buffer {
  return Buffer.from(JSON.stringify(entry(model)))
}
