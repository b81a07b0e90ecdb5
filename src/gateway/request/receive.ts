import { type Fault, fault } from '../../core/errors.ts'
import { slicedBytes } from '../../core/json/known-spans.ts'
import { scanInSlices } from '../../core/json/sliced-json.ts'
import type { Limit } from '../../core/policies/policy-limits.ts'
import { loadOnce } from '../../core/threads/load-once.ts'
import { nowDoing } from '../../core/threads/turn-watch.ts'
import { lengthName } from '../../lanes/additional-models.ts'
import type { BodyForm, Inspection } from '../../lanes/contract.ts'
import { longModel, modelLimit } from '../../lanes/request-body.ts'
import {
  admitBody,
  admitCall,
  admitKey,
  checkSource,
  type EffectivePolicy,
  effectivePolicy,
  maxBody,
  type OutputFacts,
  outputCap,
} from '../../policy/admit.ts'
import type { SourceCheck } from '../../policy/checks.ts'
import type { SnapshotKey } from '../../store/configuration/snapshot.ts'
import { beginCapture } from '../capture/capture.ts'
import { checkAnnounced } from '../upload/upload-url.ts'
import type { Arrival } from './arrival.ts'
import { type BodyOutcome, readBody } from './body.ts'
import { Call, type RequestCaller } from './call.ts'
import { takeLimits } from './take-limits.ts'

const sharedLimits = loadOnce(() => import('./take-shared-limits.ts'))
const uploads = loadOnce(() => import('../upload/receive-upload.ts'))

/** Reads the body, if the endpoint takes one, and inspects it. Null: the request was aborted before the body was complete. */
export async function receive(arrival: Arrival, caller: RequestCaller): Promise<Inspection | Fault | null> {
  const { request } = arrival
  const { policy } = caller
  const { requestForms, resumedAs, readWhole } = caller.match.endpoint
  const denied = policy.source === null ? null : admitSource(arrival, policy.source)
  if (denied !== null) return denied
  if (policy.capture !== null) beginCapture(arrival, caller, policy.capture)
  if (requestForms.length === 0) return inspect(arrival, caller)
  const announced = resumedAs === undefined ? null : checkAnnounced(arrival, policy)
  if (announced !== null) return announced
  const form = requestForm(requestForms, request.headers['content-type'])
  if (form !== 'json' && readWhole !== true) {
    const { receiveUpload } = await uploads()
    return checkModelNames(await receiveUpload(arrival, caller, form))
  }
  const charset = checkCharset(request.headers['content-type'])
  if (charset !== null) return charset
  const { bodyLimit, timeouts } = arrival.gateway.settings
  const limits = { bytes: maxBody(policy, bodyLimit), betweenChunksMs: timeouts.betweenChunks, totalMs: timeouts.total }
  const body = await readBody(arrival, limits)
  if (!Buffer.isBuffer(body)) return withoutBody(arrival, policy, body)
  arrival.completeAt = performance.now()
  arrival.body.bytes = body
  arrival.trace.requestBytes = body.length
  if (body.length >= slicedBytes) await scanInSlices(body)
  nowDoing('request', arrival.id)
  return readWhole === true ? await inspectWhole(arrival, caller) : inspect(arrival, caller)
}

/** Checks the client's address and the hour. A WebSocket is checked when it opens. */
export function admitSource({ gateway, clientAddress, receivedAt, trace }: Arrival, checks: readonly SourceCheck[]) {
  const { timeZone } = gateway.model.configuration
  const verdict = checkSource(checks, { address: clientAddress, now: receivedAt, timeZone })
  trace.policySignals.push(...verdict.signals)
  return verdict.fault
}

/** The form of the body: the one that content-type names, if the endpoint takes it, else the endpoint's first form. */
function requestForm(requestForms: readonly BodyForm[], contentType: string | undefined): BodyForm {
  const [only] = requestForms
  if (requestForms.length === 1 && only !== undefined) return only
  const said = readForm(contentType ?? '')
  return said !== null && requestForms.includes(said) ? said : (only ?? 'bytes')
}

function readForm(contentType: string): BodyForm | null {
  const type = contentType.replace(/;.*/s, '').trim().toLowerCase()
  if (type === 'multipart/form-data') return 'multipart'
  if (type === 'application/json' || type.endsWith('+json')) return 'json'
  return type === '' ? null : 'bytes'
}

const usual = 'application/json'
const charset = /charset\s*=\s*["']?([^"';,\s]*)/gi
/** Charsets in which ASCII bytes stand for ASCII characters, and for nothing else. */
const harmless = /^(?:utf-?8|(?:us-)?ascii|iso-?8859-\d+|latin-?\d|windows-125\d)?$/i

/** In another charset (UTF-7, UTF-16) the provider could read members in the body that the gateway's scanner does not see. */
function checkCharset(contentType: string | undefined): Fault | null {
  if (contentType === undefined || contentType === usual) return null
  for (const [, name = ''] of contentType.matchAll(charset)) {
    if (!harmless.test(name))
      return fault(
        'invalid_request',
        'JSON must be in UTF-8. Send it in UTF-8, and name no other charset in content-type.',
      )
  }
  return null
}

/** Why the body is not complete. Null: the request was aborted. */
function withoutBody(arrival: Arrival, policy: EffectivePolicy, outcome: Exclude<BodyOutcome, Buffer>): Fault | null {
  if (outcome !== null && 'tooLarge' in outcome) {
    const verdict = admitBody(outcome.tooLarge, policy, arrival.gateway.settings.bodyLimit)
    arrival.trace.policySignals.push(...verdict.signals)
    return verdict.fault
  }
  // A client that disconnects closes the request before its response.
  if (outcome === null && !arrival.abort.aborted) arrival.abort.disconnect()
  return outcome
}

async function inspectWhole(arrival: Arrival, caller: RequestCaller): Promise<Inspection | Fault> {
  const plain = inspect(arrival, caller)
  if ('code' in plain) return plain
  const context = { contentType: arrival.header('content-type') ?? '', tokenModel: caller.clientSecret?.model ?? null }
  const { inspectWhole: read } = caller.match.endpoint
  return read === undefined ? plain : checkModelNames(await read(plain, arrival.body.bytes, context))
}

function inspect(arrival: Arrival, { match, query }: RequestCaller): Inspection | Fault {
  return checkModelNames(match.endpoint.inspect(match, query, arrival.body.bytes))
}

export function checkModelNames<Found extends Inspection | Fault | null>(found: Found): Found | Fault {
  if (found === null || 'code' in found) return found
  return checkNameLength(found.model, found.additionalModels) ?? found
}

export function checkNameLength(model: string | null, additional: readonly { name: string }[] = []): Fault | null {
  if ((model?.length ?? 0) <= modelLimit && additional.every(({ name }) => name.length <= modelLimit)) return null
  return longModel
}

/** Checks the call against the policies, and takes its limits, which `settle()` releases. Waits only for limits that nodes share. */
export function admit(
  arrival: Arrival,
  caller: RequestCaller,
  inspection: Inspection,
): Call | Fault | Promise<Call | Fault> {
  const { gateway, body, trace } = arrival
  const key = gateway.model.keysVersion === caller.keysVersion ? caller.key : currentKey(arrival, caller.key)
  if ('code' in key) return key
  const policy = effectivePolicy(gateway.model.configuration.policies, key)
  const { bodyLimit, uploadLimit } = gateway.settings
  const facts = {
    lane: caller.lane.name,
    model: inspection.model,
    additionalModels: inspection.additionalModels,
    leavesChoice: inspection.leavesChoice,
    // The rest of an upload is counted while it arrives.
    bytes: body.upload?.received ?? body.bytes.length,
    bodyLimit: body.upload === null ? bodyLimit : uploadLimit,
    output: policy.output === null ? null : outputFacts(caller, inspection, body.bytes),
  }
  const admission = admitCall(facts, policy, gateway.counters)
  trace.policySignals.push(...admission.signals)
  if (admission.fault !== null) return admission.fault
  arrival.inFlight = true
  const call = new Call(arrival, key === caller.key ? caller : { ...caller, key }, inspection)
  arrival.unpriced = policy.unpriced
  call.contentPolicies = policy.content
  if (facts.output !== null) call.outputCap = outputCap(policy.output, facts.output.asked)
  if (policy.limits === null) return call
  return gateway.limits.sharesWindows ? takeShared(call, policy.limits) : (takeLimits(call, policy.limits) ?? call)
}

/** For limits that nodes share: waits for the share that this node does not have yet. */
async function takeShared(call: Call, limits: readonly Limit[]): Promise<Call | Fault> {
  const { takeSharedLimits } = await sharedLimits()
  return (await takeSharedLimits(call, limits)) ?? call
}

function outputFacts({ match }: RequestCaller, inspection: Inspection, body: Buffer): OutputFacts | null {
  const { outputLimits } = match.endpoint
  if (outputLimits === undefined) return null
  const member = () => lengthName(inspection, body, outputLimits, outputLimits.names[0] ?? '')
  return { asked: inspection.outputLimit, member }
}

/** The key's present state: a body can take half an hour to arrive, and a change of its key must apply to it. */
function currentKey({ gateway, trace }: Arrival, before: SnapshotKey): SnapshotKey | Fault {
  const key = gateway.model.findKey(before.hash)
  if (key === undefined) return fault('invalid_key', 'This gateway key was removed while the request was arriving.')
  // The read model makes a new object for a key that changed.
  if (key === before) return key
  trace.key = key
  const { fault: invalid, signals } = admitKey(key, { project: null, environment: null, now: Date.now() })
  if (invalid === null) return key
  trace.policySignals.push(...signals)
  return invalid
}
