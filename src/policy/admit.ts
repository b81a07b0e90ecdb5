import { type Fault, fault } from '../core/errors.ts'
import { flatText } from '../core/flat-text.ts'
import type { LaneName } from '../core/lane.ts'
import { quote } from '../core/quote.ts'
import type { Signal } from '../core/record.ts'
import { formatSize } from '../core/units.ts'
import type { SnapshotKey } from '../store/snapshot.ts'
import { type Counters, requestsInFlight } from './counters.ts'
import { type CompiledPolicy, type EffectivePolicy, findModel, type ModelSet, type ModelVerdict } from './effective.ts'

export { type CompiledPolicies, compilePolicies, type EffectivePolicy, effectivePolicy } from './effective.ts'

/**
 * The checks, in their fixed order: the key's state, the scope that the request names, then by policy the lane, the
 * model and the size of the body, then the holds. The first refusal ends them. Each step is a function of its own, run
 * when its facts are known; each rule looked at leaves a signal.
 */

/** `fault: null` is admitted. The arrays are shared between requests: copy, never change them. */
export interface Verdict {
  fault: Fault | null
  signals: readonly Signal[]
}

export interface Admission extends Verdict {
  /** What was reserved; given back with `releaseHold`, once, when the request is settled. null when refused. */
  hold: Hold | null
}

/** Amounts by row of the counters. */
export type Hold = readonly { row: number; amount: number }[]

/** Known from the headers alone. */
export interface KeyFacts {
  /** `x-sp-project`, `x-sp-environment`: a name or an id. */
  project: string | null
  environment: string | null
  /** Epoch milliseconds. */
  now: number
}

/** Known once the body has been read. */
export interface CallFacts {
  lane: LaneName
  /** null: the call names none. */
  model: string | null
  /** Of many requests in one body: what else they name. */
  further?: readonly { name: string }[] | undefined
  /** Of the body. */
  bytes: number
  /** The gateway's own limit for bodies. */
  bodyLimit: number
}

export interface AdmitRequest extends KeyFacts, CallFacts {
  key: SnapshotKey
}

/** All steps at once. */
export function admit(request: AdmitRequest, effective: EffectivePolicy, counters: Counters): Admission {
  const first = admitKey(request.key, request)
  if (first.fault !== null) return { ...first, hold: null }
  const second = admitCall(request, effective, counters)
  return { ...second, signals: [...first.signals, ...second.signals] }
}

/** Before the body is read: is the key good, and is it the key of the scope that the request names? */
export function admitKey(key: SnapshotKey, facts: KeyFacts): Verdict {
  const spent = findSpent(key, facts.now)
  if (spent !== null) return refuse([], 'key', fault('invalid_key', spent))
  if (facts.project === null && facts.environment === null) return goodKey
  const wrong =
    findMismatch('project', facts.project, key.project, key.projectId) ??
    findMismatch('environment', facts.environment, key.environment, key.environmentId)
  if (wrong !== null) return refuse(goodKey.signals, 'scope', fault('scope_mismatch', wrong))
  return { fault: null, signals: [keySignal, scopeSignal] }
}

/** After the body is read and before a provider is chosen. Takes the holds when nothing refuses. */
export function admitCall(call: CallFacts, effective: EffectivePolicy, counters: Counters): Admission {
  const verdict = judgeCall(call, effective)
  if (verdict.fault !== null) return { ...verdict, hold: null }
  for (const { row, amount } of callHold) counters.reserve(row, amount, Number.POSITIVE_INFINITY)
  return verdict === noPolicy ? admittedFreely : { ...verdict, hold: callHold }
}

/** What `admitCall` would say, holding nothing. */
export function judgeCall(call: CallFacts, effective: EffectivePolicy): Verdict {
  if (effective.policies.length === 0 && effective.missing === null && call.bytes <= call.bodyLimit) return noPolicy
  const signals: Signal[] = []
  const refused =
    checkMissing(signals, effective) ??
    checkLane(signals, effective, call.lane) ??
    checkModel(signals, effective, call.model) ??
    checkFurther(signals, effective, call.further) ??
    checkBody(signals, effective, call.bytes, call.bodyLimit)
  return { fault: refused, signals }
}

/** Whether the key may see and use a model: for model lists, and for the names that an error may show. */
export function mayUseModel(effective: EffectivePolicy, model: string): boolean {
  return effective.missing === null && checkModel([], effective, model) === null
}

/** How many bytes a body may have; the server stops reading there. */
export function maxBody(effective: EffectivePolicy, bodyLimit: number): number {
  return Math.min(bodyLimit, effective.body?.bytes ?? bodyLimit)
}

/** For a body that announced itself too large, or was not read to its end: `bytes` as far as they are known. */
export function admitBody(bytes: number, effective: EffectivePolicy, bodyLimit: number): Verdict {
  const signals: Signal[] = []
  return { fault: checkBody(signals, effective, bytes, bodyLimit), signals }
}

export function releaseHold(hold: Hold, counters: Counters): void {
  for (const { row, amount } of hold) counters.settle(row, amount, 0)
}

const keySignal: Signal = Object.freeze({ rule: 'key', verdict: 'pass', text: 'The key is valid.' })
const scopeSignal: Signal = Object.freeze({
  rule: 'scope',
  verdict: 'pass',
  text: 'The request names the scope of its key.',
})
const goodKey: Verdict = Object.freeze({ fault: null, signals: Object.freeze([keySignal]) })
const noPolicy: Verdict = Object.freeze({
  fault: null,
  signals: Object.freeze([Object.freeze({ rule: 'policy', verdict: 'pass', text: 'No policy applies.' } as const)]),
})
const callHold: Hold = Object.freeze([Object.freeze({ row: requestsInFlight, amount: 1 })])
const admittedFreely: Admission = Object.freeze({ ...noPolicy, hold: callHold })

function findSpent(key: SnapshotKey, now: number): string | null {
  if (key.revokedAt !== null && key.revokedAt <= now) {
    return 'This gateway key has been revoked; ask the operator for a new one.'
  }
  if (key.expiresAt !== null && key.expiresAt <= now) {
    const when = new Date(key.expiresAt).toISOString()
    return `This gateway key expired at ${when}; use the one that replaced it, or ask the operator for a new one.`
  }
  return null
}

function findMismatch(what: string, named: string | null, name: string, id: string): string | null {
  if (named === null || named === name || named === id) return null
  return (
    `The request names the ${what} ${quote(named)}, but its key belongs to ${quote(name)}. ` +
    `Use a key of that ${what}, or leave the header x-sp-${what} out.`
  )
}

function checkMissing(signals: Signal[], { missing }: EffectivePolicy): Fault | null {
  if (missing === null) return null
  const message = 'The policy of this key is missing, so nothing is allowed; ask the operator.'
  return deny(signals, 'policy', fault('policy_denied', message), { policy: missing })
}

function checkLane(signals: Signal[], { policies }: EffectivePolicy, lane: LaneName): Fault | null {
  for (const { name, lanes } of policies) {
    if (lanes === null) continue
    const data = { policy: name, lane }
    if (!lanes.includes(lane)) {
      const message = `The policy ${name} does not allow the ${lane} lane, only ${lanes.join(' and ')}.`
      return deny(signals, 'lane', fault('policy_denied', message), data)
    }
    pass(signals, 'lane', `The policy ${name} allows the ${lane} lane.`, data)
  }
  return null
}

/** Names are the clients' to choose: so many are remembered, then none. */
const rememberedModels = 1000

function checkModel(signals: Signal[], effective: EffectivePolicy, model: string | null): Fault | null {
  if (model === null) return passWithoutModel(signals, effective.policies)
  let verdict = effective.verdicts.get(model)
  if (verdict === undefined) {
    if (effective.verdicts.size >= rememberedModels) effective.verdicts.clear()
    verdict = judgeModel(effective, model)
    effective.verdicts.set(model, verdict)
  }
  signals.push(...verdict.signals)
  return verdict.fault
}

function checkFurther(signals: Signal[], effective: EffectivePolicy, models: CallFacts['further']): Fault | null {
  for (const { name } of models ?? []) {
    const refused = checkModel(signals, effective, name)
    if (refused !== null) return refused
  }
  return null
}

function judgeModel(effective: EffectivePolicy, model: string): ModelVerdict {
  const signals: Signal[] = []
  const found = findModelFault(signals, effective, model)
  return { fault: found, signals: signals.map((signal) => ({ ...signal, text: flatText(signal.text) })) }
}

/** Denials of all policies come before allowances of any: what is denied once is denied. */
function findModelFault(signals: Signal[], { policies }: EffectivePolicy, model: string): Fault | null {
  for (const { name, deny: denied } of policies) {
    if (denied === null) continue
    const by = findDenied(denied, model)
    if (by !== null) {
      const message = `The policy ${name} does not allow the model ${quote(model)}.`
      return deny(signals, 'model.deny', fault('policy_denied', message, { param: 'model' }), { policy: name, by })
    }
    pass(signals, 'model.deny', `The policy ${name} does not deny ${quote(model)}.`, { policy: name })
  }
  for (const { name, allow } of policies) {
    if (allow === null) continue
    const by = findModel(allow, model)
    if (by === null) {
      const message = `The policy ${name} allows only certain models, and ${quote(model)} is none of them.`
      return deny(signals, 'model.allow', fault('policy_denied', message, { param: 'model' }), { policy: name })
    }
    pass(signals, 'model.allow', `The policy ${name} allows ${quote(model)}.`, { policy: name, by })
  }
  return null
}

/** Vendors that overlook case, blanks or the collection would otherwise let a denied model through under another spelling. */
function findDenied(denied: ModelSet, model: string): string | null {
  const plain = model.trim().toLowerCase()
  return findModel(denied, plain) ?? findModel(denied, plain.replace(/^(?:models\/)+/, ''))
}

function passWithoutModel(signals: Signal[], policies: readonly CompiledPolicy[]): null {
  for (const { name, allow, deny: denied } of policies) {
    if (allow === null && denied === null) continue
    pass(signals, 'model', `The policy ${name} limits models, but the call names none.`, { policy: name })
  }
  return null
}

function checkBody(signals: Signal[], { body }: EffectivePolicy, bytes: number, bodyLimit: number): Fault | null {
  const own = body !== null && body.bytes <= bodyLimit ? body : null
  const limit = own?.bytes ?? bodyLimit
  const data = { policy: own?.policy ?? null, bytes, limit }
  if (bytes <= limit) {
    if (own !== null) pass(signals, 'body', own.within, data)
    return null
  }
  const whose = own === null ? 'the gateway' : `the policy ${own.policy}`
  const message = `The body is larger than the ${formatSize(limit)} that ${whose} allows; send a smaller one.`
  return deny(signals, 'body', fault('request_too_large', message), data)
}

function pass(signals: Signal[], rule: string, text: string, data: NonNullable<Signal['data']>): void {
  signals.push({ rule, verdict: 'pass', text, data })
}

function deny(signals: Signal[], rule: string, reason: Fault, data: NonNullable<Signal['data']>): Fault {
  signals.push({ rule, verdict: 'deny', text: reason.message, data })
  return reason
}

function refuse(before: readonly Signal[], rule: string, reason: Fault): Verdict {
  return { fault: reason, signals: [...before, { rule, verdict: 'deny', text: reason.message }] }
}
