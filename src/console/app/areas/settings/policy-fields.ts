import { policyRules, writeRules } from '../../../../core/policies/policy-rules.ts'
import type { Key, Policy } from '../outputs.ts'

/** Of the form: what most policies say first, the rest folded away. */
const usual: readonly string[] = [
  'name',
  'rename',
  'attach',
  'budgetUsdMonth',
  'budgetUsdDay',
  'rpm',
  'tpm',
  'concurrency',
  'allowModels',
  'contentRules',
]
const others = Object.keys(policyRules).filter((name) => !usual.includes(name))
export const policyFields = { fields: usual, folded: [...others, 'clear', 'force'] }

/** What a policy answers as the input that would make it: `deny_models` → `denyModels`, `max_body_bytes` → `maxBody`. */
export function inputOfPolicy(policy: Policy): Record<string, unknown> {
  return { rename: policy.name, attach: policy.attached_to, ...writeRules(policyRules, policy) }
}

/** The projects in which one must be an admin to change the policy; null: it is the workspace's. */
export function projectsOfPolicy(
  { attached_to, held_by }: Pick<Policy, 'attached_to' | 'held_by'>,
  keys: readonly Pick<Key, 'name' | 'project'>[],
): (string | null)[] {
  const places = [...attached_to, ...held_by].flatMap((word) => projectsAt(word, keys))
  return places.length === 0 ? [null] : [...new Set(places)]
}

function projectsAt(word: string, keys: readonly Pick<Key, 'name' | 'project'>[]): (string | null)[] {
  const [noun = '', name = ''] = word.split(/:(.*)/s)
  if (noun === 'project') return [name]
  if (noun === 'environment' || name.includes('/')) return [name.split('/', 1)[0] ?? null]
  // Several environments may have one of the name.
  return noun === 'key' ? keys.filter((key) => key.name === name).map(({ project }) => project) : [null]
}
