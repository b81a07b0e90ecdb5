/** Query parameters that carry the gateway's own credential (wire/lanes.md, section 0); they never go on. */
const credentialNames = new Set(['key', 'access_token'])
/** Names by which some servers take another method, or headers, out of the query: that would be another call than the judged one. */
const overrideName = /^(?:\$http|(?:_method|x[_-](?:http[_-])?method(?:[_-]override)?)$)/i

/** The query without credentials and overrides, all else byte for byte: '' or '?…'. */
export function forwardedQuery(query: string): string {
  const text = query.startsWith('?') ? query.slice(1) : query
  if (text === '') return ''
  const kept = text.split('&').filter((part) => !isKeptBack(part))
  return kept.length === 0 ? '' : `?${kept.join('&')}`
}

function isKeptBack(part: string): boolean {
  return credentialNames.has(parameterName(part)) || overrideName.test(lenientName(part))
}

/** As a server reads it that takes malformed escapes as they stand. */
function lenientName(part: string): string {
  const [[name] = ['']] = new URLSearchParams(part)
  return name.trim()
}

/** The query with one parameter set, all else byte for byte: '?…'. `aliases`: other names of it, which go. */
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

/** A page size: `standard` when absent or no number, never over `most`. */
export function readPageSize(text: string | null, standard: number, most: number): number {
  const size = text === null ? Number.NaN : Number(text)
  return Number.isInteger(size) && size > 0 ? Math.min(size, most) : standard
}
