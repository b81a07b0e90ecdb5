import { expect, it } from 'vitest'
import { cacheKey } from '../../src/gateway/cache/cache-key.ts'
import type { Call } from '../../src/gateway/request/call.ts'
import type { SnapshotKey } from '../../src/store/configuration/snapshot.ts'
import { makeKey, makeRoute } from '../support/snapshot.ts'

const route = makeRoute('m', [])
const keyFor = (key: SnapshotKey, rawHeaders: string[] = []) =>
  cacheKey(
    {
      key,
      presented: 'sp_live_x',
      arrival: { request: { rawHeaders } },
      lane: { name: 'openai' },
      match: { path: '/v1/chat/completions' },
      inspection: { query: '' },
      body: { bytes: Buffer.from('{}') },
      gateway: { model: { configuration: { providers: new Map() } } },
      policy: { policies: [] },
      header: () => null,
    } as unknown as Call,
    route,
  )

it('keeps apart what the demo key and other keys of its environment are answered', () => {
  const key = makeKey()
  expect(keyFor({ ...key, id: 'key_2', name: 'other' })).toBe(keyFor(key))
  expect(keyFor({ ...key, onlyDemo: true })).not.toBe(keyFor(key))
})

it('keeps apart what is asked with a header that a provider may go by, and not who asks', () => {
  const key = makeKey()
  const plain = keyFor(key, ['Authorization', 'Bearer sp_live_x', 'User-Agent', 'curl/8'])
  expect(keyFor(key, ['X-Stainless-Lang', 'js', 'traceparent', '00-1', 'Host', 'a', 'X-Forwarded-For', 'b'])).toBe(
    plain,
  )
  const traced = ['X-Amzn-Trace-Id', 'Root=1', 'X-Cloud-Trace-Context', '1/2', 'x-b3-traceid', '1', 'sentry-trace', '1']
  expect(keyFor(key, [...traced, 'x-datadog-trace-id', '1', 'x-envoy-attempt-count', '1'])).toBe(plain)
  expect(keyFor(key, ['X-Portkey-Config', 'mine'])).not.toBe(plain)
  expect(keyFor(key, ['Idempotency-Key', 'k'])).not.toBe(plain)
  expect(keyFor(key, ['B', '2', 'A', '1'])).toBe(keyFor(key, ['a', '1', 'b', '2']))
})
