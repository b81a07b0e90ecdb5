import { isIPv6 } from 'node:net'

/** What counts as one, where attempts or connections are counted: whoever has one IPv6 address has 2^64 of them. */
export function networkOf(address: string): string {
  const plain = plainAddress(address)
  return isIPv6(plain) ? expand(plain).slice(0, 4).join(':') : plain
}

/** An IPv4 address that came through an IPv6 listener is one all the same. */
export function plainAddress(address: string | undefined): string {
  return (address ?? '').replace(/^::ffff:/, '')
}

function expand(address: string): string[] {
  const [left = '', right] = address.split('::')
  const groups = (text: string) => (text === '' ? [] : text.split(':'))
  if (right === undefined) return groups(left)
  const [head, tail] = [groups(left), groups(right)]
  return [...head, ...Array<string>(Math.max(0, 8 - head.length - tail.length)).fill('0'), ...tail]
}
