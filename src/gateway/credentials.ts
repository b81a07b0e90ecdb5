import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { type Fault, fault } from '../core/errors.ts'
import { keyForm } from '../core/gateway-key.ts'

/** Headers that carry a key in some SDK family (wire/lanes.md section 0); every lane accepts each of them. */
const keyHeaders = ['x-api-key', 'api-key', 'x-goog-api-key'] as const
const socketProtocol = 'openai-insecure-api-key.'

/** The one credential that the request carries, wherever an SDK put it; a fault when there is none or two differ. */
export function findCredential(headers: IncomingHttpHeaders, query: string): string | Fault {
  const found = new Set<string>()
  const bearer = headers.authorization
  if (bearer !== undefined)
    for (const each of bearer.split(','))
      found.add(
        each
          .trim()
          .replace(/^bearer(\s+|$)/i, '')
          .trim(),
      )
  for (const name of keyHeaders) {
    const value = headers[name]
    if (typeof value === 'string') for (const each of value.split(',')) found.add(each.trim())
  }
  for (const value of queryCredentials(query)) found.add(value)
  for (const value of socketCredentials(headers['sec-websocket-protocol'])) found.add(value)
  found.delete('')
  if (found.size > 1) return fault('conflicting_credentials')
  const [only] = found
  return only ?? fault('missing_key')
}

function queryCredentials(query: string): string[] {
  if (!query.includes('key=') && !query.includes('access_token=')) return []
  const parameters = new URLSearchParams(query)
  return [...parameters.getAll('key'), ...parameters.getAll('access_token')]
}

function socketCredentials(protocols: string | undefined): string[] {
  if (protocols === undefined) return []
  const offered = protocols.split(',').map((each) => each.trim())
  return offered.filter((each) => each.startsWith(socketProtocol)).map((each) => each.slice(socketProtocol.length))
}

/** The look-up hash of a well-formed key; a fault that names what is wrong with any other, without repeating it. */
export function hashCredential(credential: string): { hash: string } | Fault {
  const form = keyForm(credential)
  if (form === 'provider') return fault('provider_key_rejected')
  if (form === 'foreign') {
    return fault(
      'invalid_key',
      'This is no gateway key: gateway keys start with sp_live_. Send one as `Authorization: Bearer sp_live_…`.',
    )
  }
  if (form === 'mistyped') {
    return fault('invalid_key', 'The gateway key is mistyped (its checksum does not fit). Copy it again, whole.')
  }
  return { hash: createHash('sha256').update(credential).digest('base64') }
}
