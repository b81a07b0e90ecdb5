import { hash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { type Fault, fault } from '../../core/errors.ts'
import { keyForm } from '../../core/secrets/gateway-key.ts'

/** Headers that carry a key in some SDK family (wire/lanes.md section 0); every lane accepts each of them. */
const keyHeaders = ['x-api-key', 'api-key', 'x-goog-api-key'] as const
const socketProtocol = 'openai-insecure-api-key.'

/** The one credential that the request carries, wherever an SDK put it; a fault when there is none or two differ. */
export function findCredential(headers: IncomingHttpHeaders, query: string): string | Fault {
  let found: string | null = null
  let differ = false
  const note = (written: string) => {
    const credential = written.trim()
    if (credential === '' || credential === found) return
    if (found === null) found = credential
    else differ = true
  }
  for (const each of listed(headers.authorization)) note(each.trim().replace(/^bearer(\s+|$)/i, ''))
  for (const name of keyHeaders) for (const each of listed(headers[name])) note(each)
  for (const value of queryCredentials(query)) note(value)
  for (const value of socketCredentials(headers['sec-websocket-protocol'])) note(value)
  if (differ) return fault('conflicting_credentials')
  return found ?? fault('missing_key')
}

const none: readonly string[] = []

/** A repeated header arrives joined with commas. */
function listed(header: string | string[] | undefined): readonly string[] {
  return typeof header === 'string' ? header.split(',') : none
}

function queryCredentials(query: string): readonly string[] {
  if (!query.includes('key=') && !query.includes('access_token=')) return none
  const parameters = new URLSearchParams(query)
  return [...parameters.getAll('key'), ...parameters.getAll('access_token')]
}

function socketCredentials(protocols: string | undefined): readonly string[] {
  if (protocols === undefined) return none
  const offered = protocols.split(',').map((each) => each.trim())
  return offered.filter((each) => each.startsWith(socketProtocol)).map((each) => each.slice(socketProtocol.length))
}

/** The hash by which a key is looked up. Not cached: hashing takes a quarter of a microsecond. */
export function hashCredential(credential: string): string {
  return hash('sha256', credential, 'base64')
}

/** Why no key matches the credential, judged by its form. The message does not repeat it. */
export function unknownKeyFault(credential: string): Fault {
  switch (keyForm(credential)) {
    case 'provider':
      return fault('provider_key_rejected')
    case 'foreign':
      return fault(
        'invalid_key',
        'This is not a gateway key: gateway keys start with sp_live_. Send one as `Authorization: Bearer sp_live_…`.',
      )
    case 'mistyped':
      return fault('invalid_key', 'The gateway key is mistyped (its checksum does not fit). Copy it again, whole.')
    default:
      return fault('invalid_key', 'No such gateway key. Check that it is whole and belongs to this gateway.')
  }
}
