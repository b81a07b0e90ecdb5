import type { IncomingMessage } from 'node:http'
import { BlockList, isIP } from 'node:net'
import type { Secret } from '../core/secrets/secret.ts'
import { isSame } from '../sign-in/token.ts'

export type MetricsAccess = 'allowed' | 'token-missing' | 'not-local'

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8, 'ipv4')
loopback.addAddress('::1', 'ipv6')

/** Headers that a proxy adds: the client behind it may be anywhere. */
const proxyHeaders = ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip']

export function checkMetricsAccess(request: IncomingMessage, token: Secret | null): MetricsAccess {
  if (token !== null) return hasToken(request, token) ? 'allowed' : 'token-missing'
  return checkLocalAccess(request)
}

/**
 * The client is on this machine. The `Host` must be local as well: a web page can point its own host name to this
 * machine (DNS rebinding) and make a local browser send the request.
 */
export function checkLocalAccess({ socket, headers }: IncomingMessage): MetricsAccess {
  const isLocal = isLoopback(socket.remoteAddress ?? '') && isLoopbackName(headers.host ?? '')
  return isLocal && proxyHeaders.every((name) => headers[name] === undefined) ? 'allowed' : 'not-local'
}

function isLoopback(address: string): boolean {
  const family = isIP(address)
  return family !== 0 && loopback.check(address, family === 6 ? 'ipv6' : 'ipv4')
}

export function isLoopbackName(host: string): boolean {
  const name = splitHost(host)
  return name.toLowerCase() === 'localhost' || isLoopback(name)
}

/** The name or address without its port; '' if `host` is not valid. */
export function splitHost(host: string): string {
  return /^(\[[^\]]*\]|[^:]*)(?::\d+)?$/.exec(host)?.[1]?.replace(/^\[|\]$/g, '') ?? ''
}

function hasToken({ headers }: IncomingMessage, token: Secret): boolean {
  const given = /^Bearer +(.+)$/i.exec(headers.authorization ?? '')?.[1]
  return given !== undefined && isSame(given, token.reveal())
}
