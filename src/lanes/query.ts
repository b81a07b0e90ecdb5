import { holdsGatewayKey } from '../core/secrets/gateway-key.ts'

/** Query parameters that carry the gateway's own credential (wire/lanes.md, section 0). They are never forwarded. */
const credentialNames = new Set(['key', 'access_token'])
/**
 * Names by which some servers read another method, or headers, from the query: the call would not be the one that was
 * checked.
 */
const overrideName = /^(?:\$http|(?:_method|x[_-](?:http[_-])?method(?:[_-]override)?)$)/i

/**
 * The query without credentials and overrides, otherwise byte for byte: '' or '?…'. A parameter that contains a gateway
 * key in its name or value, in any encoding, is a credential whatever it is called.
 */
export function forwardedQuery(query: string): string {
  const text = query.startsWith('?') ? query.slice(1) : query
  if (text === '') return ''
  const kept = text.split('&').filter((part) => !isKeptBack(part))
  return kept.length === 0 ? '' : `?${kept.join('&')}`
}

function isKeptBack(part: string): boolean {
  return credentialNames.has(parameterName(part)) || overrideName.test(lenientName(part)) || holdsGatewayKey(part)
}

/** Decodes as a server does that leaves malformed escapes as they are. */
function lenientName(part: string): string {
  const [[name] = ['']] = new URLSearchParams(part)
  return name.trim()
}

/**
 * The query with one parameter set, otherwise byte for byte: '?…'. `aliases`: other names of the parameter, which are
 * removed.
 */
export function writeQuery(query: string, name: string, value: string, aliases: readonly string[] = []): string {
  const text = query.startsWith('?') ? query.slice(1) : query
  const others = [name, ...aliases]
  const kept = text.split('&').filter((part) => part !== '' && !others.includes(parameterName(part)))
  return `?${[...kept, `${name}=${encodeURIComponent(value)}`].join('&')}`
}

function parameterName(part: string): string {
  const name = part.split('=', 1)[0] ?? ''
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}

export function readQuery(query: string): URLSearchParams {
  return new URLSearchParams(query)
}

/** No page is larger, whatever is asked for. */
const mostPerPage = 1000

/** A page size: `standard` when absent or not a number. */
export function readPageSize(text: string | null, standard: number): number {
  const size = text === null ? Number.NaN : Number(text)
  return Number.isInteger(size) && size > 0 ? Math.min(size, mostPerPage) : standard
}
