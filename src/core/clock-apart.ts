/** Synchronised clocks differ by less. */
const mostApartMs = 2000

/**
 * How far this machine's clock is certainly ahead of a server's; negative: behind. The server read its clock between
 * `askedAt` and `heardAt`, so a difference within that span does not count.
 */
export function certainlyAhead(askedAt: number, serverTime: number, heardAt: number): number {
  return Math.round(Math.max(0, askedAt - serverTime) + Math.min(0, heardAt - serverTime))
}

/** Null: no more than usual for synchronised clocks, or unknown. */
export function clockApart(aheadMs: number | null | undefined): number | null {
  return aheadMs === null || aheadMs === undefined || Math.abs(aheadMs) < mostApartMs ? null : aheadMs
}

/** `3600 s ahead of` */
export function describeApart(aheadMs: number): string {
  return `${Math.round(Math.abs(aheadMs) / 1000)} s ${aheadMs > 0 ? 'ahead of' : 'behind'}`
}

/** What an operator does about it, and why. Budgets, limits and retention go by the servers' clocks. */
export const clockRemedy = 'Keep clocks together (NTP): records, sessions and alerts have the time of their node.'
