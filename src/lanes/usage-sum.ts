import type { TokenUsage, UsageDetail } from '../core/record.ts'

/** Adds the usage of several answers on one connection; null counts as nothing. */
export function addUsage(one: TokenUsage, other: TokenUsage): TokenUsage
export function addUsage(one: TokenUsage | null, other: TokenUsage | null): TokenUsage | null
export function addUsage(one: TokenUsage | null, other: TokenUsage | null): TokenUsage | null {
  if (one === null || other === null) return one ?? other
  return {
    input: add(one.input, other.input),
    output: add(one.output, other.output),
    cache_read: add(one.cache_read, other.cache_read),
    cache_write: add(one.cache_write, other.cache_write),
    reasoning: add(one.reasoning, other.reasoning),
    source: one.source === other.source ? one.source : 'estimated',
  }
}

/** Bounds what a provider reports: a larger sum could not be stored, and its request would seem never to have ended. */
function add(one: number, other: number): number {
  return Math.min(one + other, Number.MAX_SAFE_INTEGER)
}

/** Counts are added; the tier, the place, and whether it was a batch, are those of the last report. */
export function addUsageDetail(one: UsageDetail | null, other: UsageDetail | null): UsageDetail | null {
  if (one === null || other === null) return one ?? other
  const sum = { ...other }
  const put = <Name extends keyof UsageDetail>(name: Name, value: UsageDetail[Name]) => {
    sum[name] = value
  }
  let name: keyof UsageDetail
  for (name in other) {
    const [before, later] = [one[name], other[name]]
    if (later === null) put(name, before)
    else if (typeof before === 'number' && typeof later === 'number') put(name, add(before, later))
  }
  return sum
}
