import { type Fault, fault } from '../core/errors.ts'
import type { LaneName } from '../core/lane.ts'
import type { Signal } from '../core/record.ts'
import { flatText } from '../core/text/flat-text.ts'
import { quote } from '../core/text/quote.ts'
import { describeSize } from '../core/units.ts'
import type { SnapshotKey } from '../store/configuration/snapshot.ts'
import type { OutputLimit, SourceCheck, SourceFacts } from './checks.ts'
import { type Counters, requestsInFlight } from './counters.ts'
import { type CompiledPolicies, type EffectivePolicy, findEffective, type Verdict } from './effective.ts'

export { type CompiledPolicies, compilePolicies, type EffectivePolicy } from './effective.ts'

/**
 * The checks in their order. Each runs when its facts are known: `admitKey` (the key's state, the scope that the request names),
 * `checkSource` (address and hour), `admitCall` (lane, model, size of the body, output). Limits, content rules and budgets are checked
 * elsewhere (docs/architecture.md, steps 4 and 5). The first rejection ends the checks; every rule that was checked leaves a signal.
 */

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
  /** The other models that it names. */
  additionalModels?: readonly { name: string }[] | undefined
  /** The provider may answer with one that it does not name (`"fallbacks": "default"`). */
  leavesChoice?: true | undefined
  /** Of the body. */
  bytes: number
  /** The gateway's own limit for bodies. */
  bodyLimit: number
  /** Absent or null: no policy limits it, or the call's answers have no length that could be limited. */
  output?: OutputFacts | null
}

export interface OutputFacts {
  /** The most output tokens that the request allows; null: it sets no limit. */
  asked: number | null
  /** The member that sets the limit, or would set it; only called if a request is rejected. */
  member(): string
}

/** The policy that applies to a key; computed once for each snapshot. */
export function effectivePolicy(compiled: CompiledPolicies, key: SnapshotKey): EffectivePolicy {
  let effective = compiled.byKey.get(key)
  if (effective === undefined) {
    effective = findEffective(compiled, key)
    compiled.byKey.set(key, effective)
  }
  return effective
}

/** Runs before the body is read: is the key valid, and does it belong to the scope that the request names? */
export function admitKey(key: SnapshotKey, facts: KeyFacts): Verdict {
  const spent = findInvalid(key, facts.now)
  if (spent !== null) return refuse([], 'key', fault('invalid_key', spent))
  if (facts.project === null && facts.environment === null) return goodKey
  const wrong =
    findMismatch('project', facts.project, key.project, key.projectId) ??
    findMismatch('environment', facts.environment, key.environment, key.environmentId)
  if (wrong !== null) return refuse(goodKey.signals, 'scope', fault('scope_mismatch', wrong))
  return goodScope
}

/** Runs before the body is read: may the key be used from this address, and at this hour? */
export function checkSource(checks: readonly SourceCheck[], facts: SourceFacts): Verdict {
  const verdict: Verdict & { signals: Signal[] } = { fault: null, signals: [] }
  for (const check of checks) {
    const { fault: refused, signal } = check(facts)
    verdict.signals.push(signal)
    verdict.fault = refused
    if (refused !== null) break
  }
  return verdict
}

/** Runs after the body is read and before a provider is chosen. A call that passes counts as in flight until it is settled. */
export function admitCall(call: CallFacts, effective: EffectivePolicy, counters: Counters): Verdict {
  const verdict = checkCall(call, effective)
  if (verdict.fault === null) counters.reserve(requestsInFlight, 1, Number.POSITIVE_INFINITY)
  return verdict
}

/** The verdict of `admitCall`, without counting the call as in flight. */
export function checkCall(call: CallFacts, effective: EffectivePolicy): Verdict {
  if (effective.policies.length === 0 && effective.missing === null && call.bytes <= call.bodyLimit) return noPolicy
  const signals: Signal[] = []
  const refused =
    (effective.missing === null ? null : checkMissing(signals, effective.missing)) ??
    addVerdict(signals, effective.checkLane(call.lane)) ??
    checkModels(signals, effective, call) ??
    checkBody(signals, effective, call.bytes, call.bodyLimit) ??
    checkOutput(signals, effective.output, call.output ?? null)
  return { fault: refused, signals }
}

/** The output limit that replaces the request's own; null: the request's own stays. */
export function outputCap(limit: OutputLimit | null, asked: number | null): number | null {
  return limit?.caps === true && (asked === null || asked > limit.most) ? limit.most : null
}

/** Whether the key may see and use a model, for model lists and for the names that an error may show. */
export function mayUseModel(effective: EffectivePolicy, model: string): boolean {
  return effective.missing === null && effective.checkModel(model).fault === null
}

/** The largest body in bytes; the server stops reading there. */
export function maxBody(effective: EffectivePolicy, bodyLimit: number): number {
  return Math.min(bodyLimit, effective.body?.bytes ?? bodyLimit)
}

/** For a body that was announced as too large, or not read to its end. `bytes`: as far as it is known. */
export function admitBody(bytes: number, effective: EffectivePolicy, bodyLimit: number): Verdict {
  const signals: Signal[] = []
  return { fault: checkBody(signals, effective, bytes, bodyLimit), signals }
}

const passed = (rule: string, text: string): Signal => Object.freeze({ rule, verdict: 'pass', text })
const admitted = (...signals: Signal[]): Verdict => Object.freeze({ fault: null, signals: Object.freeze(signals) })
const goodKey = admitted(passed('key', 'The key is valid.'))
const goodScope = admitted(...goodKey.signals, passed('scope', 'The request names the scope of its key.'))
const noPolicy = admitted(passed('policy', 'No policy applies.'))

/** Why the key is no longer valid; null: it is valid. */
export function findInvalid(key: Pick<SnapshotKey, 'revokedAt' | 'expiresAt'>, now: number): string | null {
  // Whenever that was: the clock of who revoked it may be ahead.
  if (key.revokedAt !== null) {
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

function checkMissing(signals: Signal[], missing: string): Fault {
  const reason = fault('policy_denied', 'The policy of this key is missing, so nothing is allowed; ask the operator.')
  signals.push({ rule: 'policy', verdict: 'deny', text: reason.message, data: { policy: missing } })
  return reason
}

function addVerdict(signals: Signal[], verdict: Verdict): Fault | null {
  if (verdict.signals.length > 0) signals.push(...verdict.signals)
  return verdict.fault
}

function checkModels(
  signals: Signal[],
  effective: EffectivePolicy,
  { model, additionalModels = [], leavesChoice }: CallFacts,
): Fault | null {
  let refused: Fault | null = null
  if (model !== null) refused = addVerdict(signals, effective.checkModel(model))
  else
    for (const policy of effective.modelLimits) {
      const text = flatText('The policy ', policy, ' limits models, but the call names none.')
      signals.push({ rule: 'model', verdict: 'pass', text, data: { policy } })
    }
  for (const { name } of additionalModels) refused ??= addVerdict(signals, effective.checkModel(name))
  return refused ?? (leavesChoice === true ? checkChoice(signals, effective) : null)
}

/** Nobody has checked what the provider would choose. */
function checkChoice(signals: Signal[], { modelLimits, unpriced }: EffectivePolicy): Fault | null {
  const policy = modelLimits[0] ?? (unpriced?.denies === true ? unpriced.policy : null)
  if (policy === null) return null
  const limits = modelLimits.length > 0 ? 'limits models' : 'denies models without a price'
  const text = `The policy ${policy} ${limits}, and this request lets the provider choose one to fall back to. Name those in \`fallbacks\`, as \`[{"model": "NAME"}]\`, or leave it out.`
  signals.push({ rule: 'model', verdict: 'deny', text, data: { policy } })
  return fault('policy_denied', text, { param: 'fallbacks' })
}

function checkBody(signals: Signal[], { body }: EffectivePolicy, bytes: number, bodyLimit: number): Fault | null {
  const own = body !== null && body.bytes <= bodyLimit ? body : null
  const limit = own?.bytes ?? bodyLimit
  const data = { policy: own?.policy ?? null, bytes, limit }
  if (bytes <= limit) {
    if (own !== null) signals.push({ rule: 'body', verdict: 'pass', text: own.within, data })
    return null
  }
  const whose = own === null ? 'the gateway' : `the policy ${own.policy}`
  const text = `The body is larger than the ${describeSize(limit)} that ${whose} allows; send a smaller one.`
  signals.push({ rule: 'body', verdict: 'deny', text, data })
  return fault('request_too_large', text)
}

function checkOutput(signals: Signal[], limit: OutputLimit | null, facts: OutputFacts | null): Fault | null {
  if (limit === null || facts === null) return null
  const { most, policy, caps } = limit
  const { asked } = facts
  const data = { policy, asked, limit: most }
  const asks =
    asked === null ? 'The request sets no limit for its answer' : `The request asks for ${asked} output tokens`
  if (asked !== null && asked <= most) {
    const text = flatText(asks, ', and the policy ', policy, ' allows ', String(most), '.')
    signals.push({ rule: 'output', verdict: 'pass', text, data })
    return null
  }
  if (caps) {
    const text = flatText(asks, '; the policy ', policy, ' caps it at ', String(most), '.')
    signals.push({ rule: 'output', verdict: 'note', text, data })
    return null
  }
  const member = facts.member()
  const text = `${asks}, and the policy ${policy} allows ${most}. Set \`${member}\` to at most ${most}.`
  signals.push({ rule: 'output', verdict: 'deny', text, data })
  return fault('policy_denied', text, { param: member })
}

function refuse(before: readonly Signal[], rule: string, reason: Fault): Verdict {
  return { fault: reason, signals: [...before, { rule, verdict: 'deny', text: reason.message }] }
}
