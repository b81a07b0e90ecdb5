import type { Endpoint } from '../contract.ts'
import { modelEntry, modelList } from '../endpoint-table.ts'

/** Source: wire/lanes.md, section 2.3. The SDKs append their own `/v1` to the lane's prefix. */
export const endpoints: readonly Endpoint[] = [
  call('messages', '/v1/messages', 'sse'),
  call('count_tokens', '/v1/messages/count_tokens', null),
  modelList('/v1/models'),
  modelEntry('/v1/models/{model}'),
]

function call(operation: string, path: string, stream: Endpoint['stream']): Endpoint {
  return {
    operation,
    method: 'POST',
    path,
    model: 'body',
    served: 'provider',
    takes: ['json'],
    gives: 'json',
    stream,
    object: null,
  }
}

/**
 * People set the base URL with the version in it, or call without it: `/v1/v1/messages` and `/messages` mean
 * `/v1/messages`.
 */
export function canonicalPath(path: string): string {
  if (path.startsWith('/v1/v1/')) return path.slice(3)
  return path.startsWith('/v1/') ? path : `/v1${path}`
}
