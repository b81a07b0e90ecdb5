import { type CaptureMode, captureModes } from '../core/capture.ts'
import type { Fault } from '../core/errors.ts'
import { flatText } from '../core/flat-text.ts'
import type { LaneName } from '../core/lane.ts'
import { compilePattern, isExact, matchesPattern, type Pattern } from '../core/pattern.ts'
import type { Signal } from '../core/record.ts'
import { formatSize } from '../core/units.ts'
import type { ConfigurationSnapshot, SnapshotKey, SnapshotPolicy } from '../store/snapshot.ts'

/** Names and patterns to look a model up in. */
export interface ModelSet {
  exact: ReadonlySet<string>
  patterns: readonly Pattern[]
}

export interface CompiledPolicy {
  id: string
  name: string
  /** null: all. */
  allow: ModelSet | null
  /** null: none. In lower case. */
  deny: ModelSet | null
  /** null: all. */
  lanes: readonly LaneName[] | null
  /** Bytes; null: no limit of its own. */
  maxBody: number | null
  /** null: says nothing about it. */
  capture: CaptureMode | null
}

/** All that applies to a key, by name, so that neither verdict nor signals depend on where a policy is attached. */
export interface EffectivePolicy {
  policies: readonly CompiledPolicy[]
  /** The smallest body limit of them all; `within` says of a body that it keeps it. */
  body: { bytes: number; policy: string; within: string } | null
  /** The least that any of them keeps; null: none of them says anything, and nothing is kept. */
  capture: { mode: CaptureMode; signal: Signal } | null
  /** The key names a policy that the snapshot does not have: refused, since nobody knows what it would have forbidden. */
  missing: string | null
  /** What was found for the models that were asked for last: for one set of policies it is always the same. */
  verdicts: Map<string, ModelVerdict>
}

/** The arrays are shared between requests: copy, never change them. */
export interface ModelVerdict {
  fault: Fault | null
  signals: readonly Signal[]
}

export interface CompiledPolicies {
  byId: Map<string, CompiledPolicy>
  workspace: readonly CompiledPolicy[]
  /** By id of project, environment or key. */
  attached: Map<string, CompiledPolicy[]>
  /** A changed key is a new object, so what is remembered for the old one is never used for it. */
  byKey: WeakMap<SnapshotKey, EffectivePolicy>
  /** Keys to which the same policies apply share one value. */
  bySet: Map<string, EffectivePolicy>
}

const unlimited: EffectivePolicy = Object.freeze({
  policies: [],
  body: null,
  capture: null,
  missing: null,
  verdicts: new Map(),
})

/** Done once a snapshot. */
export function compilePolicies(configuration: ConfigurationSnapshot): CompiledPolicies {
  const byId = new Map<string, CompiledPolicy>()
  const attached = new Map<string, CompiledPolicy[]>()
  const workspace: CompiledPolicy[] = []
  for (const policy of configuration.policies) {
    const compiled = compilePolicy(policy)
    byId.set(policy.id, compiled)
    if (policy.attachedTo.workspace) workspace.push(compiled)
    for (const id of policy.attachedTo.ids) attached.set(id, [...(attached.get(id) ?? []), compiled])
  }
  return { byId, workspace, attached, byKey: new WeakMap(), bySet: new Map() }
}

/** What applies to a key: everything attached to the workspace, its project, its environment and itself. */
export function effectivePolicy(compiled: CompiledPolicies, key: SnapshotKey): EffectivePolicy {
  const known = compiled.byKey.get(key)
  if (known) return known
  const effective = collect(compiled, key)
  compiled.byKey.set(key, effective)
  return effective
}

function collect(compiled: CompiledPolicies, key: SnapshotKey): EffectivePolicy {
  const found = new Set(compiled.workspace)
  for (const id of [key.projectId, key.environmentId, key.id]) {
    for (const policy of compiled.attached.get(id) ?? []) found.add(policy)
  }
  const own = key.policyId === null ? undefined : compiled.byId.get(key.policyId)
  if (own) found.add(own)
  const missing = key.policyId !== null && !own ? key.policyId : null
  if (found.size === 0 && missing === null) return unlimited
  const policies = [...found].sort((one, other) => (one.name < other.name ? -1 : 1))
  return share(compiled, policies, missing)
}

function share(compiled: CompiledPolicies, policies: CompiledPolicy[], missing: string | null): EffectivePolicy {
  const set = [...policies.map(({ id }) => id), missing ?? ''].join(' ')
  const known = compiled.bySet.get(set)
  if (known) return known
  const body = smallestBody(policies)
  const effective = { policies, body, capture: leastCapture(policies), missing, verdicts: new Map() }
  compiled.bySet.set(set, effective)
  return effective
}

function smallestBody(policies: readonly CompiledPolicy[]): EffectivePolicy['body'] {
  let smallest: EffectivePolicy['body'] = null
  for (const { name, maxBody } of policies) {
    if (maxBody === null || (smallest !== null && maxBody >= smallest.bytes)) continue
    const within = flatText('The body is within the ', formatSize(maxBody), ' of the policy ', name, '.')
    smallest = { bytes: maxBody, policy: name, within }
  }
  return smallest
}

const captureTexts = {
  none: 'keeps no bodies',
  redacted: 'keeps the bodies, with secrets and personal data masked',
  full: 'keeps the bodies',
} as const

function leastCapture(policies: readonly CompiledPolicy[]): EffectivePolicy['capture'] {
  for (const mode of captureModes) {
    const policy = policies.find(({ capture }) => capture === mode)
    if (policy === undefined) continue
    const more = policies.some(({ capture }) => capture !== null && capture !== mode)
    const text = `The policy ${policy.name} ${captureTexts[mode]}${more ? '; others that apply would keep more' : ''}.`
    const data = { policy: policy.name, capture: mode }
    return { mode, signal: Object.freeze({ rule: 'capture', verdict: 'note', text: flatText(text), data }) }
  }
  return null
}

function compilePolicy(policy: SnapshotPolicy): CompiledPolicy {
  const { id, name, maxBody, capture } = policy
  return {
    id,
    name,
    allow: compileModels(policy.allowModels),
    // Providers that do not look at the case of a name would otherwise let a denied model through.
    deny: compileModels(policy.denyModels.map((model) => model.toLowerCase())),
    lanes: policy.lanes.length === 0 ? null : policy.lanes,
    maxBody,
    capture,
  }
}

function compileModels(models: readonly string[]): ModelSet | null {
  if (models.length === 0) return null
  const patterns = models.map(compilePattern)
  const exact = patterns.filter(isExact).map(({ text }) => text)
  return { exact: new Set(exact), patterns: patterns.filter((pattern) => !isExact(pattern)) }
}

/** The entry that names the model; null when none does. */
export function findModel(set: ModelSet, model: string): string | null {
  if (set.exact.has(model)) return model
  return set.patterns.find((pattern) => matchesPattern(pattern, model))?.text ?? null
}
