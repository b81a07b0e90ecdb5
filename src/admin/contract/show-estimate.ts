import { formatMilliseconds, formatMoney, groupDigits } from './show-number.ts'

/** A record has no body, and one that was captured is not read for this. */
export function describeEstimate(bytes: number): string {
  const size = groupDigits(bytes)
  return `Estimated from its model and its ${size} bytes: its body is not read, so its output limit, its end user, more models that it named, what content rules find in it, and its conversation are not known.`
}

interface ExpectedTarget {
  /** '': the target is simply the next one. */
  reason: string
  /** Of a body that is translated; null: it is not, or it is not known. */
  losses?: readonly string[] | null
  estimate_usd: number | null
  latency_ms: number | null
}

/** Why a target is taken, and what is expected of it: `cheapest, loses nothing, about $0.01, 420 ms`; '' where nothing is known. */
export function describeExpected({ reason, losses = null, estimate_usd, latency_ms }: ExpectedTarget): string {
  return [
    reason,
    losses === null ? '' : `loses ${losses.length === 0 ? 'nothing' : losses.join(', ')}`,
    estimate_usd === null ? '' : `about ${formatMoney(estimate_usd)}`,
    latency_ms === null ? '' : formatMilliseconds(latency_ms),
  ]
    .filter((text) => text !== '')
    .join(', ')
}
