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
  degraded: { part: string; reason: string; since: string }[]
}
