import { isIP } from 'node:net'
import { describe, expect, it } from 'vitest'
import { isNetwork } from '../../../src/core/policies/network.ts'

describe('isNetwork', () => {
  const addresses = [
    ...[
      '10.0.0.1',
      '255.255.255.255',
      '0.0.0.0',
      '256.1.1.1',
      '1.2.3',
      '1.2.3.4.5',
      '01.2.3.4',
      '1.2.3.',
      'localhost',
      '',
    ],
    ...['::', '::1', 'fe80::1', '2001:db8::8a2e:370:7334', '::ffff:10.0.0.1', '1:2:3:4:5:6:7:8', '1:2:3:4:5:6:7:8:9'],
    ...['::1::', 'g::1', '[::1]', ':', '12345::', '1.2.3.4:80'],
  ]
  for (const text of addresses) {
    it(`of ${JSON.stringify(text)} says what the network library says`, () => {
      expect(isNetwork(text)).toBe(isIP(text) !== 0)
    })
  }

  it('checks the length of a prefix by the family', () => {
    const good = ['10.0.0.0/8', '10.0.0.0/0', '10.0.0.0/32', '::/0', 'fe80::/10', '::1/128']
    const bad = ['10.0.0.0/33', '10.0.0.0/', '10.0.0.0/-1', '10.0.0.0/8/8', '::1/129', '10.0.0.0/x', '/8']
    expect(good.map(isNetwork)).toEqual(good.map(() => true))
    expect(bad.map(isNetwork)).toEqual(bad.map(() => false))
  })
})
