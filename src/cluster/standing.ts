import type { NodeStanding } from '../core/node-condition.ts'
import type { ClusterPeer } from './protocol.ts'
import { removed } from './troubles.ts'

/** Several times the pause between two beats; a node that is silent for longer is absent. */
const absentMs = 8000

/** Not of one that joined just now and has said nothing yet. */
export function isSilent({ silentMs }: Pick<ClusterPeer, 'silentMs'>): boolean {
  return silentMs !== null && silentMs > absentMs
}

/** `trouble`: why the asking node is cut off. What it heard of the others before that is outdated. */
export function findStanding(
  peer: Pick<ClusterPeer, 'silentMs'>,
  isOwn: boolean,
  trouble: string | null,
): NodeStanding {
  if (isOwn) return trouble === removed ? 'removed' : 'present'
  if (trouble !== null) return 'unknown'
  return peer.silentMs === null || isSilent(peer) ? 'absent' : 'present'
}
