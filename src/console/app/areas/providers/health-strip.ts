/** One state as the gateway found it, from when on. */
export interface HealthEntry {
  time: string
  state: string
  reason: string | null
}

export interface HealthSpan {
  key: string
  state: string
  reason: string | null
  since: number
  until: number
  /** Of the whole strip, 0 to 1. */
  start: number
  size: number
}

/** The time from `since` until `now` cut at each change. Before the first entry nothing is known. */
export function healthSpans(entries: readonly HealthEntry[], since: number, now: number): HealthSpan[] {
  const sorted = entries
    .map(({ time, state, reason }) => ({ at: Date.parse(time), state, reason }))
    .filter(({ at }) => at <= now)
    .sort((left, right) => left.at - right.at)
  const before = sorted.filter(({ at }) => at <= since).at(-1)
  const within = sorted.filter(({ at }) => at > since)
  const changes = [{ at: since, state: before?.state ?? 'unknown', reason: before?.reason ?? null }, ...within]
  const length = Math.max(1, now - since)
  return changes.flatMap(({ at, state, reason }, index) => {
    const until = changes[index + 1]?.at ?? now
    if (until <= at && index < changes.length - 1) return []
    return [
      {
        key: `${at}-${state}`,
        state,
        reason,
        since: at,
        until,
        start: (at - since) / length,
        size: (until - at) / length,
      },
    ]
  })
}

/** How much of the time in which something was known it was ready, 0 to 1; null: nothing is known. */
export function readyShare(spans: readonly HealthSpan[]): number | null {
  const known = spans.filter(({ state }) => state !== 'unknown' && state !== 'unchecked')
  const total = known.reduce((sum, { size }) => sum + size, 0)
  if (total <= 0) return null
  return known.filter(({ state }) => state === 'ready').reduce((sum, { size }) => sum + size, 0) / total
}
