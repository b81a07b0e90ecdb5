import { type Fault, fault } from '../core/errors.ts'
import { admitBody, admitKey, type EffectivePolicy, maxBody } from '../policy/admit.ts'
import { findCredential, hashCredential, refuseCredential } from './credentials.ts'
import type { Exchange } from './exchange.ts'
import type { Gateway } from './gateway.ts'
import { findHeader } from './headers.ts'
import type { Answer } from './judge.ts'
import { laneUrls } from './objects/lane-urls.ts'

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
 * Whose upload goes on, and where: from the token in the query, which takes the key's place. Undefined where there is none
 * to go on: then it is a call like others.
 */
export function resumeUpload(gateway: Gateway, exchange: Exchange): Fault | null | undefined {
  const token = new URLSearchParams(exchange.query).get(parameter)
  if (token === null) return undefined
  const opened = gateway.model.configuration.tokens.open('upload', token, exchange.receivedAt)
  if (opened.state !== 'open') return opened.state === 'expired' ? expiredUrl : unknownUrl
  const session = JSON.parse(opened.payload) as UploadSession
  const refused = identifyOwner(gateway, exchange, session)
  if (refused === null) direct(exchange, session)
  return refused
}

/** A file that is announced larger than one may send is refused before any of it comes. */
export function judgeAnnounced(gateway: Gateway, exchange: Exchange, policy: EffectivePolicy): Fault | null {
  const announced = Number(exchange.header('x-goog-upload-header-content-length') ?? 0)
  const { uploadLimit } = gateway.settings
  if (!(announced > maxBody(policy, uploadLimit))) return null
  const verdict = admitBody(announced, policy, uploadLimit)
  exchange.policySignals.push(...verdict.signals)
  return verdict.fault
}

/** The key's state counts as in every call; one that is sent besides must be the same. */
function identifyOwner(gateway: Gateway, exchange: Exchange, { keyId }: UploadSession): Fault | null {
  const sent = findCredential(exchange.request.headers, exchange.query)
  if (typeof sent === 'string') {
    exchange.presented = sent
    const presented = gateway.model.findKey(hashCredential(sent))
    if (presented === undefined) return refuseCredential(sent)
    if (presented.id !== keyId) return otherKey
    exchange.key = presented
  } else if (sent.code !== 'missing_key') return sent
  exchange.key ??= gateway.model.findKeyById(keyId)
  if (exchange.key === null) return fault('invalid_key', 'The gateway key that began this upload was removed.')
  const { fault: spent, signals } = admitKey(exchange.key, {
    project: null,
    environment: null,
    now: exchange.receivedAt,
  })
  exchange.policySignals.push(...signals)
  return spent
}

function direct(exchange: Exchange, { path, providerId, credentialId }: UploadSession): void {
  const mark = path.indexOf('?')
  const match = exchange.match!
  exchange.match = {
    ...match,
    endpoint: match.endpoint.resumedAs ?? match.endpoint,
    path: mark < 0 ? path : path.slice(0, mark),
    object: null,
  }
  exchange.query = mark < 0 ? '' : path.slice(mark)
  exchange.pin = { what: 'upload', providerId, credentialId, once: true }
}

const none: readonly string[] = []
const passed = ['x-goog-upload-status', 'x-goog-upload-chunk-granularity', 'x-goog-upload-size-received']
const urls = ['x-goog-upload-url', 'x-goog-upload-control-url']

/** What an upload's client must hear of its state, and where it goes on: here. */
export function uploadHeaders(gateway: Gateway, exchange: Exchange, answer: Answer): readonly string[] {
  const { resumedAs } = exchange.match!.endpoint
  if (resumedAs === undefined && exchange.pin?.once !== true) return none
  const { headers } = answer.gated.head
  const result: string[] = []
  for (const name of passed) {
    const value = findHeader(headers, name)
    if (value !== null) result.push(name, value)
  }
  for (const name of urls) {
    const value = findHeader(headers, name)
    const url = value === null ? null : sessionUrl(gateway, exchange, answer, value)
    if (url !== null) result.push(name, url)
  }
  return result
}

function sessionUrl(gateway: Gateway, exchange: Exchange, answer: Answer, providerUrl: string): string | null {
  const { provider, credentialIndex } = answer
  const { lane, provider: base } = laneUrls(gateway, exchange, provider)
  const path = below(base, providerUrl)
  if (path === null) return null
  const session: UploadSession = {
    path,
    providerId: provider.row.id,
    credentialId: provider.row.credentials[credentialIndex]?.id ?? null,
    keyId: exchange.key!.id,
  }
  const token = gateway.model.configuration.tokens.seal('upload', JSON.stringify(session), Date.now() + lifeMs)
  const version = exchange.match!.version ?? 'v1beta'
  return `${lane}/upload/${version}/files?${parameter}=${token}&upload_protocol=resumable`
}

/** Another host than the provider's is not followed: what it named is asked for where its configuration says. null: it is no URL. */
function below(base: string, url: string): string | null {
  if (url.startsWith(`${base}/`)) return url.slice(base.length)
  const read = URL.parse(url, base)
  return read === null ? null : read.pathname + read.search
}
