import { askForToken, readAddress, type TokenSource } from '../access-token.ts'
import { textOf } from '../credential.ts'
import type { JsonObject } from '../wire/json.ts'

const publicAuthority = 'https://login.microsoftonline.com'
const publicScope = 'https://cognitiveservices.azure.com/.default'

/**
 * Client credentials of a service principal at Entra ID. Other clouds than the public one name theirs in the document:
 * `authority` and `scope`. They stand beside the secret, since that goes where they say.
 */
export function entraToken(document: JsonObject): TokenSource {
  const text = (member: string) => textOf(document, member)
  const authority = text('authority') || publicAuthority
  const form = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: text('client_id'),
    client_secret: text('client_secret'),
    scope: text('scope') || publicScope,
  }).toString()
  const tenant = encodeURIComponent(text('tenant_id'))
  return {
    key: `${authority} ${tenant} ${form}`,
    sale: async (ask) =>
      askForToken(ask, {
        method: 'POST',
        ...readAddress(authority, `/${tenant}/oauth2/v2.0/token`),
        headers: ['content-type', 'application/x-www-form-urlencoded', 'accept', 'application/json'],
        body: Buffer.from(form),
        connectMs: 5000,
      }),
    refusal: (reason) => {
      const error = {
        message: `Entra ID refused the service principal (${reason}).`,
        type: 'invalid_request_error',
        code: '401',
      }
      return { headers: ['content-type', 'application/json'], body: Buffer.from(JSON.stringify({ error })) }
    },
  }
}
