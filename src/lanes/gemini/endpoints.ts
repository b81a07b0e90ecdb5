import type { Endpoint } from '../contract.ts'
import { modelEntry, modelList } from '../endpoint-table.ts'

/** Source: wire/lanes.md, section 3.3. `{model}` covers `models/x` and `tunedModels/x`. */
export const endpoints: readonly Endpoint[] = [
  call('generate', 'generateContent', null),
  // Without `alt=sse` the answer is a JSON array.
  call('generate', 'streamGenerateContent', 'json-array'),
  call('count_tokens', 'countTokens', null),
  call('embed', 'embedContent', null),
  call('embed', 'batchEmbedContents', null),
  modelList('/{version}/models'),
  modelEntry('/{version}/{model}'),
]

function call(operation: string, verb: string, stream: Endpoint['stream']): Endpoint {
  return {
    operation,
    method: 'POST',
    path: `/{version}/{model}:${verb}`,
    model: 'path',
    served: 'provider',
    takes: ['json'],
    gives: 'json',
    stream,
    object: null,
  }
}

/** Path forms. The model runs to the last colon, since names may hold colons themselves. */
export const pathForms = {
  version: 'v1|v1beta|v1alpha',
  model: '(?:models|tunedModels)(?:/|%2[Ff]).+',
  object: '[^/]+',
}

/** A model's resource name: `models/x` unless the name says another collection. */
export function resourceName(model: string): string {
  return model.startsWith('models/') || model.startsWith('tunedModels/') ? model : `models/${model}`
}

/**
 * What people call the model: without `models/`; a tuned model keeps its collection. Null: no name. Segments that a
 * server on the way might resolve would let a name mean another than the one that was checked.
 */
export function modelName(resource: string): string | null {
  const name = resource.replace(/^(?:models\/)+/, '')
  const segments = name.split('/')
  return segments.some((segment) => segment === '' || segment === '.' || segment === '..') ? null : name
}
