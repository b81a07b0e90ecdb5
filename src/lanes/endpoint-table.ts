import type { Endpoint, Match } from './contract.ts'

/** For each name in braces in a lane's paths, the source of a regular expression without groups. */
export interface PathForms {
  model: string
  version: string
  object: string
}

export type Matcher = (method: string, path: string) => Match | null

/** Compiles the look-up: fixed paths in a map, all others in the table's order. Throws if a path is listed twice. */
export function compileEndpoints(endpoints: readonly Endpoint[], forms: PathForms): Matcher {
  const fixed = new Map<string, Endpoint>()
  const variable: { endpoint: Endpoint; form: RegExp }[] = []
  for (const endpoint of endpoints) {
    if (/[{*]/.test(endpoint.path) || endpoint.method === 'ANY') {
      variable.push({ endpoint, form: compilePath(endpoint.path, forms) })
      continue
    }
    const call = `${endpoint.method} ${endpoint.path}`
    if (fixed.has(call)) throw new Error(`endpoint listed twice: ${call}`)
    fixed.set(call, endpoint)
  }
  return (method, path) => {
    const endpoint = fixed.get(`${method} ${path}`)
    if (endpoint !== undefined) return { endpoint, pathModel: null, path, version: null, object: null }
    return matchVariable(variable, method, path)
  }
}

/**
 * Segments below an object's id are forwarded unchecked, so they must not lead out of the object again: no dots and no
 * encoded slashes, which a server could resolve after decoding the path.
 */
const freeSegment = '(?!\\.{1,2}(?:/|$))(?:[\\w.~:@=+,-]|%3[Aa]|%40)+'

function compilePath(path: string, forms: PathForms): RegExp {
  const source = path
    .replace(':', '(?::|%3[Aa])')
    .replace('{version}', `(?<version>${forms.version})`)
    .replace('{model}', `(?<model>${forms.model})`)
    .replace('{object}', `(?<object>${forms.object})`)
    .replaceAll(/\{\w+\}/g, freeSegment)
    .replace(/\/\*$/, '/.+')
  return new RegExp(`^${source}$`)
}

function matchVariable(
  variable: readonly { endpoint: Endpoint; form: RegExp }[],
  method: string,
  path: string,
): Match | null {
  for (const { endpoint, form } of variable) {
    const found = endpoint.method === method || endpoint.method === 'ANY' ? form.exec(path) : null
    if (found === null) continue
    const groups = found.groups ?? {}
    const model = groups.model === undefined ? null : decode(groups.model)
    const object = groups.object === undefined ? null : decode(groups.object)
    if (model === '' || object === '') return null
    return { endpoint, pathModel: model, path, version: groups.version ?? null, object }
  }
  return null
}

/** Returns '' for a malformed escape: no path matches it. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return ''
  }
}

/** Encodes a model's name for a path. `/` and `:` stay as they are, as in the vendors' own SDKs. */
export function encodeModel(model: string): string {
  return encodeURIComponent(model).replaceAll('%2F', '/').replaceAll('%3A', ':')
}
