import { formatSize } from '../../../../core/units.ts'
import type { Policy } from '../outputs.ts'

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
