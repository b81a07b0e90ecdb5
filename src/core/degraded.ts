/**
 * The parts of the gateway that can be degraded while requests go on being served. `journal`: entries cannot be written, so
 * the crash promise is suspended. `store`: the database is locked, full, read-only, damaged or gone, so records wait in
 * the journal and commands that change something are refused. `thread`: fewer data-plane threads than there should be.
 * `valkey`: limits that nodes share cannot be granted here, so that this node goes by its part of each.
 * `postgres`: this node of a cluster is cut off from the others, so that its configuration is read-only.
 * `outbox`: records of this node have waited for PostgreSQL for more than a minute, or are refused there.
 * `records`: those of the other nodes cannot be read.
 * `isolated`: this node has reached no other for longer than it is to serve alone, so that it refuses requests.
 * `membership`: settings name a cluster that this gateway has not joined yet, and it has no keys of its own to admit;
 * or others have removed it from its cluster.
 * `configuration`: settings that were read again were refused, so the ones before hold. `backup`: the last scheduled backup failed.
 */
export const partNames = [
  ...(['journal', 'store', 'thread', 'configuration', 'backup'] as const),
  ...(['postgres', 'valkey', 'outbox', 'records', 'isolated', 'membership'] as const),
] as const
export type PartName = (typeof partNames)[number]

/** While one of these is degraded `/readyz` says 503. */
export const unreadyParts: ReadonlySet<string> = new Set<PartName>(['journal', 'isolated', 'membership'])

/** `valkey is degraded`, `records are degraded`; a node that is isolated is just that. */
export function describeDegraded(part: string): string {
  if (part === 'isolated') return part
  return `${part} ${part.endsWith('s') && part !== 'postgres' ? 'are' : 'is'} degraded`
}

/** The same before a time: `valkey degraded` */
export function nameDegraded(part: string): string {
  return part === 'isolated' ? part : `${part} degraded`
}

/** Where records wait while it is degraded. */
const keepers = ['journal', 'store'] as const satisfies readonly PartName[]

/** What to say with records that are read while these parts are degraded; null: nothing may be missing. */
export function describeMissing(parts: readonly { part: string; since: string }[]): string | null {
  const degraded = keepers.filter((keeper) => parts.some(({ part }) => part === keeper))
  if (degraded.length === 0) return describeApart(parts) ?? describeWaiting(parts)
  return `The ${degraded.join(' and the ')} ${degraded.length === 1 ? 'is' : 'are'} degraded: requests since then wait, and may be missing here. See spgw status.`
}

/** PostgreSQL can be read, but this node's latest records have not been brought there. */
function describeWaiting(parts: readonly { part: string; since: string }[]): string | null {
  const isWaiting = parts.some(({ part }) => part === 'outbox')
  return isWaiting
    ? 'The latest requests of this node wait for PostgreSQL, and may be missing here. See spgw status.'
    : null
}

function describeApart(parts: readonly { part: string; since: string }[]): string | null {
  const apart = parts.find(({ part }) => part === 'records')
  if (apart === undefined) return null
  const reason = isRemoved(parts) ? 'it was removed from its cluster' : 'it cannot read PostgreSQL'
  return `Requests of this node only, since ${apart.since.slice(11, 16)} UTC: ${reason}. See spgw status.`
}

/** What to say with the use of budgets while these parts are degraded; null: nothing may be missing. */
export function describeUncounted(parts: readonly { part: string; since: string }[]): string | null {
  const apart = parts.find(({ part }) => part === 'postgres')
  if (apart === undefined) return null
  const reason = isRemoved(parts) ? 'this one was removed from the cluster' : 'this one cannot use PostgreSQL'
  return `What other nodes have spent since ${apart.since.slice(11, 16)} UTC is not in these budgets: ${reason}. See spgw status.`
}

/** Only a node that was removed from its cluster has this part degraded and cannot read the others' records. */
const isRemoved = (parts: readonly { part: string }[]) => parts.some(({ part }) => part === 'membership')

export interface DegradedPart {
  part: PartName
  /** In words, with what to do where that is known. */
  reason: string
  /** RFC 3339. */
  since: string
}
