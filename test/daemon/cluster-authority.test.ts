import { expect, it } from 'vitest'
import { toValkeyAddress } from '../../src/daemon/cluster/cluster.ts'

it('takes no file for an authority that has no certificate', () => {
  const settings = { host: 'db', port: 1, user: 'u', database: 0, password: null, without: 'share' } as const
  const read = (authority: string) => () => toValkeyAddress({ ...settings, authority })
  expect(read(import.meta.filename.replace('daemon', 'nowhere'))).toThrow(/cannot be read \(ENOENT\)/)
  expect(read(import.meta.filename)).toThrow(/cluster\.valkey_ca: .* has no certificate in PEM/)
})
