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
  degraded: { part: string; reason: string; since: string }[]
}
