import type { CaptureMode } from '../core/capture.ts'
import type { Fault } from '../core/errors.ts'
import type { LaneName } from '../core/lane.ts'
import type { Limit, LimitRules } from '../core/policies/policy-limits.ts'
import type { RuleValue } from '../core/policies/policy-rules.ts'
import type { Signal } from '../core/record.ts'
import { flatText } from '../core/text/flat-text.ts'
import type { ConfigurationSnapshot, SnapshotKey, SnapshotPolicy } from '../store/configuration/snapshot.ts'
import {
  type BodiesRetention,
  type BodyLimit,
  type NameCheck,
  type OutputLimit,
  type PreparedCheck,
  type RuleCheck,
  ruleChecks,
  type SourceCheck,
  type Strictest,
  type UnpricedRule,
} from './checks.ts'
import type { ContentPolicy } from './content/compile.ts'
import { findLimits, type LimitPlace, type PlacedPolicy } from './limits/find-limits.ts'

/** Each row has its own value type; in this table the types are erased. */
export type CheckTable = Readonly<Record<string, RuleCheck<RuleValue>>>

/**
 * The combined result of several checks; the first rejection ends them. The arrays are shared between requests: copy them, never change
 * them.
 */
export interface Verdict {
  fault: Fault | null
  signals: readonly Signal[]
}

interface CompiledPolicy {
  id: string
  name: string
  /** By the rule's name. */
  rules: Map<string, { value: RuleValue; check: PreparedCheck }>
  /** The limits that it sets. */
  limits: LimitRules
}

/** Everything that applies to a key, sorted by name, so that neither verdicts nor signals depend on where a policy is attached. */
export interface EffectivePolicy {
  policies: readonly CompiledPolicy[]
  /** The key names a policy that is not in the snapshot. It is rejected, since that policy might have denied the request. */
  missing: string | null
  /** Checks of address and hour; null: no policy limits them, as for nearly all keys. */
  source: readonly SourceCheck[] | null
  checkLane(lane: LaneName): Verdict
  checkModel(model: string): Verdict
  /** Names of the policies that limit models. */
  modelLimits: readonly string[]
  /** The smallest limit of all policies. */
  body: BodyLimit | null
  /** null: no policy sets this rule. */
  unpriced: UnpricedRule | null
  /** The smallest output limit of all policies. */
  output: OutputLimit | null
  /** Content rules; null: none, and neither prompts nor answers are read for them. */
  content: readonly ContentPolicy[] | null
  /** null: no policy captures bodies. `retention`: the shortest of all policies; null: none sets it. */
  capture: { mode: CaptureMode; signal: Signal; retention: BodiesRetention | null } | null
  /** The key's limits, from narrow to wide; null: none. */
  limits: readonly Limit[] | null
}

export interface CompiledPolicies {
  byId: Map<string, CompiledPolicy>
  workspace: readonly CompiledPolicy[]
  /** By id of project, environment or key. */
  attached: Map<string, CompiledPolicy[]>
  /** A changed key is a new object, so an entry of the old one is never used for it. */
  byKey: WeakMap<SnapshotKey, EffectivePolicy>
  /** Keys with the same policies share one value. */
  bySet: Map<string, EffectivePolicy>
  table: CheckTable
}

/** Clients choose the names, so the memory is bounded: beyond this it is cleared. */
const rememberedNames = 1000
const nothingToSay: Verdict = Object.freeze({ fault: null, signals: Object.freeze([]) })

/** For the same policies the verdict on a name is always the same. Its signals go onto the record of every request that names it. */
function rememberVerdicts(checks: readonly NameCheck[]): (name: string) => Verdict {
  const verdicts = new Map<string, Verdict>()
  return (name) => {
    if (checks.length === 0) return nothingToSay
    const known = verdicts.get(name)
    if (known !== undefined) return known
    if (verdicts.size >= rememberedNames) verdicts.clear()
    const verdict: Verdict & { signals: Signal[] } = { fault: null, signals: [] }
    for (const check of checks) {
      const { fault, signal } = check(name)
      verdict.signals.push(Object.freeze({ ...signal, text: flatText(signal.text) }))
      verdict.fault = fault
      if (fault !== null) break
    }
    verdicts.set(name, verdict)
    return verdict
  }
}

/** Done once for each snapshot. */
export function compilePolicies(
  configuration: ConfigurationSnapshot,
  table: CheckTable = ruleChecks,
): CompiledPolicies {
  const byId = new Map<string, CompiledPolicy>()
  const attached = new Map<string, CompiledPolicy[]>()
  const workspace: CompiledPolicy[] = []
  for (const policy of configuration.policies) {
    const compiled = compilePolicy(policy, table)
    byId.set(policy.id, compiled)
    if (policy.attachedTo.workspace) workspace.push(compiled)
    for (const id of policy.attachedTo.ids) attached.getOrInsertComputed(id, () => []).push(compiled)
  }
  return { byId, workspace, attached, byKey: new WeakMap(), bySet: new Map(), table }
}

function compilePolicy(policy: SnapshotPolicy, table: CheckTable): CompiledPolicy {
  const { id, name } = policy
  const limits: LimitRules = policy
  const rules: CompiledPolicy['rules'] = new Map()
  for (const [rule, { prepare }] of Object.entries(table)) {
    const value: RuleValue | null | undefined = Reflect.get(policy, rule)
    const isUnset =
      value === null || value === undefined || value === false || (Array.isArray(value) && value.length === 0)
    if (!isUnset) rules.set(rule, { value, check: prepare(value, name, policy) })
  }
  return { id, name, rules, limits }
}

/** The policy of a key: everything attached to the workspace, its project, its environment and itself. */
export function findEffective(compiled: CompiledPolicies, key: SnapshotKey): EffectivePolicy {
  const { found, missing } = findPlaced(compiled, key)
  const policies = [...found.keys()].sort((one, other) => (one.name < other.name ? -1 : 1))
  const set = [...policies.map(({ id }) => id), missing ?? ''].join(' ')
  const shared = compiled.bySet.getOrInsertComputed(set, () => ({
    ...combine(policies, compiled.table),
    policies,
    missing,
    limits: null,
  }))
  const placed: PlacedPolicy[] = policies.flatMap((policy) =>
    [...(found.get(policy) ?? [])].map((place) => ({ ...policy, place, rules: policy.limits })),
  )
  const limits = findLimits(placed, key)
  return limits === null ? shared : { ...shared, limits }
}

/** A policy has separate counters at each place where it is attached. */
function findPlaced(
  compiled: CompiledPolicies,
  key: SnapshotKey,
): { found: Map<CompiledPolicy, Set<LimitPlace>>; missing: string | null } {
  const found = new Map<CompiledPolicy, Set<LimitPlace>>()
  const add = (policies: readonly CompiledPolicy[], place: LimitPlace) => {
    for (const policy of policies) found.getOrInsertComputed(policy, () => new Set()).add(place)
  }
  add(compiled.workspace, 'workspace')
  add(compiled.attached.get(key.projectId) ?? [], 'project')
  add(compiled.attached.get(key.environmentId) ?? [], 'environment')
  add(compiled.attached.get(key.id) ?? [], 'key')
  const own = key.policyId === null ? undefined : compiled.byId.get(key.policyId)
  if (own) add([own], 'key')
  return { found, missing: own ? null : key.policyId }
}

function combine(policies: readonly CompiledPolicy[], table: CheckTable) {
  const checks = Object.entries(table).flatMap(([name, { strictest }]) => {
    const set = policies.flatMap(({ rules }) => rules.get(name) ?? [])
    return findStrictest(set, strictest).map(({ value, check }) => {
      return { ...check, overrules: set.some((other) => other.value !== value) }
    })
  })
  const source = checks.flatMap((check) => check.source ?? [])
  const content = checks.flatMap((check) => check.content ?? [])
  const retention = checks.flatMap(({ bodiesRetention }) => bodiesRetention ?? [])[0] ?? null
  const [capture = null] = checks.flatMap(({ capture, overrules }) => capture?.(overrules) ?? [])
  return {
    source: source.length === 0 ? null : source,
    checkLane: rememberVerdicts(checks.flatMap(({ lane }) => lane ?? [])),
    checkModel: rememberVerdicts(checks.flatMap(({ model }) => model ?? [])),
    modelLimits: policies.flatMap(({ name, rules }) =>
      [...rules.values()].some(({ check }) => check.model) ? name : [],
    ),
    body: checks.flatMap(({ body }) => body ?? []).sort((one, other) => one.bytes - other.bytes)[0] ?? null,
    unpriced: checks.flatMap(({ unpriced }) => unpriced ?? [])[0] ?? null,
    output: checks.flatMap(({ output }) => output ?? []).sort(strictestOutput)[0] ?? null,
    content: content.length === 0 ? null : content,
    capture: capture === null ? null : { ...capture, retention },
  }
}

/** Of equal limits, one that rejects is stricter. */
function strictestOutput(one: OutputLimit, other: OutputLimit): number {
  return one.most - other.most || Number(one.caps) - Number(other.caps)
}

/** The values that apply: each of them, or the strictest. Of equal ones the first counts. */
export function findStrictest<Value, Rule extends { value: Value }>(
  set: readonly Rule[],
  strictest: Strictest<Value>,
): readonly Rule[] {
  if (strictest === 'each' || set.length < 2) return set
  const wanted = set.map(({ value }) => value).reduce((one, other) => strictest.of(one, other))
  return set.filter(({ value }) => value === wanted).slice(0, 1)
}
