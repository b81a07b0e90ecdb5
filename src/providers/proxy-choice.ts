import { isIP } from 'node:net'
import { AddressSet } from '../addresses/address-set.ts'
import type { EgressOptions } from './contract.ts'

/** What the environment says of proxies, by the scheme of what is called. */
export interface Proxies {
  http: string | null
  https: string | null
  /** NO_PROXY, as it stands there. */
  except: string
}

export interface ChosenProxy {
  url: string
  /** The operator of the machine named it; a provider's setting is held to the same rules as its address. */
  trusted: boolean
}

/** Through whom an origin is called; null: nobody. */
export function chooseProxy(origin: string, egress: EgressOptions | null, proxies: Proxies | null): ChosenProxy | null {
  const own = egress?.proxy ?? null
  if (own !== null) return own === 'direct' ? null : { url: own, trusted: false }
  if (proxies === null) return null
  const url = new URL(origin)
  const proxy = url.protocol === 'https:' ? proxies.https : proxies.http
  if (proxy === null || isExcepted(url, proxies.except)) return null
  return { url: proxy, trusted: true }
}

/** Oneself is never behind a proxy. */
function isExcepted(url: URL, except: string): boolean {
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const port = url.port || (url.protocol === 'https:' ? '443' : '80')
  if (host === 'localhost' || host.endsWith('.localhost')) return true
  if (loopback.has(host)) return true
  return except
    .toLowerCase()
    .split(/[\s,]+/)
    .some((entry) => entry !== '' && matches(entry, host, port))
}

const loopback = new AddressSet(['127.0.0.0/8', '::1'])

/** `*`, `example.com` (with all below it), `.example.com`, `host:8443`, an address, or a block of them. */
function matches(entry: string, host: string, port: string): boolean {
  if (entry === '*') return true
  if (entry.includes('/')) return inBlock(entry, host)
  const [, name = '', wanted] = /^\[?(.*?)\]?(?::(\d+))?$/.exec(isIP(entry) === 6 ? `[${entry}]` : entry) ?? []
  if (wanted !== undefined && wanted !== port) return false
  const bare = name.replace(/^\*?\./, '')
  return host === bare || host.endsWith(`.${bare}`)
}

function inBlock(entry: string, host: string): boolean {
  const [net = '', bits = ''] = entry.split('/')
  if (isIP(host) === 0 || isIP(net) !== isIP(host) || !/^\d{1,3}$/.test(bits)) return false
  return Number(bits) <= (isIP(net) === 6 ? 128 : 32) && new AddressSet([entry]).has(host)
}
