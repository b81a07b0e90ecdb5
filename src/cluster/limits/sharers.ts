import type { ClusterPeer } from '../protocol.ts'

/**
 * The nodes that count limits together with this one; none if another gateway runs as this node, from a copy of its data directory. Two
 * gateways with one identity would replace each other's runs in turn, and what each run was granted keeps counting: within seconds the
 * limits of all nodes would be used up.
 */
export function findSharers(members: readonly Pick<ClusterPeer, 'id'>[], own: string, isMember: boolean): string[] {
  const isDoubled = !isMember && members.some(({ id }) => id === own)
  return isDoubled ? [] : members.map(({ id }) => id)
}
