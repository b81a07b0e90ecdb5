/** Clocks that are kept together differ by less. */
const mostApartMs = 2000

/**
 * By how much the own clock is ahead of a server's for certain, which said its time between asking and hearing; negative:
 * behind. What an answer takes on its way counts for neither.
 */
export function certainlyAhead(askedAt: number, serverTime: number, heardAt: number): number {
  return Math.round(Math.max(0, askedAt - serverTime) + Math.min(0, heardAt - serverTime))
}

/** Null: not apart by more than clocks that are kept together are, or not known. */
export function clockApart(aheadMs: number | null | undefined): number | null {
  return aheadMs === null || aheadMs === undefined || Math.abs(aheadMs) < mostApartMs ? null : aheadMs
}

/** `3600 s ahead of` */
export function describeApart(aheadMs: number): string {
  return `${Math.round(Math.abs(aheadMs) / 1000)} s ${aheadMs > 0 ? 'ahead of' : 'behind'}`
}

/** What an operator does about it, and why. Budgets, limits and retention go by the servers' clocks. */
export const clockRemedy = 'Keep clocks together (NTP): records, sessions and alerts have the time of their node.'
