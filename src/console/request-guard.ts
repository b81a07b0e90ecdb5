import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { AddressSet, clientBehind } from '../addresses/address-set.ts'
import { plainAddress } from '../sign-in/network.ts'
import { cutUserAgent, type RequestOrigin } from '../sign-in/place.ts'
import { isLoopbackName, splitHost } from './access.ts'

/** Where a request came from, and the address under which it reached the console. */
export interface RequestSource extends RequestOrigin {
  /** The `Host` header, in lower case, with the port. */
  host: string
  /** Why nobody can sign in over this connection; null: it is private. */
  insecureReason: string | null
}

export interface GuardSettings {
  /** The console's public URL; null: it is reached at the bound address. */
  url: string | null
  isTls: boolean
  /** Proxies whose `x-forwarded-for` is trusted. */
  trustedProxies: readonly string[]
}

/**
 * null: the `Host` is not one of the console's. A web page can point its own host name to this address (DNS rebinding)
 * and would then share an origin with the console.
 */
export function readSource(request: IncomingMessage, guardSettings: GuardSettings): RequestSource | null {
  const { socket, headers } = request
  const host = (headers.host ?? '').toLowerCase()
  const name = splitHost(host)
  const configured = guardSettings.url === null ? null : new URL(guardSettings.url)
  const isConfigured = configured !== null && configured.host === host
  if (!isConfigured && !isLoopbackName(host) && !isSameAddress(name, socket.localAddress ?? '')) return null
  const origin = isConfigured ? configured.origin : `${guardSettings.isTls ? 'https' : 'http'}://${host}`
  return {
    host,
    origin,
    insecureReason: isPrivate(origin, host) ? null : notPrivate,
    address: clientAddress(request, guardSettings.trustedProxies),
    userAgent: cutUserAgent(headers['user-agent'] ?? ''),
  }
}

const notPrivate =
  'This connection is neither HTTPS nor local: others on the network could read it, and browsers keep no session on it.'

/** Browsers keep `Secure` cookies and offer passkeys only here. */
function isPrivate(origin: string, host: string): boolean {
  return origin.startsWith('https://') || isLoopbackName(host)
}

function isSameAddress(name: string, local: string): boolean {
  return isIP(name) !== 0 && name === plainAddress(local)
}

export function clientAddress({ socket, headers }: IncomingMessage, proxies: readonly string[]): string {
  const remote = plainAddress(socket.remoteAddress)
  const forwarded = headers['x-forwarded-for']
  if (typeof forwarded !== 'string' || proxies.length === 0) return remote
  return clientBehind(new AddressSet(proxies), remote, forwarded)
}

/** null: the console's own page sent the request; else why it is rejected as cross-site. */
export function rejectCrossSite(
  { headers }: IncomingMessage,
  { origin }: RequestSource,
  guardSettings: GuardSettings,
): string | null {
  const own = [origin, ...(guardSettings.url === null ? [] : [new URL(guardSettings.url).origin])]
  if (headers.origin === undefined) return 'The request has no Origin header.'
  if (!own.includes(headers.origin)) return 'Another site sent the request.'
  const site = headers['sec-fetch-site']
  return site === undefined || site === 'same-origin' ? null : 'Another site sent the request.'
}

export function sendsJson({ headers }: IncomingMessage): boolean {
  return /^application\/json *(;|$)/i.test(headers['content-type'] ?? '')
}
