import type { NodeCondition } from '../../core/node-condition.ts'
import type { ClusterPeer } from '../protocol.ts'

export interface SharersKnown {
  isMember: boolean
  /** Of the nodes that are heard from, by id. */
  conditions: Readonly<Record<string, Pick<NodeCondition, 'sharesLimits'>>>
}

/**
 * The nodes that count limits together with this one. Nodes that say that they count for themselves are left out: waiting for them
 * would hold back what they never use. None if another gateway runs as this node, from a copy of its data directory: two gateways with
 * one identity would replace each other's runs in turn, and what each run was granted keeps counting, so that within seconds the limits
 * of all nodes would be used up.
 */
export function findSharers(
  members: readonly Pick<ClusterPeer, 'id'>[],
  own: string,
  { isMember, conditions }: SharersKnown,
): string[] {
  if (!isMember && members.some(({ id }) => id === own)) return []
  return members.flatMap(({ id }) => (id !== own && conditions[id]?.sharesLimits === false ? [] : [id]))
}
