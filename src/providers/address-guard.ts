import { BlockList, isIP } from 'node:net'

/**
 * Where providers may be. Never: link-local and other addresses at which clouds and hosts serve themselves (metadata,
 * credentials). Private ones only where the operator said so: in the URL itself, or by the setting. docs/decisions/0030.
 */
export type AddressKind = 'public' | 'private' | 'forbidden'

const forbiddenNets: readonly [net: string, bits: number][] = [
  ['0.0.0.0', 8],
  ['169.254.0.0', 16],
  // Metadata of Alibaba Cloud, Azure and Oracle outside of it.
  ['100.100.100.200', 32],
  ['168.63.129.16', 32],
  ['192.0.0.192', 32],
  ['224.0.0.0', 3],
]
const privateNets: readonly [net: string, bits: number][] = [
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
]
/**
 * Forms in which an IPv6 address carries one of IPv4, in its last 32 bits: mapped, compatible, translated (SIIT), NAT64. NAT64 of one's
 * own, by the same form, and 6to4, which has it elsewhere, are below.
 */
const carriers = ['::ffff:', '::', '::ffff:0:', '64:ff9b::']

const forbidden = listNets(forbiddenNets, [
  ['::', 128],
  ['fe80::', 10],
  ['fd00:ec2::', 32],
  ['fd20:ce::254', 128],
  ['ff00::', 8],
  // Teredo: the address within is another's, and written upside down.
  ['2001::', 32],
])
const privates = listNets(privateNets, [
  ['::1', 128],
  ['fc00::', 7],
  ['fec0::', 10],
  // However public the address within is, only a network's own translator leads there.
  ['64:ff9b:1::', 48],
])

function listNets(four: readonly [string, number][], six: readonly [string, number][]): BlockList {
  const list = new BlockList()
  for (const [net, bits] of four) {
    list.addSubnet(net, bits, 'ipv4')
    for (const carrier of carriers) list.addSubnet(`${carrier}${net}`, 96 + bits, 'ipv6')
  }
  for (const [net, bits] of six) list.addSubnet(net, bits, 'ipv6')
  return list
}

/** `address`: as a resolver or a URL gives it, with a zone or without. */
export function classifyAddress(address: string): AddressKind {
  const bare = address.replace(/%.*$/, '')
  const family = isIP(bare) === 6 ? 'ipv6' : 'ipv4'
  // Loopback as IPv4-compatible would be in `::/104`; the one address of it that is used is ::1.
  if (bare === '::1') return 'private'
  const within = family === 'ipv6' ? carriedAddress(bare) : null
  if (within !== null && forbidden.check(within, 'ipv4')) return 'forbidden'
  if (within !== null && privates.check(within, 'ipv4')) return 'private'
  if (forbidden.check(bare, family)) return 'forbidden'
  return privates.check(bare, family) ? 'private' : 'public'
}

/** Of 6to4, behind its prefix, and of NAT64 with a prefix of one's own, at the end (RFC 3056, RFC 8215); null for all else. */
function carriedAddress(six: string): string | null {
  const host = URL.parse(`http://[${six}]`)?.hostname.slice(1, -1) ?? ''
  const [before = '', after = ''] = host.split('::', 2)
  const front = before.split(':')
  const back = after.split(':').filter((group) => group !== '')
  const groups = host.includes('::')
    ? [...front, ...Array<string>(8 - front.length - back.length).fill('0'), ...back]
    : front
  if (groups[0] === '2002') return joinBytes(groups.slice(1, 3))
  return host.startsWith('64:ff9b:1:') ? joinBytes(groups.slice(6)) : null
}

function joinBytes(groups: readonly string[]): string {
  const numbers = groups.map((group) => Number.parseInt(group, 16))
  return numbers.flatMap((number) => [number >> 8, number & 255]).join('.')
}

/** Where a machine of Google's or Azure's cloud learns who it is. */
export const metadataOrigin = 'http://169.254.169.254'

/** Names that mean the metadata service wherever they resolve. */
const forbiddenNames = /^(metadata|metadata\.google\.internal|metadata\.goog|instance-data(\.ec2\.internal)?)$/

/**
 * Names that nobody can have in public, so that whoever writes one means a private address: without a dot, or below a
 * suffix that is reserved for it (RFC 6761, 6762, 8375; ICANN's `internal`).
 */
const localName = /^[^.]+$|\.(localhost|local|internal|home\.arpa|lan)$/

export interface HostRule {
  /** Why it must not be called; null: it may be. */
  refused: string | null
  /** Whether it may lead to a private address. */
  mayBePrivate: boolean
}

/** `hostname`: as `URL` gives it, so that other spellings of an address (decimal, octal, short) are resolved already. */
export function evaluateHost(hostname: string, allowPrivate: boolean): HostRule {
  const name = hostname
    .toLowerCase()
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '')
  if (forbiddenNames.test(name)) return { refused: refusal('forbidden'), mayBePrivate: false }
  if (isIP(name) === 0) return { refused: null, mayBePrivate: allowPrivate || localName.test(name) }
  const kind = classifyAddress(name)
  return { refused: kind === 'forbidden' ? refusal(kind) : null, mayBePrivate: true }
}

/**
 * Why an address that a client chose is not called, as half a sentence; null: it may be, if its name leads to no private address. Nobody
 * but the operator may mean a private one.
 */
export function refusePublicAddress({ protocol, hostname, username, password }: URL): string | null {
  if (protocol !== 'https:' && protocol !== 'http:') return 'it is not a web address'
  if (username !== '' || password !== '') return 'the address holds credentials'
  const { refused, mayBePrivate } = evaluateHost(hostname, false)
  const number = hostname.replace(/^\[|\]$/g, '')
  const isPublicNumber = isIP(number) !== 0 && classifyAddress(number) === 'public'
  return refused !== null || (mayBePrivate && !isPublicNumber) ? 'the address is not a public one' : null
}

/** A sentence for operators and records: no address stands in it. */
export function refusal(kind: 'private' | 'forbidden'): string {
  return kind === 'forbidden'
    ? 'The address belongs to the machine or its cloud (link-local, metadata); it is never called.'
    : 'The host name leads to a private address. If that is meant, set allow_private (--allow-private).'
}
