import type { Endpoint } from '../contract.ts'

/** Source: wire/lanes.md, section 2.3. The SDKs append their own `/v1` to the lane's prefix. */
export const endpoints: readonly Endpoint[] = [
  { operation: 'messages', method: 'POST', path: '/v1/messages', model: 'body', served: 'provider', stream: 'sse' },
  {
    operation: 'count_tokens',
    method: 'POST',
    path: '/v1/messages/count_tokens',
    model: 'body',
    served: 'provider',
    stream: null,
  },
  { operation: 'models.list', method: 'GET', path: '/v1/models', model: 'none', served: 'model-list', stream: null },
  {
    operation: 'models.get',
    method: 'GET',
    path: '/v1/models/{model}',
    model: 'path',
    served: 'model-entry',
    stream: null,
  },
]

/**
 * People set the base URL with the version in it, or call without it: `/v1/v1/messages` and `/messages` mean
 * `/v1/messages`.
 */
export function canonicalPath(path: string): string {
  if (path.startsWith('/v1/v1/')) return path.slice(3)
  return path.startsWith('/v1/') ? path : `/v1${path}`
}
