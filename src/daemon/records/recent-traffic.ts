import type { RecentTraffic } from '../../admin/handlers/context.ts'
import { latencyOfStep, type SecondTally, type TrafficTally } from '../../core/traffic-tally.ts'

/** Records say when they ended by the same clock; one that is ahead of it by more was written in another time. */
const aheadSeconds = 5

/** The traffic of the last minute, or of another span, from what the store thread has added up while it stored records. */
export class TrafficWindow {
  readonly #seconds = new Map<number, SecondTally[]>()
  readonly #startedAt: number
  readonly #windowSeconds: number

  /** `startedAt`: milliseconds since the epoch; before it there was nothing to count. */
  constructor(startedAt: number, windowSeconds = 60) {
    this.#startedAt = startedAt
    this.#windowSeconds = windowSeconds
  }

  /** What ended before the window is not of this moment, such as what a start finds in an old journal. */
  add({ seconds }: TrafficTally, now = Date.now()): void {
    for (const tally of seconds) {
      const found = this.#seconds.get(tally.second)
      if (found === undefined) this.#seconds.set(tally.second, [tally])
      else found.push(tally)
    }
    this.#forgetOthers(now)
  }

  read(now = Date.now()): RecentTraffic {
    const { requests, errors } = this.count(now)
    const tallies = [...this.#seconds.values()].flat()
    const priced = tallies.flatMap(({ usd }) => usd ?? [])
    const spent = priced.reduce((sum, usd) => sum + usd, 0)
    const span = Math.min(this.#windowSeconds, Math.max(1, (now - this.#startedAt) / 1000))
    return {
      requestsPerSecond: round(requests / span, 2),
      errorShare: requests === 0 ? null : round(errors / requests, 4),
      durationP95Ms: percentile(tallies, 0.95),
      usdPerHour: priced.length === 0 ? null : round((spent / span) * 3600, 6),
    }
  }

  count(now = Date.now()): { requests: number; errors: number; failures: number } {
    this.#forgetOthers(now)
    const sum = { requests: 0, errors: 0, failures: 0 }
    for (const { requests, errors, failures } of [...this.#seconds.values()].flat()) {
      sum.requests += requests
      sum.errors += errors
      sum.failures += failures
    }
    return sum
  }

  /** Also what is ahead of the window, after the clock was set back: it would count until its second comes again. */
  #forgetOthers(now: number): void {
    const current = Math.floor(now / 1000)
    for (const each of this.#seconds.keys())
      if (each <= current - this.#windowSeconds || each > current + aheadSeconds) this.#seconds.delete(each)
  }
}

/** Nearest rank, as everywhere. */
function percentile(tallies: readonly SecondTally[], share: number): number | null {
  const counts = new Map<number, number>()
  let total = 0
  for (const { latencies } of tallies)
    for (const [step, count] of latencies) {
      counts.set(step, (counts.get(step) ?? 0) + count)
      total += count
    }
  const rank = Math.max(1, Math.ceil(share * total))
  let seen = 0
  for (const [step, count] of [...counts].sort(([left], [right]) => left - right)) {
    seen += count
    if (seen >= rank) return Number(latencyOfStep(step).toPrecision(3))
  }
  return null
}

function round(value: number, digits: number): number {
  return Number(value.toFixed(digits))
}
