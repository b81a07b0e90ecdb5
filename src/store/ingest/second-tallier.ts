import { latencyStep, type SecondTally } from '../../core/traffic-tally.ts'
import { RecordClock } from '../records/record-clock.ts'
import type { RecordHead } from '../records/record-head.ts'

type Latencies = Map<number, number>

interface Second extends Omit<SecondTally, 'latencies'> {
  latencies: Latencies
}

/** Adds records up by the second in which they ended, for whoever tells the traffic of this moment. */
export class SecondTallier {
  readonly #clock = new RecordClock()
  readonly #seconds = new Map<number, Second>()

  add(head: RecordHead): void {
    const { time, duration_ms, error, status, cost, shadow_of } = head
    const second = Math.floor((this.#clock.read(time) + (duration_ms ?? 0)) / 1000)
    const found = this.#seconds.getOrInsertComputed(second, begin)
    if (cost !== null) found.usd = (found.usd ?? 0) + cost.usd
    // A copy for a shadow target is no request of anybody's.
    if (shadow_of !== null) return
    found.requests++
    if (error !== null || (status ?? 0) >= 400) found.errors++
    if (isFailure(head)) found.failures++
    if (duration_ms === null) return
    const step = latencyStep(duration_ms)
    found.latencies.set(step, (found.latencies.get(step) ?? 0) + 1)
  }

  take(): SecondTally[] {
    const taken = [...this.#seconds.values()].map((each) => ({ ...each, latencies: [...each.latencies] }))
    this.#seconds.clear()
    return taken
  }
}

const begin = (second: number): Second => {
  return { second, requests: 0, errors: 0, failures: 0, usd: null, latencies: new Map() }
}

/** Statuses of a provider that say it failed, and not what it was asked (contract.md rule 3). */
const failingStatuses = [408, 425, 429]

/** Whether a request failed for a reason that operators can do something about: neither its client's own mistake nor a policy. */
function isFailure({ error, status }: Pick<RecordHead, 'error' | 'status'>): boolean {
  if (error === null || error.origin === 'client' || error.origin === 'policy') return false
  // What a provider refuses with any other status is wrong with the request.
  return error.code !== 'provider_error' || status === null || status >= 500 || failingStatuses.includes(status)
}
