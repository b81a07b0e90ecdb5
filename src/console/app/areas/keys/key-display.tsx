import { StateBadge, Time } from '../../parts/index.ts'
import type { Key } from '../outputs.ts'

/** Of a key only this much is known once it was shown. */
export function KeyMark({ lastFour }: { lastFour: string }) {
  return <code className="nowrap">sp_live_…{lastFour}</code>
}

/** The state that every surface shows. After a rotation, `detailed` says until when the old secret works. */
export function KeyState({ state, grace_ends_at, detailed = false }: KeyStateProps) {
  const badge = <StateBadge state={state} />
  if (!detailed || state !== 'active' || grace_ends_at === null) return badge
  return (
    <span className="row">
      {badge}
      <span className="small quiet">
        old secret ends <Time at={grace_ends_at} />
      </span>
    </span>
  )
}

type KeyStateProps = Pick<Key, 'state' | 'grace_ends_at'> & { detailed?: boolean }

/** Refers to a key by ID, in its own scope. */
export function referenceTo({ id, project, environment }: Key): Record<string, unknown> {
  return { key: id, project, environment }
}
