import type { Endpoint } from '../contract.ts'
import { modelEntry, modelList } from '../endpoint-table.ts'
import { batches } from './endpoints/batches.ts'
import { files } from './endpoints/files.ts'
import { messages } from './endpoints/messages.ts'
import { refused } from './endpoints/refused.ts'

/** Source: wire/lanes.md, section 2.3. The SDKs append their own `/v1` to the lane's prefix. A row each, by family. */
export const endpoints: readonly Endpoint[] = [
  ...messages,
  ...batches,
  ...files,
  modelList('/v1/models'),
  modelEntry('/v1/models/{model}'),
  ...refused,
]

/**
 * Path forms. Ids are plain words at this provider; nothing that could lead out of its segment is one, whoever decodes
 * the path on the way.
 */
export const pathForms = { model: '.+', version: '', object: '[A-Za-z0-9_-]+' }

/**
 * People set the base URL with the version in it, or call without it: `/v1/v1/messages` and `/messages` mean
 * `/v1/messages`.
 */
export function canonicalPath(path: string): string {
  if (path.startsWith('/v1/v1/')) return path.slice(3)
  return path.startsWith('/v1/') ? path : `/v1${path}`
}
