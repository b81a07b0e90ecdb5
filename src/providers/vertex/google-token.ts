import { createPrivateKey, type KeyObject, sign } from 'node:crypto'
import { asString, type JsonObject, parseObject } from '../../core/json/json-value.ts'
import { ownValue } from '../../core/own-value.ts'
import { type Ask, askForToken, type IssuedToken, readAddress, TokenRejected } from '../access-token.ts'
import type { ProviderTarget } from '../contract.ts'
import { textOf } from '../credential.ts'
import { exchangeRequest, impersonateRequest, readSubjectToken } from './external-account.ts'
import { machineIdentityProblem, metadataService, validateExternalAccount } from './machine-identity.ts'

const publicEndpoint = 'https://oauth2.googleapis.com/token'
/** The longest that Google takes. */
const assertionSeconds = 3600
const scope = 'https://www.googleapis.com/auth/cloud-platform'

/** Buys a token with a credential of any of the kinds that Google has. Throws `TokenRejected`. */
export function issueGoogleToken(document: JsonObject, ask: Ask, provider: ProviderTarget): Promise<IssuedToken> {
  const issue = ownValue(issuers, textOf(document, 'type')) ?? issueForAccount
  return issue(document, ask, provider)
}

type IssueToken = (document: JsonObject, ask: Ask, provider: ProviderTarget) => Promise<IssuedToken>

const issuers: Readonly<Record<string, IssueToken>> = {
  async external_account(document, ask, provider) {
    const urls = [textOf(document, 'token_url'), textOf(document, 'service_account_impersonation_url')]
    const problem = machineIdentityProblem(provider, urls) ?? validateExternalAccount(document)
    if (problem !== null) throw new TokenRejected(problem)
    const subject = await readSubjectToken(document, ask)
    const exchanged = await askForToken(ask, exchangeRequest(document, subject, scope))
    const next = 'token' in exchanged ? impersonateRequest(document, exchanged.token, scope) : null
    return next === null ? exchanged : askForToken(ask, next, readImpersonated)
  },
  async gce_metadata(document, ask, provider) {
    const problem = machineIdentityProblem(provider)
    if (problem !== null) throw new TokenRejected(problem)
    const account = encodeURIComponent(textOf(document, 'service_account') || 'default')
    const path = `/computeMetadata/v1/instance/service-accounts/${account}/token?scopes=${encodeURIComponent(scope)}`
    const headers = ['metadata-flavor', 'Google']
    return askForToken(ask, { method: 'GET', ...metadataService, path, headers, body: null, connectMs: 2000 })
  },
}

/** Google names these two otherwise than OAuth does. */
function readImpersonated(body: Buffer): { token: string; lifeSeconds: number | null } {
  const answer = parseObject(body)
  const life = Math.floor((Date.parse(asString(answer?.expireTime)) - Date.now()) / 1000)
  return { token: asString(answer?.accessToken), lifeSeconds: life > 0 ? life : null }
}

/** The key of a service account buys tokens with an assertion that it signs (RFC 7523). */
async function issueForAccount(document: JsonObject, ask: Ask): Promise<IssuedToken> {
  const endpoint = textOf(document, 'token_uri') || publicEndpoint
  const assertion = signAssertion(document, endpoint)
  const form = new URLSearchParams({ grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', assertion })
  return askForToken(ask, {
    method: 'POST',
    ...readAddress(endpoint),
    headers: ['content-type', 'application/x-www-form-urlencoded', 'accept', 'application/json'],
    body: Buffer.from(form.toString()),
    connectMs: 5000,
  })
}

/** A JSON Web Token (RFC 7519), signed with RSA and SHA-256. */
function signAssertion(document: JsonObject, endpoint: string): string {
  const key = readRsaKey(textOf(document, 'private_key'))
  const [keyId, account] = [textOf(document, 'private_key_id'), textOf(document, 'client_email')]
  const issued = Math.floor(Date.now() / 1000)
  const header = { alg: 'RS256', typ: 'JWT', ...(keyId === '' ? {} : { kid: keyId }) }
  const claims = { scope, iss: account, sub: account, aud: endpoint, iat: issued, exp: issued + assertionSeconds }
  const text = `${encodePart(header)}.${encodePart(claims)}`
  return `${text}.${sign('sha256', Buffer.from(text), key).toString('base64url')}`
}

/** With a key of another kind Node would sign in a way that the header does not name. */
function readRsaKey(text: string): KeyObject {
  try {
    const key = createPrivateKey(text)
    if (key.asymmetricKeyType === 'rsa') return key
  } catch {
    // What it says may quote the key.
  }
  throw new TokenRejected('its private key cannot be used')
}

function encodePart(part: JsonObject): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url')
}
