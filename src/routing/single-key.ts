import type { SnapshotKey } from '../store/configuration/snapshot.ts'

/** Whether all keys that are good are secrets of one: its failures count for all then. */
export function isSingleKey(keys: Iterable<SnapshotKey>, now: number): boolean {
  let only: string | null = null
  for (const { id, revokedAt, expiresAt } of keys) {
    if (revokedAt !== null || (expiresAt !== null && expiresAt <= now)) continue
    if (only !== null && only !== id) return false
    only = id
  }
  return true
}
