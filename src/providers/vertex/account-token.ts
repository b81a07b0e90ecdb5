import type { LaneName } from '../../core/lane.ts'
import type { TokenSource } from '../access-token.ts'
import type { OutboundRequest } from '../contract.ts'
import { textOf } from '../credential.ts'
import { renderAnthropicError } from '../wire/anthropic-hosted.ts'
import { joinBaseUrl } from '../wire/base-url.ts'
import type { JsonObject } from '../wire/json.ts'

const publicEndpoint = 'https://oauth2.googleapis.com/token'
const scope = 'https://www.googleapis.com/auth/cloud-platform'

/** The key of a service account buys tokens with an assertion that it signs (RFC 7523). */
export function serviceAccountToken(document: JsonObject, lane: LaneName): TokenSource {
  const endpoint = textOf(document, 'token_uri') || publicEndpoint
  return {
    key: `${endpoint} ${textOf(document, 'client_email')} ${textOf(document, 'private_key')}`,
    request: () => askWithAssertion(document, endpoint),
    refusal(reason) {
      const message = `The service account was refused (${reason}).`
      const google = { error: { code: 401, message, status: 'UNAUTHENTICATED' } }
      const body =
        lane === 'anthropic'
          ? renderAnthropicError('authentication_error', message)
          : Buffer.from(JSON.stringify(google))
      return { headers: ['content-type', 'application/json'], body }
    },
  }
}

async function askWithAssertion(document: JsonObject, endpoint: string): Promise<OutboundRequest> {
  const [{ importPKCS8 }, { SignJWT }] = await Promise.all([import('jose/key/import'), import('jose/jwt/sign')])
  const key = await importPKCS8(textOf(document, 'private_key'), 'RS256')
  const keyId = textOf(document, 'private_key_id')
  const assertion = await new SignJWT({ scope })
    .setProtectedHeader({ alg: 'RS256', typ: 'JWT', ...(keyId === '' ? {} : { kid: keyId }) })
    .setIssuer(textOf(document, 'client_email'))
    .setSubject(textOf(document, 'client_email'))
    .setAudience(endpoint)
    .setIssuedAt()
    .setExpirationTime('1h')
    .sign(key)
  const form = new URLSearchParams({ grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', assertion })
  return {
    method: 'POST',
    ...joinBaseUrl(endpoint, ''),
    headers: ['content-type', 'application/x-www-form-urlencoded', 'accept', 'application/json'],
    body: Buffer.from(form.toString()),
    connectMs: 5000,
  }
}
