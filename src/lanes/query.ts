/** Query parameters that carry the gateway's own credential (wire/lanes.md, section 0); they never go on. */
const credentialNames = new Set(['key', 'access_token'])

/** The query without credentials, all else byte for byte: '' or '?…'. */
export function forwardedQuery(query: string): string {
  const text = query.startsWith('?') ? query.slice(1) : query
  if (text === '') return ''
  const kept = text.split('&').filter((part) => !credentialNames.has(parameterName(part)))
  return kept.length === 0 ? '' : `?${kept.join('&')}`
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
