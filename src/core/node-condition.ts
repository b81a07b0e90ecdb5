/** How a node of a cluster is, as it says itself. */
export interface NodeCondition {
  inFlight: number
  /** Of what has ended within the last minute. */
  traffic: {
    requestsPerSecond: number
    /** null: nothing has ended. */
    errorShare: number | null
    durationP95Ms: number | null
    /** null: nothing of it has a price. */
    usdPerHour: number | null
  }
  /**
   * By so much its clock is ahead of PostgreSQL's for certain; negative: behind. Absent: it does not know yet, or is of a
   * version that does not say.
   */
  clockAheadMs?: number
  /** It was taken out of service by `cluster drain`. Absent: it is of a version that does not say. */
  draining?: boolean
  /** It counts limits together with the others. Absent: it is of a version that does not say. */
  sharesLimits?: boolean
  degraded: { part: string; reason: string; since: string }[]
}

/**
 * How a node of a cluster is, as far as the one that is asked can tell. `absent`: PostgreSQL has not heard of it for some
 * seconds. `unknown`: the one that is asked is cut off from the others. `removed`: it is itself no member any more.
 */
export const nodeStandings = ['present', 'absent', 'unknown', 'removed'] as const
export type NodeStanding = (typeof nodeStandings)[number]

const standings: Record<string, string> = {
  absent: 'not heard of',
  unknown: 'not known while this node is cut off',
  removed: 'removed from the cluster',
}

/** In place of what passes through it; null: it is there. */
export const describeStanding = (state: string): string | null => standings[state] ?? null
