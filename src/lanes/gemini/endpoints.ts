import type { Endpoint } from '../contract.ts'
import { modelEntry, modelList } from '../endpoint-table.ts'
import { batches } from './endpoints/batches.ts'
import { caches } from './endpoints/caches.ts'
import { files } from './endpoints/files.ts'
import { generation } from './endpoints/generation.ts'
import { interactions } from './endpoints/interactions.ts'
import { refused } from './endpoints/refused.ts'
import { sockets } from './endpoints/sockets.ts'
import { stores } from './endpoints/stores.ts'

/** Source: wire/lanes.md, section 3.3. `{model}` covers `models/x` and `tunedModels/x`. A row each, by family. */
export const endpoints: readonly Endpoint[] = [
  ...generation,
  ...batches,
  ...files,
  ...caches,
  ...stores,
  ...interactions,
  ...sockets,
  modelList('/{version}/models'),
  modelEntry('/{version}/{model}'),
  ...refused,
]

/**
 * Path forms. The model runs to the last colon, since names may hold colons themselves. Ids are plain words at this
 * provider; nothing that could lead out of its segment is one, whoever decodes the path on the way.
 */
export const pathForms = {
  version: 'v1|v1beta|v1alpha',
  model: '(?:models|tunedModels)(?:/|%2[Ff]).+',
  object: '(?!\\.+(?:[/:%]|$))[\\w.~=-]+',
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
