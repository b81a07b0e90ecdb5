import { describe, expect, it } from 'vitest'
import { AddressSet, clientBehind } from '../../src/addresses/address-set.ts'

describe('a set of addresses', () => {
  const set = new AddressSet(['127.0.0.1', '10.0.0.0/8', '::1', 'fd00::/8'])

  it.each(['127.0.0.1', '10.255.0.1', '::1', '0:0:0:0:0:0:0:1', 'fd12::1', '::ffff:10.0.0.1'])('has %s', (address) => {
    expect(set.has(address)).toBe(true)
  })

  it.each(['127.0.0.2', '11.0.0.1', '::2', 'fe80::1', 'fe80::1%eth0', '', 'localhost', '10.0.0', '10.0.0.0/8'])(
    'has no %s',
    (address) => {
      expect(set.has(address)).toBe(false)
    },
  )
})

describe('the client behind proxies', () => {
  const proxies = new AddressSet(['127.0.0.1', '10.0.0.0/8'])

  it.each([
    ['one proxy', '127.0.0.1', '203.0.113.7', '203.0.113.7'],
    ['several', '127.0.0.1', '203.0.113.7, 10.1.1.1,10.1.1.2', '203.0.113.7'],
    ['a proxy to which the client lied', '127.0.0.1', '198.51.100.1, 203.0.113.7', '203.0.113.7'],
    ['a proxy that nobody trusts', '192.0.2.1', '203.0.113.7', '192.0.2.1'],
    ['a second proxy that nobody trusts', '127.0.0.1', '203.0.113.7, 192.0.2.1', '192.0.2.1'],
    ['proxies alone', '127.0.0.1', '10.1.1.1', '127.0.0.1'],
    ['one that sends no addresses', '127.0.0.1', 'unknown, ,', '127.0.0.1'],
    ['one that hides whom it saw, to which the client lied', '127.0.0.1', '203.0.113.7, _hidden', '127.0.0.1'],
    ['two, of which the first hides it', '127.0.0.1', '203.0.113.7, unknown, 10.1.1.1', '127.0.0.1'],
    ['one that writes ports, to which the client lied', '127.0.0.1', '198.51.100.1, 203.0.113.7:5123', '203.0.113.7'],
    ['one that writes ports of IPv6', '127.0.0.1', '198.51.100.1, [2001:db8::7]:5123', '2001:db8::7'],
    ['one that writes brackets alone', '127.0.0.1', '198.51.100.1, [2001:db8::7]', '2001:db8::7'],
    ['proxies that write ports', '127.0.0.1', '203.0.113.7:1, 10.1.1.1:2, 10.1.1.2:3', '203.0.113.7'],
    ['one to which the client sent no address', '127.0.0.1', 'nonsense, 203.0.113.7', '203.0.113.7'],
    ['a connection that is not known', '', '203.0.113.7', ''],
  ])('is found behind %s', (_what, remote, forwarded, client) => {
    expect(clientBehind(proxies, remote, forwarded)).toBe(client)
  })

  it('is whoever connects where no proxy is trusted', () => {
    expect(clientBehind(new AddressSet([]), '127.0.0.1', '203.0.113.7')).toBe('127.0.0.1')
  })
})
