import { type Fault, fault } from '../../core/errors.ts'
import type { BodyForm, Inspection } from '../../lanes/contract.ts'
import { admitBody, admitCall, admitKey, type EffectivePolicy, effectivePolicy, maxBody } from '../../policy/admit.ts'
import { beginCapture } from '../capture/capture.ts'
import { checkAnnounced } from '../upload/upload-url.ts'
import type { Arrival } from './arrival.ts'
import { readBody } from './body.ts'
import { Call, type RequestCaller } from './call.ts'

/** Reads the body, as far as the endpoint has one, and what it asks for. Null: the client disconnected while sending. */
export async function receive(arrival: Arrival, caller: RequestCaller): Promise<Inspection | Fault | null> {
  const { gateway, request } = arrival
  const { requestForms, resumedAs, readWhole } = caller.match.endpoint
  const policy = effectivePolicy(gateway.model.configuration.policies, caller.key)
  if (policy.capture !== null) beginCapture(arrival, caller, policy.capture)
  if (requestForms.length === 0) return inspect(arrival, caller)
  const announced = resumedAs === undefined ? null : checkAnnounced(arrival, policy)
  if (announced !== null) return announced
  const form = requestForm(requestForms, request.headers['content-type'])
  if (form !== 'json' && readWhole !== true) {
    const { receiveUpload } = await import('../upload/receive-upload.ts')
    return checkModelName(await receiveUpload(arrival, caller, form))
  }
  const charset = rejectCharset(request.headers['content-type'])
  if (charset !== null) return charset
  const wrong = await readJson(arrival, policy)
  // A request that the gateway itself ended meanwhile is still inspected, for its record.
  if (wrong !== null || arrival.abort.disconnected) return wrong
  return readWhole === true ? await inspectWhole(arrival, caller) : inspect(arrival, caller)
}

/** Which of its forms the body has: as its content-type says, else the first that the endpoint takes. */
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
/** In which names and quotation marks are the bytes that they are in ASCII, and no byte of another letter is one of those. */
const harmless = /^(?:utf-?8|(?:us-)?ascii|iso-?8859-\d+|latin-?\d|windows-125\d)?$/i

/** Why a JSON body in this alphabet is not read: in another (UTF-7, UTF-16), the provider might read other members than are read here. */
function rejectCharset(contentType: string | undefined): Fault | null {
  if (contentType === undefined || contentType === usual) return null
  for (const [, name = ''] of contentType.matchAll(charset)) {
    if (!harmless.test(name))
      return fault(
        'invalid_request',
        'JSON in another alphabet than UTF-8 is not read here; send it in UTF-8, and say no other charset.',
      )
  }
  return null
}

/** Null: `arrival.body` has it, or the client disconnected while sending. */
async function readJson(arrival: Arrival, policy: EffectivePolicy): Promise<Fault | null> {
  const { gateway } = arrival
  const { bodyLimit, timeouts } = gateway.settings
  const limits = {
    bytes: maxBody(policy, bodyLimit),
    betweenChunksMs: timeouts.betweenChunks,
    totalMs: timeouts.total,
  }
  const body = await readBody(arrival.request, limits, gateway, arrival.body)
  if (Buffer.isBuffer(body)) {
    arrival.body.bytes = body
    arrival.trace.requestBytes = body.length
    arrival.completeAt = performance.now()
    return null
  }
  if (body !== null && 'tooLarge' in body) {
    const verdict = admitBody(body.tooLarge, policy, bodyLimit)
    arrival.trace.policySignals.push(...verdict.signals)
    return verdict.fault
  }
  // The response may not have been told yet.
  if (body === null) arrival.abort.disconnect()
  return body
}

async function inspectWhole(arrival: Arrival, caller: RequestCaller): Promise<Inspection | Fault> {
  const plain = inspect(arrival, caller)
  if ('code' in plain) return plain
  const context = { contentType: arrival.header('content-type') ?? '', tokenModel: caller.clientSecret?.model ?? null }
  const { inspectWhole: read } = caller.match.endpoint
  return read === undefined ? plain : checkModelName(await read(plain, arrival.body.bytes, context))
}

function inspect(arrival: Arrival, { match, query }: RequestCaller): Inspection | Fault {
  return checkModelName(match.endpoint.inspect(match, query, arrival.body.bytes))
}

/** The name stands in several places of the record, whose size must be bounded. */
const modelLimit = 512

export function checkModelName<Found extends Inspection | Fault | null>(found: Found): Found | Fault {
  if (found === null || 'code' in found || found.model === null || found.model.length <= modelLimit) return found
  return fault('invalid_request', `The model's name is longer than ${modelLimit} characters.`, { param: 'model' })
}

/** The policies' verdict on what has arrived; what they reserve is the arrival's to release. */
export function admit(arrival: Arrival, caller: RequestCaller, inspection: Inspection): Call | Fault {
  const { gateway, body, trace } = arrival
  trace.inspected(inspection)
  const changed = gateway.model.keysVersion !== caller.keysVersion
  const invalid = changed ? recheckKey(arrival, caller) : null
  if (invalid !== null) return invalid
  const policy = effectivePolicy(gateway.model.configuration.policies, caller.key)
  const { bodyLimit, uploadLimit } = gateway.settings
  const facts = {
    lane: caller.lane.name,
    model: inspection.model,
    further: inspection.additionalModels,
    // What of an upload is not here yet is counted as it comes.
    bytes: body.upload?.received ?? body.bytes.length,
    bodyLimit: body.upload === null ? bodyLimit : uploadLimit,
  }
  const admission = admitCall(facts, policy, gateway.counters)
  trace.policySignals.push(...admission.signals)
  arrival.hold = admission.hold
  return admission.fault ?? new Call(arrival, caller, inspection)
}

/** A body can take half an hour to arrive, and a revocation must not wait for it. A key that changed is a new object. */
function recheckKey({ gateway, trace }: Arrival, { key }: RequestCaller): Fault | null {
  const known = gateway.model.findKey(key.hash)
  if (known === key) return null
  if (known === undefined) return fault('invalid_key', 'This gateway key was removed while the request was arriving.')
  const { fault: invalid, signals } = admitKey(known, { project: null, environment: null, now: Date.now() })
  if (invalid !== null) trace.policySignals.push(...signals)
  return invalid
}
