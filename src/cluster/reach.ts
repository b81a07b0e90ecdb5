import { setTimeout as wait } from 'node:timers/promises'
import type { ClusterPeer } from './protocol.ts'

/** Who has a change, and who was not heard to have it. */
export interface Reach {
  reached: string[]
  missing: { name: string; heardAt: string | null }[]
}

export interface ReachParts {
  /** When the change was told to the others, by `performance.now()`; null: nobody knows. */
  since: number | null
  has(member: ClusterPeer): boolean
  /** Whether one without it may still say in time that it has it. */
  mayHave(member: ClusterPeer): boolean
  members(): readonly ClusterPeer[]
  /** As PostgreSQL tells it now. */
  listMembers(): Promise<unknown>
  /** Whether others can be heard to have it. */
  isHeard(): boolean
}

/** How long a change that takes something away waits for the others to say that they have it. */
const confirmMs = 2000
const confirmEveryMs = 25

/** Resolves when every member has it that may, or two seconds after it was told to them. */
export async function awaitReach({ since, has, mayHave, members, listMembers, isHeard }: ReachParts): Promise<Reach> {
  const begun = performance.now()
  // One that joined since the last beat admits keys as well.
  await Promise.race([listMembers(), wait(confirmMs)])
  const isDone = () => !members().some((member) => !has(member) && mayHave(member))
  const until = confirmMs + (since !== null && since > begun - confirmMs ? since : begun)
  while (isHeard()) {
    const rest = until - performance.now()
    if (isDone() || rest <= 0) break
    await Promise.race([listMembers(), wait(rest)])
    if (!isDone()) await wait(confirmEveryMs)
  }
  return {
    reached: members().flatMap((member) => (has(member) ? [member.name] : [])),
    missing: members().flatMap((member) => (has(member) ? [] : [{ name: member.name, heardAt: member.heardAt }])),
  }
}
