import { type Fault, fault } from '../../core/errors.ts'
import type { Signal } from '../../core/record.ts'
import { quote } from '../../core/text/quote.ts'
import type { Lane, Match } from '../../lanes/contract.ts'
import { suggestPath } from '../../lanes/index.ts'
import { admitKey, effectivePolicy } from '../../policy/admit.ts'
import { openSecret } from '../sockets/client-secrets.ts'
import { resumeUpload } from '../upload/upload-url.ts'
import type { Arrival } from './arrival.ts'
import type { RequestCaller } from './call.ts'
import { findCredential, hashCredential, unknownKeyFault } from './credentials.ts'

/** After this time a load balancer that checks `/readyz` has moved to another node. */
const otherNodeMs = 5000
const isolatedText =
  'This node of the gateway has been cut off from the others for too long to serve alone. Try again: another node may answer.'
const unjoinedText =
  'This node of the gateway has not joined the others yet, or was removed from them. Try again: another node may answer.'

/**
 * Finds out who calls, and which endpoint, from the head alone: without a valid key no byte of the body is read, and no client learns
 * whether there is anything at a path (contract.md rule 14).
 */
export function identify(arrival: Arrival): RequestCaller | Fault {
  const { request, match, query, trace } = arrival
  const malformed = checkHead(arrival)
  if (malformed !== null) return malformed
  if (match?.endpoint.resumedAs !== undefined) {
    const resumed = resumeUpload(arrival)
    if (resumed !== null) return resumed
  }
  const presented = findCredential(request.headers, query)
  if (typeof presented !== 'string') return presented
  const known = arrival.gateway.model.findKey(hashCredential(presented))
  const opened = known === undefined ? openSecret(arrival, presented) : null
  if (opened !== null && 'code' in opened) return opened
  const key = known ?? opened?.key ?? refuseUnknown(arrival, presented)
  if ('code' in key) return key
  trace.key = key
  // Repeated headers arrive joined, so each is one string.
  const { 'x-sp-project': project, 'x-sp-environment': environment } = request.headers
  const scope = { project: project?.toString() ?? null, environment: environment?.toString() ?? null }
  const admission = admitKey(key, { ...scope, now: arrival.receivedAt })
  trace.policySignals.push(...admission.signals)
  if (admission.fault !== null) return admission.fault
  const isolated = arrival.gateway.degraded.find(({ part }) => part === 'isolated')
  if (isolated !== undefined) return fault('overloaded', isolatedText, { retryAfterMs: otherNodeMs })
  const { model } = arrival.gateway
  const policy = effectivePolicy(model.configuration.policies, key)
  const found = checkPath(arrival)
  if ('code' in found) return found
  const { lane } = found
  return {
    key,
    policy,
    keysVersion: model.keysVersion,
    presented,
    lane,
    match: found.match,
    query,
    pin: opened?.pin ?? null,
    clientSecret: opened?.clientSecret ?? null,
  }
}

/** A node that has not joined the others yet does not know their keys: another one may know this key. */
function refuseUnknown({ gateway }: Arrival, presented: string): Fault {
  const unjoined = gateway.degraded.some(({ part }) => part === 'membership')
  return unjoined ? fault('overloaded', unjoinedText, { retryAfterMs: otherNodeMs }) : unknownKeyFault(presented)
}

/** Rejects heads that Node's parser accepts and the gateway does not. */
function checkHead({ request }: Arrival): Fault | null {
  const { host, 'transfer-encoding': coding } = request.headers
  if (coding !== undefined && coding.toLowerCase() !== 'chunked') return fault('unsupported_transfer')
  // An HTTP/1.0 proxy does not know chunks and would parse them as the next request (RFC 9112, 6.1).
  if (coding !== undefined && request.httpVersion === '1.0') return fault('unsupported_transfer', chunksBefore)
  if (host === undefined && request.httpVersion === '1.1')
    return fault('invalid_request', 'The request has no Host header; HTTP/1.1 asks for one.')
  // Node joins repeated Host headers like any other, and URLs in answers are made from this value.
  if (host?.includes(',')) return fault('invalid_request', 'The request has more than one Host header; send one.')
  return null
}

function checkPath({ gateway, request, path, lane, match, trace }: Arrival): { lane: Lane; match: Match } | Fault {
  const { method = '' } = request
  const call = () => `${method} ${quote(path)}`
  if (lane === null || match === null) {
    const meant = suggestPath(method, path)
    const advice = meant === null ? '' : ` Did you mean ${quote(meant)}?`
    const rule = path.startsWith('/v1/') ? '' : ': all paths begin with /v1/'
    return fault('unknown_path', `There is nothing at ${call()}${rule}.${advice} Check the base URL and the path.`)
  }
  const { operation, media, served, why = 'it is not offered' } = match.endpoint
  if (served === 'nobody') {
    trace.routingSignals.push({ rule: 'endpoint', verdict: 'deny', text: `Nobody serves ${operation}: ${why}.` })
    return fault('unknown_path', `${call()} is not served here: ${why}.`)
  }
  if (media === 'webrtc') {
    if (!gateway.settings.webrtc) return fault('policy_denied', webrtcDenied)
    trace.routingSignals.push(webrtcUnseen)
  }
  return { lane, match }
}

const chunksBefore = 'HTTP/1.0 knows no transfer-encoding. Send the body with a content-length, or use HTTP/1.1.'
const webrtcUnseen: Signal = Object.freeze({
  rule: 'webrtc',
  verdict: 'note',
  text: 'Sound, text and tokens of this call pass between client and provider: no policy and no record sees them.',
})
const webrtcDenied =
  'WebRTC carries sound straight between client and provider, past policies and records. Connect by WebSocket, or ask the operator to allow it (gateway.webrtc).'
