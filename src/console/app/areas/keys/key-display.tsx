import { StateBadge, Time } from '../../parts/index.ts'
import type { Key } from '../outputs.ts'

/** Of a key only this much is known once it was shown. */
export function KeyMark({ lastFour }: { lastFour: string }) {
  return <code className="nowrap">sp_live_…{lastFour}</code>
}

/** The state that every face shows. After a rotation the old secret's end is said beside it. */
export function KeyState({ state, grace_ends_at }: Pick<Key, 'state' | 'grace_ends_at'>) {
  return (
    <span className="row key-state">
      <StateBadge state={state} />
      {state === 'active' && grace_ends_at !== null ? (
        <span className="small quiet wide-only">
          old secret ends <Time at={grace_ends_at} />
        </span>
      ) : null}
    </span>
  )
}

/** Refers to a key by ID, in its own scope. */
export function referenceTo({ id, project, environment }: Key): Record<string, unknown> {
  return { key: id, project, environment }
}
