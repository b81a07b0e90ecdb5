import { type Fault, fault } from '../../core/errors.ts'
import { admitBody, admitKey, type EffectivePolicy, effectivePolicy, maxBody } from '../../policy/admit.ts'
import { laneUrls } from '../objects/lane-urls.ts'
import type { Arrival } from '../request/arrival.ts'
import type { Call, RequestCaller } from '../request/call.ts'
import { findCredential, hashCredential, unknownKeyFault } from '../request/credentials.ts'
import { type Answer, credentialIdOf } from '../upstream/evaluate.ts'
import { findHeader } from '../upstream/headers.ts'

/**
 * A resumable upload goes on at a URL that the provider gave, and one SDK sends nothing there but the bytes. So clients get
 * a URL of this gateway's, in which a token stands for the provider's and for whose upload it is. Source: wire/lanes.md,
 * section 3.4; contract.md, rule 9.
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
  'This upload URL is not one that this gateway gave out, or it is from before its keys were changed. Start the upload again.',
)
const expiredUrl = fault('invalid_key', 'This upload URL has expired: it is good for a day. Start the upload again.')
const otherKey = fault(
  'conflicting_credentials',
  'This upload was begun with another gateway key. Send the key that began it, or none.',
)

/**
 * Who continues an upload, and where: from the token in the query, which takes the place of a key. Null where there is no token:
 * then it is a call like others.
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

/** A file that is announced larger than one may send is rejected before any of it comes. */
export function checkAnnounced(arrival: Arrival, policy: EffectivePolicy): Fault | null {
  const announced = Number(arrival.header('x-goog-upload-header-content-length') ?? 0)
  const { uploadLimit } = arrival.gateway.settings
  if (!(announced > maxBody(policy, uploadLimit))) return null
  const verdict = admitBody(announced, policy, uploadLimit)
  arrival.trace.policySignals.push(...verdict.signals)
  return verdict.fault
}

/** The key's state counts as in every call; one that is sent besides must be the same. */
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

/** What an upload's client must hear of its state, and where it goes on: here. */
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

/** Another host than the provider's is not followed: what it named is asked for where its configuration says. null: it is no URL. */
function below(base: string, url: string): string | null {
  if (url.startsWith(`${base}/`)) return url.slice(base.length)
  const read = URL.parse(url, base)
  return read === null ? null : read.pathname + read.search
}
