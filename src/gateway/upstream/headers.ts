/** Which headers pass, up and down (product.md section 2, wire/lanes.md sections 1.5, 2.5, 3.6). Unknown headers pass. */

import { holdsGatewayKey, keyPrefix } from '../../core/secrets/gateway-key.ts'

const hopByHop = [
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]

/** Never sent up: credentials of any form, headers about the client's way to the gateway, and the names of the client's own account. */
const keptFromProvider = new Set([
  ...hopByHop,
  'host',
  'content-length',
  'expect',
  'authorization',
  'x-api-key',
  'api-key',
  'x-goog-api-key',
  'x-goog-user-project',
  // The gateway sends a JSON body up uncompressed.
  'content-encoding',
  // An answer to a range would look broken or lack its usage (for downloads see `passRange`); another method would be another call.
  'range',
  'if-range',
  'x-goog-fieldmask',
  'x-http-method-override',
  'x-http-method',
  'x-method-override',
  'cookie',
  'origin',
  'referer',
  'forwarded',
  'via',
  'x-real-ip',
  // The gateway reads usage from the answer, so it must be uncompressed.
  'accept-encoding',
  'openai-organization',
  'openai-project',
  'anthropic-workspace-id',
])
const keptFromProviderPrefixes = ['x-sp-', 'x-forwarded-', 'cf-', 'sec-']

/** Never sent down: headers that name the provider's account, and those of the provider's own proxies. */
const keptFromClient = new Set([
  ...hopByHop,
  'content-length',
  'date',
  'server',
  'via',
  'set-cookie',
  'alt-svc',
  'server-timing',
  'strict-transport-security',
  'nel',
  'report-to',
  'reporting-endpoints',
  // A browser would delete its data for the gateway's whole host, including an operator's session.
  'clear-site-data',
  'openai-organization',
  'openai-project',
  'anthropic-organization-id',
  'anthropic-workspace-id',
  'x-gemini-service-tier',
  'x-powered-by',
  'x-served-by',
  'retry-after',
  'retry-after-ms',
  // A client would follow these with its gateway key and bypass the gateway.
  'location',
  'content-location',
  'refresh',
])
const keptFromClientPrefixes = [
  'x-sp-',
  'cf-',
  'x-envoy-',
  'access-control-',
  'x-amz-',
  'x-goog-upload-',
  'x-guploader-',
]

/**
 * The headers to send up, as a flat list: the client's, then `own` (the provider's), which replace any of the same name, then `defaults`,
 * which do not. A header with the presented key, or any gateway key, in its name or value is left out.
 */
export function headersUp(
  raw: readonly string[],
  presented: string | null,
  own: readonly (readonly [string, string])[],
  defaults: readonly (readonly [string, string])[],
): string[] {
  const named = connectionNamed(raw)
  const result: string[] = []
  for (let index = 0; index + 1 < raw.length; index += 2) {
    // biome-ignore lint/style/noNonNullAssertion: the loop ends before the list does, and runs for every request
    const name = raw[index]!.toLowerCase()
    // biome-ignore lint/style/noNonNullAssertion: a pair is whole, as the loop's condition says
    const value = raw[index + 1]!
    if (isKeptFromProvider(name) || named?.has(name)) continue
    if ((presented !== null && value.includes(presented)) || carriesKey(name, value)) continue
    if (own.some(([ownName]) => ownName === name)) continue
    result.push(name, value)
  }
  for (const [name, value] of own) result.push(name, value)
  for (const [name, value] of defaults) if (findHeader(result, name) === null) result.push(name, value)
  result.push('accept-encoding', 'identity')
  return result
}

/** Length of a gateway key: shorter values cannot hold one. */
const keyLength = keyPrefix.length + 49

function carriesKey(name: string, value: string): boolean {
  return (name.length >= keyLength && holdsGatewayKey(name)) || (value.length >= keyLength && holdsGatewayKey(value))
}

/** Also treats `_` as `-`, as servers do that pass headers on as CGI variables. */
function isKeptFromProvider(name: string): boolean {
  const read = name.includes('_') ? name.replaceAll('_', '-') : name
  return keptFromProvider.has(read) || startsWithAny(read, keptFromProviderPrefixes)
}

/** Sends up the client's range, for downloads. */
export function passRange(raw: readonly string[], headers: string[]): void {
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const name = raw[index]?.toLowerCase()
    if (name === 'range' || name === 'if-range') headers.push(name, raw[index + 1] ?? '')
  }
}

/** The provider's headers that the client may see, as a flat list. `retry-after` is the route's value, not that of one target. */
export function headersDown(raw: readonly string[], retryAfterMs: number | null): string[] {
  const named = connectionNamed(raw)
  const result: string[] = []
  for (let index = 0; index + 1 < raw.length; index += 2) {
    // biome-ignore lint/style/noNonNullAssertion: the loop ends before the list does, and runs for every answer
    const name = raw[index]!
    if (keptFromClient.has(name) || startsWithAny(name, keptFromClientPrefixes) || named?.has(name)) continue
    // biome-ignore lint/style/noNonNullAssertion: a pair is whole, as the loop's condition says
    result.push(name, raw[index + 1]!)
  }
  if (retryAfterMs !== null) result.push('retry-after', String(Math.ceil(retryAfterMs / 1000)))
  return result
}

/** A flat list of headers without those that `isLeftOut` names. */
export function headersExcept(headers: readonly string[], isLeftOut: (name: string) => boolean): string[] {
  return headers.filter((_text, index) => !isLeftOut(headers[index - (index % 2)] ?? ''))
}

/** Without the two headers of a trace context. */
export function withoutTrace(headers: readonly string[]): string[] {
  return headersExcept(headers, (name) => name === 'traceparent' || name === 'tracestate')
}

const rateLimitPrefixes = ['x-ratelimit-', 'anthropic-ratelimit-', 'ratelimit', 'x-rate-limit-']

/**
 * Without the provider's rate limits, for a key with limits of its own: the provider's limits are those of an account that many keys share.
 */
export function withoutRateLimits(headers: readonly string[]): readonly string[] {
  const isOfLimits = (name: string) => startsWithAny(name, rateLimitPrefixes)
  if (!headers.some((name, index) => index % 2 === 0 && isOfLimits(name))) return headers
  return headersExcept(headers, isOfLimits)
}

/** Headers that the `Connection` header declares hop-by-hop; null: none, the common case. */
function connectionNamed(raw: readonly string[]): Set<string> | null {
  let named: Set<string> | null = null
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const name = raw[index]
    if (name?.length !== 10 || name.toLowerCase() !== 'connection') continue
    const value = raw[index + 1]?.toLowerCase() ?? ''
    if (value === 'keep-alive' || value === 'close') continue
    named ??= new Set()
    for (const each of value.split(',')) named.add(each.trim())
  }
  return named
}

function startsWithAny(name: string, prefixes: readonly string[]): boolean {
  for (const prefix of prefixes) if (name.startsWith(prefix)) return true
  return false
}

export function findHeader(raw: readonly string[], wanted: string): string | null {
  for (let index = 0; index + 1 < raw.length; index += 2) if (raw[index] === wanted) return raw[index + 1] ?? null
  return null
}

const requestIdHeaders = ['x-request-id', 'request-id', 'apim-request-id', 'x-amzn-requestid']

/** The provider's own id for the call, which its support asks for. */
export function findRequestId(headers: readonly string[]): string | null {
  for (const name of requestIdHeaders) {
    const id = findHeader(headers, name)
    if (id !== null) return id
  }
  return null
}
