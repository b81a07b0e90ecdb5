import type { Endpoint } from '../../contract.ts'
import { forgets, json, lists, makes, row, uses } from '../../endpoint-row.ts'

/** What is made once and then used by name: caches of a model's context, and tuned models. Source: wire/lanes.md, section 3.3. */
export const caches: readonly Endpoint[] = [
  row('caches.create', 'POST /{version}/cachedContents', {
    model: 'body',
    takes: json,
    object: makes('cached_content'),
  }),
  row('caches.list', 'GET /{version}/cachedContents', { object: lists('cached_content') }),
  row('caches.get', 'GET /{version}/cachedContents/{object}', { object: uses('cached_content') }),
  row('caches.update', 'PATCH /{version}/cachedContents/{object}', { takes: json, object: uses('cached_content') }),
  row('caches.delete', 'DELETE /{version}/cachedContents/{object}', { object: forgets('cached_content') }),

  row('tuned_models.create', 'POST /{version}/tunedModels', { takes: json, object: makes('tuned_model') }),
  row('tuned_models.list', 'GET /{version}/tunedModels', { object: lists('tuned_model') }),
  row('tuned_models.update', 'PATCH /{version}/tunedModels/{object}', { takes: json, object: uses('tuned_model') }),
  row('tuned_models.delete', 'DELETE /{version}/tunedModels/{object}', { object: forgets('tuned_model') }),
]
