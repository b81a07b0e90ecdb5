import { scanObject } from '../../core/json/json-scan.ts'
import { asObject, asString, parseJson } from '../../core/json/json-value.ts'
import { skipSpace } from '../../core/json/json-walk.ts'
import type { OutboundRequest } from '../contract.ts'

/** What the clouds that host Anthropic's models share: members that move out of the body, and errors of their own. */

const comma = 0x2c

/** What is hosted there takes JSON alone, and that is read whole. */
export function bytesOf(body: OutboundRequest['body']): Buffer {
  return Buffer.isBuffer(body) ? body : Buffer.alloc(0)
}

/**
 * The body with members taken out and others put in; every other byte stays as it is. `added` are JSON texts by name, at least
 * one; what the client wrote under such a name itself stays. The same buffer where the body is no object.
 */
export function changeMembers(
  body: Buffer,
  removed: readonly string[],
  added: Readonly<Record<string, string>>,
): Buffer {
  const names = Object.keys(added)
  const scan = scanObject(body, [...removed, ...names])
  if (!scan.ok) return body
  const own = new Map(scan.members.map(({ name, start, end }) => [name, body.toString('utf8', start, end)]))
  const kept: Buffer[] = []
  let at = scan.start
  let lastIsCut = false
  for (const member of scan.members) {
    kept.push(body.subarray(at, member.keyStart))
    const after = skipSpace(body, member.end, scan.end)
    lastIsCut = body[after] !== comma
    at = lastIsCut ? scan.end - 1 : skipSpace(body, after + 1, scan.end)
  }
  kept.push(body.subarray(at, scan.end - 1))
  const put = names.map((name) => `${JSON.stringify(name)}:${own.get(name) ?? added[name]}`).join(',')
  return Buffer.concat([...kept, Buffer.from(`${scan.empty || lastIsCut ? '' : ','}${put}}`)])
}

const types: Record<number, string> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  408: 'timeout_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  503: 'overloaded_error',
  504: 'timeout_error',
  529: 'overloaded_error',
}

/** An error of the cloud's own in the shape that the lane's SDKs read; one that is in it already keeps its bytes. */
export function anthropicError(status: number, body: Buffer): Buffer {
  const parsed = parseJson(body)
  const whole = asObject(Array.isArray(parsed) ? parsed[0] : parsed)
  if (whole?.type === 'error') return body
  const error = asObject(whole?.error)
  const message = asString(error?.message) || asString(whole?.message) || asString(whole?.Message)
  return renderAnthropicError(types[status] ?? 'api_error', message || `The provider answered ${status}.`)
}

export function renderAnthropicError(type: string, message: string): Buffer {
  return Buffer.from(JSON.stringify({ type: 'error', error: { type, message } }))
}
