import type { ClusterPeer } from '../protocol.ts'

/**
 * Who counts limits together with this node; none where another gateway runs as it, from a copy of its data directory. Two
 * that speak as one node take turns in being a new run of it, and what each run was granted stays counted: within seconds
 * the limits of all nodes would be used up.
 */
export function findSharers(members: readonly Pick<ClusterPeer, 'id'>[], own: string, isMember: boolean): string[] {
  const isDoubled = !isMember && members.some(({ id }) => id === own)
  return isDoubled ? [] : members.map(({ id }) => id)
}
