import { errorCode } from '../../core/caught.ts'
import { asObject, asString, type JsonObject, parseObject } from '../../core/json/json-value.ts'
import { type Ask, readAddress, TokenRejected } from '../access-token.ts'
import type { OutboundRequest } from '../contract.ts'
import { textOf } from '../credential.ts'
import { baseUrlProblem } from '../wire/base-url.ts'
import { metadataService } from './machine-identity.ts'

/** Signed tokens alone: whatever else a file may hold is never sent anywhere. */
const signedToken = /^[\w-]+\.[\w-]+\.[\w-]+$/
const largestToken = 64 * 1024
/** The only other address of the machine's cloud that may be asked: Azure's, for its identity. */
const azureIdentity = '/metadata/identity/oauth2/token'

/** The token by which the workload's own surroundings say who it is. Throws `TokenRejected`. */
export async function readSubjectToken(document: JsonObject, ask: Ask): Promise<string> {
  const source = asObject(document.credential_source) ?? {}
  const file = asString(source.file)
  const text = file === '' ? await askForText(source, ask) : await readTokenFile(file)
  const format = asObject(source.format)
  const member = asString(format?.subject_token_field_name)
  const token = format?.type === 'json' ? asString(parseObject(Buffer.from(text))?.[member]) : text.trim()
  if (!signedToken.test(token))
    throw new TokenRejected(`what its ${file === '' ? 'url' : 'file'} gives is not a signed token`)
  return token
}

async function readTokenFile(path: string): Promise<string> {
  const { constants, open } = process.getBuiltinModule('node:fs/promises')
  try {
    // A pipe that nobody writes to must not be waited for.
    await using handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(largestToken), 0, largestToken, 0)
    return buffer.toString('utf8', 0, bytesRead)
  } catch (error) {
    const code = errorCode(error) ?? 'unknown'
    throw new TokenRejected(`its token file cannot be read: ${code}`)
  }
}

async function askForText(source: JsonObject, ask: Ask): Promise<string> {
  const url = URL.parse(asString(source.url))
  if (url === null || baseUrlProblem(url.href) !== null)
    throw new TokenRejected('its credential_source.url is no URL of http or https')
  const headers = Object.entries(asObject(source.headers) ?? {}).flatMap(([name, value]) => [
    name.toLowerCase(),
    asString(value),
  ])
  const egress =
    url.origin === metadataService.origin && url.pathname === azureIdentity ? { egress: metadataService.egress } : {}
  const place = { origin: url.origin, path: url.pathname + url.search }
  const answer = await ask({ method: 'GET', ...place, headers, body: null, connectMs: 5000, ...egress })
  if (answer.outcome !== 'answered' || answer.status !== 200)
    throw new TokenRejected(`its credential_source.url gave no token${'status' in answer ? ` (${answer.status})` : ''}`)
  return answer.body.toString()
}

/** RFC 8693. Source: the vendor's AIP 4117, and google-auth-library. */
export function exchangeRequest(document: JsonObject, subjectToken: string, scope: string): OutboundRequest {
  const form = new URLSearchParams({
    grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
    audience: textOf(document, 'audience'),
    scope,
    requested_token_type: 'urn:ietf:params:oauth:token-type:access_token',
    subject_token: subjectToken,
    subject_token_type: textOf(document, 'subject_token_type'),
  })
  return {
    method: 'POST',
    ...readAddress(textOf(document, 'token_url')),
    headers: ['content-type', 'application/x-www-form-urlencoded', 'accept', 'application/json'],
    body: Buffer.from(form.toString()),
    connectMs: 5000,
  }
}

/** Where the workload acts as a service account; null where it has rights of its own. */
export function impersonateRequest(document: JsonObject, token: string, scope: string): OutboundRequest | null {
  const url = textOf(document, 'service_account_impersonation_url')
  if (url === '') return null
  const wanted = asObject(document.service_account_impersonation)?.token_lifetime_seconds
  const lifetime = typeof wanted === 'number' ? wanted : 3600
  return {
    method: 'POST',
    ...readAddress(url),
    headers: ['content-type', 'application/json', 'accept', 'application/json', 'authorization', `Bearer ${token}`],
    body: Buffer.from(JSON.stringify({ scope: [scope], lifetime: `${lifetime}s` })),
    connectMs: 5000,
  }
}
