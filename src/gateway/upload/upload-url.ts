import { type Fault, fault } from '../../core/errors.ts'
import { admitBody, admitKey, type EffectivePolicy, effectivePolicy, maxBody } from '../../policy/admit.ts'
import { laneUrls } from '../objects/lane-urls.ts'
import type { Arrival } from '../request/arrival.ts'
import type { Call, RequestCaller } from '../request/call.ts'
import { findCredential, hashCredential, unknownKeyFault } from '../request/credentials.ts'
import type { Answer } from '../upstream/evaluate.ts'
import { findHeader } from '../upstream/headers.ts'
import { credentialIdOf } from '../upstream/leg.ts'

/**
 * A resumable upload continues at a URL that the provider returns, and one SDK sends nothing but the bytes there. So clients get a URL of
 * this gateway, with a token that contains the provider's URL and the upload's owner. Source: wire/lanes.md, section 3.4; contract.md, rule
 * 9.
 */
interface UploadSession {
  /** Path and query below the provider's base URL. */
  path: string
  providerId: string
  credentialId: string | null
  keyId: string
}

const parameter = 'upload_id'
const lifeMs = 24 * 60 * 60 * 1000

const unknownUrl = fault(
  'invalid_key',
  'This gateway did not issue this upload URL, or has changed its keys since. Start the upload again.',
)
const expiredUrl = fault('invalid_key', 'This upload URL has expired: it is valid for a day. Start the upload again.')
const otherKey = fault(
  'conflicting_credentials',
  'This upload was begun with another gateway key. Send the key that began it, or none.',
)

/**
 * Identifies who continues an upload, and where, by the token in the query, which takes the place of a key. Null: there is no token, and
 * the call is like any other.
 */
export function resumeUpload(arrival: Arrival): RequestCaller | Fault | null {
  const { gateway, lane, match } = arrival
  const token = new URLSearchParams(arrival.query).get(parameter)
  if (token === null || lane === null || match === null) return null
  const opened = gateway.model.configuration.tokens.open('upload', token, arrival.receivedAt)
  if (opened.state !== 'open') return opened.state === 'expired' ? expiredUrl : unknownUrl
  const session = JSON.parse(opened.payload) as UploadSession
  const owner = identifyOwner(arrival, session)
  if ('code' in owner) return owner
  const mark = session.path.indexOf('?')
  const path = mark < 0 ? session.path : session.path.slice(0, mark)
  const continued = { ...match, endpoint: match.endpoint.resumedAs ?? match.endpoint, path, object: null }
  arrival.matched(lane, continued)
  const { providerId, credentialId } = session
  return {
    ...owner,
    policy: effectivePolicy(gateway.model.configuration.policies, owner.key),
    keysVersion: gateway.model.keysVersion,
    lane,
    match: continued,
    query: mark < 0 ? '' : session.path.slice(mark),
    pin: { what: 'upload', providerId, credentialId, once: true },
    clientSecret: null,
  }
}

/** Rejects a file whose announced size is over the limit before any of it arrives. */
export function checkAnnounced(arrival: Arrival, policy: EffectivePolicy): Fault | null {
  const announced = Number(arrival.header('x-goog-upload-header-content-length') ?? 0)
  const { uploadLimit } = arrival.gateway.settings
  if (!(announced > maxBody(policy, uploadLimit))) return null
  const verdict = admitBody(announced, policy, uploadLimit)
  arrival.trace.policySignals.push(...verdict.signals)
  return verdict.fault
}

/** The key's state counts as in every call. If a key is sent as well, it must be the same one. */
function identifyOwner(
  { gateway, request, query, receivedAt, trace }: Arrival,
  { keyId }: UploadSession,
): Pick<RequestCaller, 'key' | 'presented'> | Fault {
  const sent = findCredential(request.headers, query)
  if (typeof sent !== 'string' && sent.code !== 'missing_key') return sent
  const presented = typeof sent === 'string' ? sent : null
  if (presented !== null) {
    const known = gateway.model.findKey(hashCredential(presented))
    if (known === undefined) return unknownKeyFault(presented)
    if (known.id !== keyId) return otherKey
    trace.key = known
  }
  trace.key ??= gateway.model.findKeyById(keyId)
  const { key } = trace
  if (key === null) return fault('invalid_key', 'The gateway key that began this upload was removed.')
  const { fault: invalid, signals } = admitKey(key, { project: null, environment: null, now: receivedAt })
  trace.policySignals.push(...signals)
  return invalid ?? { key, presented }
}

const passed = ['x-goog-upload-status', 'x-goog-upload-chunk-granularity', 'x-goog-upload-size-received']
const urls = ['x-goog-upload-url', 'x-goog-upload-control-url']

/** Headers that tell the client the state of the upload, and to continue it at this gateway. */
export function uploadHeaders(call: Call, answer: Answer): readonly string[] {
  const { headers } = answer.gated.head
  const result: string[] = []
  for (const name of passed) {
    const value = findHeader(headers, name)
    if (value !== null) result.push(name, value)
  }
  for (const name of urls) {
    const value = findHeader(headers, name)
    const url = value === null ? null : sessionUrl(call, answer, value)
    if (url !== null) result.push(name, url)
  }
  return result
}

function sessionUrl(call: Call, { leg }: Answer, providerUrl: string): string | null {
  const { lane, provider: base } = laneUrls(call, leg.provider)
  const path = below(base, providerUrl)
  if (path === null) return null
  const session: UploadSession = {
    path,
    providerId: leg.provider.row.id,
    credentialId: credentialIdOf(leg),
    keyId: call.key.id,
  }
  const { tokens } = call.gateway.model.configuration
  const token = tokens.seal('upload', JSON.stringify(session), Date.now() + lifeMs)
  const version = call.match.version ?? 'v1beta'
  return `${lane}/upload/${version}/files?${parameter}=${token}&upload_protocol=resumable`
}

/** The path and query of a provider's URL. Another host is never followed: the request goes to the configured one. null: not a URL. */
function below(base: string, url: string): string | null {
  if (url.startsWith(`${base}/`)) return url.slice(base.length)
  const read = URL.parse(url, base)
  return read === null ? null : read.pathname + read.search
}
