import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { BlockList, isIP } from 'node:net'
import type { Secret } from '../core/secret.ts'

export type Access = 'allowed' | 'token-missing' | 'not-local'

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8, 'ipv4')
loopback.addAddress('::1', 'ipv6')

/** Headers by which a proxy says that it speaks for somebody else, who may be anywhere. */
const proxyHeaders = ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip']

export function judgeMetrics(request: IncomingMessage, token: Secret | null): Access {
  if (token !== null) return hasToken(request, token) ? 'allowed' : 'token-missing'
  return judgeLocal(request)
}

/**
 * Somebody on this machine. The host's name must be the machine's own as well: a page elsewhere can have its own name
 * lead here and so make a browser on this machine ask.
 */
export function judgeLocal({ socket, headers }: IncomingMessage): Access {
  const isLocal = isLoopback(socket.remoteAddress ?? '') && namesLoopback(headers.host ?? '')
  return isLocal && proxyHeaders.every((name) => headers[name] === undefined) ? 'allowed' : 'not-local'
}

function isLoopback(address: string): boolean {
  const family = isIP(address)
  return family !== 0 && loopback.check(address, family === 6 ? 'ipv6' : 'ipv4')
}

export function namesLoopback(host: string): boolean {
  const name = splitHost(host)
  return name.toLowerCase() === 'localhost' || isLoopback(name)
}

/** The name or address without its port; '' for what is no host. */
export function splitHost(host: string): string {
  return /^(\[[^\]]*\]|[^:]*)(?::\d+)?$/.exec(host)?.[1]?.replace(/^\[|\]$/g, '') ?? ''
}

/** Compared as digests, so that neither length nor content shows in the time that it takes. */
function hasToken({ headers }: IncomingMessage, token: Secret): boolean {
  const given = /^Bearer +(.+)$/i.exec(headers.authorization ?? '')?.[1]
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return given !== undefined && timingSafeEqual(digest(given), digest(token.reveal()))
}
