import type { Lane, ListedModel } from '../contract.ts'
import { patchBody } from '../patch-body.ts'
import { endpoints, matchEndpoint } from './endpoints.ts'
import { renderError, streamError } from './errors.ts'
import { limitHeaders } from './limit-headers.ts'
import { objects } from './objects.ts'

const keepAliveEvent = Buffer.from(': keep-alive\n\n')

/** The OpenAI-compatible lane. Source: wire/lanes.md, section 1. */
export const openai: Lane = {
  name: 'openai',
  prefix: '/v1',
  endpoints,
  match: matchEndpoint,
  patchBody,
  renderError,
  streamError: (match, fault, _requestId, reader) => streamError(match, fault, reader),
  requestIdHeader: 'x-request-id',
  limitHeaders,
  endMark: true,
  keepAlive: (match) => (match.endpoint.stream === null ? null : keepAliveEvent),
  objects,
  renderModels,
  renderModel,
}

function entry(model: ListedModel) {
  return {
    id: model.name,
    object: 'model',
    created: model.created,
    owned_by: model.owner,
    // Not in the vendor's own shape; several compatible servers use these names and clients read them.
    ...(model.contextTokens === null ? {} : { context_window: model.contextTokens }),
    ...(model.outputTokens === null ? {} : { max_completion_tokens: model.outputTokens }),
  }
}

/** This list has no pages (wire/lanes.md, section 1.3). */
export function renderModels(models: readonly ListedModel[]): Buffer {
  return Buffer.from(JSON.stringify({ object: 'list', data: models.map(entry) }))
}

export function renderModel(model: ListedModel): Buffer {
  return Buffer.from(JSON.stringify(entry(model)))
}
