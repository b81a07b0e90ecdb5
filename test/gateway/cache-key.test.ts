import { expect, it } from 'vitest'
import { cacheKey } from '../../src/gateway/cache/cache-key.ts'
import type { Call } from '../../src/gateway/request/call.ts'
import type { SnapshotKey } from '../../src/store/configuration/snapshot.ts'
import { makeKey, makeRoute } from '../support/snapshot.ts'

it('keeps apart what the demo key and other keys of its environment are answered', () => {
  const route = makeRoute('m', [])
  const keyFor = (key: SnapshotKey) =>
    cacheKey(
      {
        key,
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
  const key = makeKey()
  expect(keyFor({ ...key, id: 'key_2', name: 'other' })).toBe(keyFor(key))
  expect(keyFor({ ...key, onlyDemo: true })).not.toBe(keyFor(key))
})
