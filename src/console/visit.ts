import type { IncomingMessage } from 'node:http'
import { BlockList, isIP } from 'node:net'
import { plainAddress } from '../sign-in/network.ts'
import { cutUserAgent, type Place } from '../sign-in/place.ts'
import { namesLoopback, splitHost } from './access.ts'

/** What a request says about where it came from and what it takes the console for. */
export interface Visit extends Place {
  /** As the client named it, with its port. */
  host: string
  /** Why nobody signs in over this connection; null: it is private. */
  openness: string | null
}

export interface Premises {
  /** As operators see the console; null: they see what was bound. */
  url: string | null
  isTls: boolean
  /** Whose `x-forwarded-for` is believed. */
  trustedProxies: readonly string[]
}

/**
 * null: the host's name is none of the console's. A page elsewhere can have its own name lead here, and would then be of
 * one origin with the console.
 */
export function readVisit(request: IncomingMessage, premises: Premises): Visit | null {
  const { socket, headers } = request
  const host = (headers.host ?? '').toLowerCase()
  const name = splitHost(host)
  const configured = premises.url === null ? null : new URL(premises.url)
  const isConfigured = configured !== null && configured.host === host
  if (!isConfigured && !namesLoopback(host) && !isSameAddress(name, socket.localAddress ?? '')) return null
  const origin = isConfigured ? configured.origin : `${premises.isTls ? 'https' : 'http'}://${host}`
  return {
    host,
    origin,
    openness: isPrivate(origin, host) ? null : whyOpen,
    address: clientAddress(request, premises.trustedProxies),
    userAgent: cutUserAgent(headers['user-agent'] ?? ''),
  }
}

const whyOpen =
  'This connection is neither HTTPS nor local, so everybody on the way could read along; browsers keep no sign-in on it.'

/** Where browsers keep `Secure` cookies and offer passkeys. */
function isPrivate(origin: string, host: string): boolean {
  return origin.startsWith('https://') || namesLoopback(host)
}

function isSameAddress(name: string, local: string): boolean {
  return isIP(name) !== 0 && name === plainAddress(local)
}

export function clientAddress({ socket, headers }: IncomingMessage, proxies: readonly string[]): string {
  const remote = plainAddress(socket.remoteAddress)
  const forwarded = headers['x-forwarded-for']
  if (typeof forwarded !== 'string' || proxies.length === 0) return remote
  const trusted = readProxies(proxies)
  if (!trusts(trusted, remote)) return remote
  const chain = forwarded.split(',').map((each) => each.trim())
  return chain.findLast((address) => isIP(address) !== 0 && !trusts(trusted, address)) ?? remote
}

/** Whether it speaks for others, who may be many. */
export function isProxy(address: string, proxies: readonly string[]): boolean {
  return proxies.length > 0 && trusts(readProxies(proxies), address)
}

function readProxies(proxies: readonly string[]): BlockList {
  const list = new BlockList()
  for (const proxy of proxies) {
    const [address = '', bits] = proxy.split('/')
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4'
    if (bits === undefined) list.addAddress(address, family)
    else list.addSubnet(address, Number(bits), family)
  }
  return list
}

function trusts(list: BlockList, address: string): boolean {
  const family = isIP(address)
  return family !== 0 && list.check(address, family === 6 ? 'ipv6' : 'ipv4')
}

/** Whether the request is the console's own page's, and no other page's that made a browser send it. null: it is. */
export function refuseForeign({ headers }: IncomingMessage, { origin }: Visit, premises: Premises): string | null {
  const own = [origin, ...(premises.url === null ? [] : [new URL(premises.url).origin])]
  if (headers.origin === undefined) return 'It does not say which page sent it.'
  if (!own.includes(headers.origin)) return 'Another page sent it.'
  const site = headers['sec-fetch-site']
  return site === undefined || site === 'same-origin' ? null : 'Another page sent it.'
}

export function sendsJson({ headers }: IncomingMessage): boolean {
  return /^application\/json *(;|$)/i.test(headers['content-type'] ?? '')
}
