import { StateBadge } from '../../parts/index.ts'
import type { Key } from '../outputs.ts'

/** Of a key only this much is known once it was shown. */
export function KeyMark({ lastFour }: { lastFour: string }) {
  return <code className="nowrap">sp_live_…{lastFour}</code>
}

export function KeyState({ state, grace_ends_at }: Pick<Key, 'state' | 'grace_ends_at'>) {
  if (state === 'active' && grace_ends_at !== null) return <StateBadge state="rotating" tone="good" />
  return <StateBadge state={state} />
}

/** Refers to a key by ID, in its own scope. */
export function referenceTo({ id, project, environment }: Key): Record<string, unknown> {
  return { key: id, project, environment }
}
