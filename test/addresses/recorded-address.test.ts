import { expect, it } from 'vitest'
import { recordedAddress } from '../../src/addresses/recorded-address.ts'

it.each([
  ['203.0.113.77', '203.0.113.0'],
  ['::ffff:203.0.113.77', '203.0.113.0'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1::'],
  ['2001:db8::6', '2001:db8:0::'],
  ['fe80::1%eth0', 'fe80:0:0::'],
  ['::1:2:3:4:5:6:7', '0:1:2::'],
  ['no address', null],
  [null, null],
])('%s is masked as %s', (address, masked) => {
  expect(recordedAddress(address, 'masked')).toBe(masked)
  expect(recordedAddress(address, 'none')).toBeNull()
})
