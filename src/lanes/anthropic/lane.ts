import type { Inspection, Lane, ListedModel, Match } from '../contract.ts'
import { compileEndpoints, encodeModel } from '../endpoint-table.ts'
import { patchBody } from '../patch-body.ts'
import { readPageSize, readQuery } from '../query.ts'
import { canonicalPath, endpoints, pathForms } from './endpoints.ts'
import { renderError, streamError } from './errors.ts'
import { limitHeaders } from './limit-headers.ts'
import { objects } from './objects.ts'

const keepAliveEvent = Buffer.from('event: ping\ndata: {"type": "ping"}\n\n')
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
  patchBody,
  upstreamPath,
  renderError,
  streamError: (_match, fault, requestId, reader) => streamError(fault, requestId, reader),
  requestIdHeader: 'request-id',
  limitHeaders,
  endMark: true,
  keepAlive: (match) => (match.endpoint.stream === null ? null : keepAliveEvent),
  objects,
  renderModels,
  renderModel,
}

/** Paths of objects are forwarded as they came; all others are built from the table. */
function upstreamPath(match: Match, inspection: Inspection, upstreamModel: string): string {
  const path =
    match.object === null
      ? match.endpoint.path.replace('{model}', () => encodeModel(upstreamModel))
      : canonicalPath(match.path)
  return path + inspection.query
}

function entry(model: ListedModel) {
  return {
    type: 'model',
    id: model.name,
    display_name: model.name,
    created_at: new Date(model.created * 1000).toISOString().replace('.000Z', 'Z'),
    ...(model.contextTokens === null ? {} : { max_input_tokens: model.contextTokens }),
    ...(model.outputTokens === null ? {} : { max_tokens: model.outputTokens }),
  }
}

/**
 * Pages by `limit`, `after_id`, `before_id`. Source: wire/lanes.md, section 2.4. An unknown cursor starts at the
 * beginning.
 */
export function renderModels(models: readonly ListedModel[], query: string): Buffer {
  const parameters = readQuery(query)
  const limit = readPageSize(parameters.get('limit'), 20)
  const before = position(models, parameters.get('before_id'))
  const first = before === -1 ? position(models, parameters.get('after_id')) + 1 : Math.max(0, before - limit)
  const page = models.slice(first, before === -1 ? first + limit : before)
  const hasMore = before === -1 ? first + page.length < models.length : first > 0
  return Buffer.from(
    JSON.stringify({
      data: page.map(entry),
      has_more: hasMore,
      first_id: page[0]?.name ?? null,
      last_id: page.at(-1)?.name ?? null,
    }),
  )
}

function position(models: readonly ListedModel[], id: string | null): number {
  return id === null ? -1 : models.findIndex((model) => model.name === id)
}

export function renderModel(model: ListedModel): Buffer {
  return Buffer.from(JSON.stringify(entry(model)))
}
