import { formatSize } from '../../../../core/units.ts'
import type { Key, Policy } from '../outputs.ts'

/** Fields of an answer whose input has another name. */
const renamed: Record<string, string> = { attached_to: 'attach', name: 'rename' }

/** What a policy answers as the input that would make it: `deny_models` → `denyModels`, `max_body_bytes` → `maxBody`. */
export function inputOfPolicy(policy: Policy): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(policy).map(([name, value]) => {
      const field = renamed[name] ?? camelCase(name.replace(/_bytes$/, ''))
      return [field, name.endsWith('_bytes') && typeof value === 'number' ? formatSize(value) : value]
    }),
  )
}

function camelCase(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
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
  if (noun === 'environment') return [name.split('/', 1)[0] ?? null]
  // Several environments may have one of the name.
  return noun === 'key' ? keys.filter((key) => key.name === name).map(({ project }) => project) : [null]
}
