import type { Fault } from '../core/errors.ts'
import { fault } from '../core/errors.ts'
import { reachFaultPoint } from '../core/fault-point.ts'
import { quote } from '../core/quote.ts'
import type { Signal } from '../core/record.ts'
import type { Inspection } from '../lanes/contract.ts'
import { admitBody, admitCall, admitKey, effectivePolicy, maxBody } from '../policy/admit.ts'
import { type Attempted, attempt } from '../routing/attempt.ts'
import type { Plan } from '../routing/plan.ts'
import { readBody } from './body.ts'
import { beginCapture } from './capture.ts'
import { openSecret } from './client-secrets.ts'
import { findCredential, hashCredential, refuseCredential } from './credentials.ts'
import { estimateHold } from './estimate.ts'
import type { Exchange } from './exchange.ts'
import type { Gateway } from './gateway.ts'
import { startHeartbeat } from './heartbeat.ts'
import type { Answer } from './judge.ts'
import { answerModels } from './model-answers.ts'
import { checkObjects } from './objects/check-objects.ts'
import { answerList } from './objects/list.ts'
import { planFor } from './plan-call.ts'
import { relay } from './relay.ts'
import { refuseAlphabet, requestForm } from './request-form.ts'
import { refuse, settleStopped } from './respond.ts'
import { sendTo } from './send.ts'
import { judgeAnnounced, resumeUpload } from './upload-url.ts'

/** The story of one request: admit → plan → attempt → relay → settle. Every way out settles exactly once. */
export async function serve(gateway: Gateway, exchange: Exchange): Promise<void> {
  const refused = identify(gateway, exchange) ?? (await receive(gateway, exchange)) ?? admit(gateway, exchange)
  if (exchange.stopped) return settleStopped(gateway, exchange)
  if (refused !== null) return refuse(gateway, exchange, refused)
  if (exchange.match!.endpoint.served !== 'provider') return answerModels(gateway, exchange)

  const owned = checkObjects(gateway, exchange)
  if (owned !== null && !(await owned)) return
  if (exchange.match!.endpoint.object?.effect === 'list')
    return answerList(gateway, exchange, { plan: planFor, attempt: attemptAll })
  const planned = planFor(gateway, exchange)
  if (planned.fault !== null) return refuse(gateway, exchange, planned.fault)
  exchange.mark('admitted')
  await gateway.journal.append({ kind: 'admitted', record: exchange.record('admitted', null, estimateHold(exchange)) })
  reachFaultPoint('journal.after-admitted')
  if (exchange.stopped) return settleStopped(gateway, exchange)

  const outcome = await attemptAll(gateway, exchange, planned)
  if (outcome.kind === 'gone') return settleStopped(gateway, exchange)
  if (outcome.kind === 'failed') return refuse(gateway, exchange, outcome.fault)
  return relay(gateway, exchange, outcome.answer, outcome.retryAfterMs)
}

/** Whose request this is and what it asks for, from the head alone: nobody without a key gets a byte of body read. */
export function identify(gateway: Gateway, exchange: Exchange): Fault | null {
  const { request } = exchange
  const { host } = request.headers
  if (host === undefined && request.httpVersion === '1.1')
    return fault('invalid_request', 'The request has no Host header; HTTP/1.1 asks for one.')
  // Two are joined like any header; the addresses that clients are told are made of it.
  if (host?.includes(',')) return fault('invalid_request', 'The request has more than one Host header; send one.')
  if (exchange.match?.endpoint.resumedAs !== undefined) {
    const resumed = resumeUpload(gateway, exchange)
    if (resumed !== undefined) return resumed
  }
  const credential = findCredential(request.headers, exchange.query)
  if (typeof credential !== 'string') return credential
  exchange.presented = credential
  const key =
    gateway.model.findKey(hashCredential(credential)) ??
    openSecret(gateway, exchange, credential) ??
    refuseCredential(credential)
  if ('code' in key) return key
  exchange.key = key
  const scope = { project: exchange.header('x-sp-project'), environment: exchange.header('x-sp-environment') }
  const admission = admitKey(key, { ...scope, now: exchange.receivedAt })
  exchange.policySignals.push(...admission.signals)
  if (admission.fault !== null) return admission.fault
  return checkPath(gateway, exchange)
}

function checkPath(gateway: Gateway, { request, path, match, routingSignals }: Exchange): Fault | null {
  if (match?.endpoint.media !== undefined) {
    if (!gateway.settings.webrtc) return fault('policy_denied', notAllowed)
    routingSignals.push(unseen)
    return null
  }
  if (match !== null && match.endpoint.served !== 'nobody') return null
  const call = `${request.method} ${quote(path)}`
  if (match === null) return fault('unknown_path', `There is nothing at ${call}. Check the base URL and the path.`)
  const { operation, why = 'it is not offered' } = match.endpoint
  routingSignals.push({ rule: 'endpoint', verdict: 'deny', text: `Nobody serves ${operation}: ${why}.` })
  return fault('unknown_path', `${call} is not served here: ${why}.`)
}

const unseen: Signal = Object.freeze({
  rule: 'webrtc',
  verdict: 'note',
  text: 'Sound, text and tokens of this call pass between client and provider: no policy and no record sees them.',
})
const notAllowed =
  'WebRTC carries sound straight between client and provider, past policies and records. Connect by WebSocket, or ask the operator to allow it (gateway.webrtc).'

async function receive(gateway: Gateway, exchange: Exchange): Promise<Fault | null> {
  const { requestForms, resumedAs, readWhole } = exchange.match!.endpoint
  const policy = effectivePolicy(gateway.model.configuration.policies, exchange.key!)
  if (policy.capture !== null) beginCapture(gateway, exchange, policy.capture)
  if (requestForms.length === 0) return inspect(exchange)
  const announced = resumedAs === undefined ? null : judgeAnnounced(gateway, exchange, policy)
  if (announced !== null) return announced
  const form = requestForm(requestForms, exchange.request.headers['content-type'])
  if (form !== 'json' && readWhole !== true) return receiveStream(gateway, exchange, form)
  const odd = refuseAlphabet(exchange.request.headers['content-type'])
  if (odd !== null) return odd
  const { bodyLimit } = gateway.settings
  const { betweenChunks, total } = gateway.settings.timeouts
  const limits = { bytes: maxBody(policy, bodyLimit), betweenChunksMs: betweenChunks, totalMs: total }
  const body = await readBody(exchange.request, limits, gateway, exchange)
  if (Buffer.isBuffer(body)) {
    exchange.body = body
    exchange.complete = performance.now()
    return readWhole === true ? inspectWhole(exchange) : inspect(exchange)
  }
  if (body !== null && 'tooLarge' in body) {
    const verdict = admitBody(body.tooLarge, policy, bodyLimit)
    exchange.policySignals.push(...verdict.signals)
    return verdict.fault
  }
  // Hung up while sending: the response may not have been told yet.
  if (body === null) exchange.gone = true
  return body
}

async function receiveStream(gateway: Gateway, exchange: Exchange, form: 'multipart' | 'bytes'): Promise<Fault | null> {
  const { receiveUpload } = await import('./receive-upload.ts')
  const found = await receiveUpload(gateway, exchange, form)
  return found === null ? null : keepInspection(exchange, found)
}

/** The name stands in several places of the record, whose size must be bounded. */
const modelLimit = 512

async function inspectWhole(exchange: Exchange): Promise<Fault | null> {
  const plain = inspect(exchange)
  if (plain !== null) return plain
  const context = {
    contentType: exchange.header('content-type') ?? '',
    tokenModel: exchange.clientSecret?.model ?? null,
  }
  return keepInspection(
    exchange,
    await exchange.match!.endpoint.inspectWhole!(exchange.inspection!, exchange.body, context),
  )
}

function inspect(exchange: Exchange): Fault | null {
  return keepInspection(exchange, exchange.match!.endpoint.inspect(exchange.match!, exchange.query, exchange.body))
}

export function keepInspection(exchange: Exchange, found: Inspection | Fault): Fault | null {
  if ('code' in found) return found
  if (found.model !== null && found.model.length > modelLimit)
    return fault('invalid_request', `The model's name is longer than ${modelLimit} characters.`, { param: 'model' })
  exchange.inspection = found
  return null
}

/** A body can take half an hour to arrive, and a revocation must not wait for it. A key that changed is a new object. */
function recheckKey(gateway: Gateway, exchange: Exchange): Fault | null {
  const known = gateway.model.findKey(exchange.key!.hash)
  if (known === exchange.key) return null
  if (known === undefined) return fault('invalid_key', 'This gateway key was removed while the request was arriving.')
  const { fault: spent, signals } = admitKey(known, { project: null, environment: null, now: Date.now() })
  if (spent !== null) exchange.policySignals.push(...signals)
  return spent
}

export function admit(gateway: Gateway, exchange: Exchange): Fault | null {
  if (exchange.stopped) return null
  const spent = recheckKey(gateway, exchange)
  if (spent !== null) return spent
  const policy = effectivePolicy(gateway.model.configuration.policies, exchange.key!)
  const { upload, body } = exchange
  const bodyLimit = upload === null ? gateway.settings.bodyLimit : gateway.settings.uploadLimit
  // Of an upload, what is not here yet is counted as it comes.
  const bytes = upload?.received ?? body.length
  const { model, additionalModels: further } = exchange.inspection!
  const call = { lane: exchange.lane!.name, model, further, bytes, bodyLimit }
  const admission = admitCall(call, policy, gateway.counters)
  exchange.policySignals.push(...admission.signals)
  exchange.hold = admission.hold
  return admission.fault
}

export function attemptAll(gateway: Gateway, exchange: Exchange, planned: Plan): Promise<Attempted<Answer>> {
  startHeartbeat(gateway, exchange)
  const retries = exchange.pin?.once ? 0 : (planned.route?.retries ?? 1)
  return attempt(planned.candidates, retries, {
    send: (candidate) => sendTo(gateway, exchange, planned.route, candidate),
    wait: (ms) => waitUnlessGone(gateway, exchange, ms),
    describe: ({ provider, upstreamModel }) =>
      upstreamModel === '' ? provider.name : `${provider.name}/${upstreamModel}`,
    note: (signal) => noteStep(exchange, signal),
    random: gateway.random,
  })
}

/** A provider's error that did not pass after all: what was done instead is its attempt's outcome. */
function noteStep({ routingSignals, attempts }: Exchange, signal: Signal): void {
  routingSignals.push(signal)
  const last = attempts.at(-1)
  if (last?.outcome === 'passed') last.outcome = signal.rule
}

async function waitUnlessGone(gateway: Gateway, exchange: Exchange, ms: number): Promise<boolean> {
  const { done, cancel } = gateway.deadlines.sleep(ms)
  exchange.whenGone(cancel)
  await done
  exchange.whenGone(null)
  return !exchange.stopped
}
