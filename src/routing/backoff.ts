const firstDelayMs = 250
const longestDelayMs = 5000
const longestPassedMs = 60_000

/**
 * How long to wait before trying one target again, in milliseconds; null when the provider asks for more than a retry
 * may wait, so that the next target is the better choice. `retried` is 0 before the first retry. What the provider asks
 * for is kept exactly; our own delay is cut by up to a quarter, so that many callers do not come back at one moment.
 * Source: contract.md rule 3.
 */
export function retryDelay(retried: number, retryAfterMs: number | null, random: () => number): number | null {
  if (retryAfterMs !== null) return retryAfterMs > longestDelayMs ? null : Math.max(0, retryAfterMs)
  return Math.min(longestDelayMs, firstDelayMs * 2 ** retried) * (1 - random() / 4)
}

/**
 * The `retry-after` to pass on when nothing helped: the soonest that any target named, at most 60 s; null unless every
 * target asked to wait. Source: contract.md rule 3.
 */
export function retryAfterToPass(asked: readonly (number | null)[]): number | null {
  let soonest = longestPassedMs
  for (const ms of asked) {
    if (ms === null) return null
    soonest = Math.min(soonest, ms)
  }
  return asked.length === 0 ? null : soonest
}
