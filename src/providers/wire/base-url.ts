/** A base URL taken apart; source: contract.md rule 1. `path` has no trailing slash, `query` is '' or without its `?`. */
export interface BaseUrl {
  origin: string
  path: string
  query: string
}

const cache = new Map<string, BaseUrl>()
const cacheSize = 1024

/** Why a text cannot be a base URL, as a sentence for the operator; null when it can. */
export function baseUrlProblem(text: string): string | null {
  if (!URL.canParse(text)) return 'The base URL is not a URL; write it like https://api.openai.com/v1.'
  const url = new URL(text)
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'The base URL must begin with https:// or http://.'
  if (url.username || url.password)
    return 'Leave user name and password out of the base URL; give the credential on its own.'
  return url.hash ? 'Leave the part behind # out of the base URL.' : null
}

/** Where `path` (with its query) lies below `baseUrl`. Throws a `TypeError` for a base URL that `baseUrlProblem` would refuse. */
export function joinBaseUrl(baseUrl: string, path: string): { origin: string; path: string } {
  const base = cache.get(baseUrl) ?? remember(baseUrl)
  const full = base.path + path
  if (base.query === '') return { origin: base.origin, path: full }
  const mark = full.indexOf('?')
  if (mark === -1) return { origin: base.origin, path: `${full}?${base.query}` }
  return { origin: base.origin, path: `${full.slice(0, mark)}?${base.query}&${full.slice(mark + 1)}` }
}

export function splitBaseUrl(text: string): BaseUrl {
  const problem = baseUrlProblem(text)
  if (problem) throw new TypeError(problem)
  const url = new URL(text)
  return { origin: url.origin, path: url.pathname.replace(/\/+$/, ''), query: url.search.slice(1) }
}

/** The base URL with another path. */
export function replacePath(base: BaseUrl, path: string): string {
  return base.origin + path + (base.query ? `?${base.query}` : '')
}

function remember(baseUrl: string): BaseUrl {
  const base = splitBaseUrl(baseUrl)
  if (cache.size >= cacheSize) cache.clear()
  cache.set(baseUrl, base)
  return base
}
