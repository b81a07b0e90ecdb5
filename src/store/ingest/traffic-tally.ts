import { ownTraceId, spanIdOf } from '../../core/trace-context.ts'
import {
  type AttemptTally,
  type DurationTally,
  durationBounds,
  latencyStep,
  type SecondTally,
  type ServedTally,
  type TrafficTally,
} from '../../core/traffic-tally.ts'
import { RecordClock } from '../records/record-clock.ts'
import { tokenColumns } from '../records/record-columns.ts'
import type { RecordHead } from '../records/record-head.ts'

type TallyLane = ServedTally['lane']

/** A lane's durations, and for each bucket the last request that is exported as a trace. */
interface ObservedDurations {
  tally: DurationTally
  last: Map<number, { record: RecordHead; value: number }>
}

/** Adds up settled records as they are stored, so that the metrics need not be sent every record. */
export class TrafficTallier {
  #served = new Map<string, ServedTally>()
  #errors = new Map<string, TrafficTally['errors'][number]>()
  #durations = new Map<TallyLane, ObservedDurations>()
  #firstBytes = new Map<TallyLane, ObservedDurations>()
  #attempts = new Map<string, AttemptTally>()
  readonly #seconds = new SecondTallier()
  /** Whether histograms name traces: only what is exported can be found by one. */
  readonly #traced: boolean

  constructor(traced = false) {
    this.#traced = traced
  }

  add(record: RecordHead): void {
    const lane = record.lane ?? ''
    this.#addServed(lane, record)
    this.#addAttempts(record)
    this.#seconds.add(record)
    // Nobody waited for a shadow copy or saw its error.
    if (record.shadow_of !== null) return
    if (record.error) this.#addError(record.error)
    if (record.duration_ms !== null) this.#observe(this.#durations, lane, record, record.duration_ms)
    if (record.first_byte_ms !== null) this.#observe(this.#firstBytes, lane, record, record.first_byte_ms)
  }

  /** What has been added since the last time; null when that is nothing. */
  take(): TrafficTally | null {
    if (this.#served.size === 0) return null
    const tally = {
      served: [...this.#served.values()],
      errors: [...this.#errors.values()],
      durations: [...this.#durations.values()].map(withExemplars),
      firstBytes: [...this.#firstBytes.values()].map(withExemplars),
      seconds: this.#seconds.take(),
      attempts: [...this.#attempts.values()],
    }
    for (const each of [this.#served, this.#errors, this.#durations, this.#firstBytes, this.#attempts]) each.clear()
    return tally
  }

  #addServed(lane: TallyLane, { provider, upstream_model, model, status, tokens, shadow_of }: RecordHead): void {
    const group = status === null ? '' : statusClass(status)
    const served = upstream_model ?? model
    // The model is the client's own text, so it comes last: no other part can hold a line break.
    const name = `${lane}\n${group}\n${provider ?? ''}\n${served ?? ''}`
    const found = this.#served.getOrInsertComputed(name, () => {
      const tokens = { input: 0, output: 0, cache_read: 0, cache_write: 0, reasoning: 0 }
      return { lane, status: group, provider, model: served, count: 0, tokens }
    })
    if (shadow_of === null) found.count++
    if (tokens === null) return
    for (const column of tokenColumns) found.tokens[column] += tokens[column] ?? 0
  }

  #addAttempts({ figures, provider, upstream_model }: RecordHead): void {
    if (figures !== null) for (const { provider, model, outcome } of figures) this.#addAttempt(provider, model, outcome)
    else if (provider !== null) this.#addAttempt(provider, upstream_model ?? '', 'answered')
  }

  #addAttempt(provider: string, model: string, outcome: AttemptTally['outcome']): void {
    const name = `${outcome}\n${provider}\n${model}`
    this.#attempts.getOrInsert(name, { provider, model, outcome, count: 0 }).count++
  }

  #addError({ code, origin }: NonNullable<RecordHead['error']>): void {
    this.#errors.getOrInsert(`${code} ${origin}`, { code, origin, count: 0 }).count++
  }

  #observe(
    durations: Map<TallyLane, ObservedDurations>,
    lane: TallyLane,
    record: RecordHead,
    milliseconds: number,
  ): void {
    const { tally, last } = durations.getOrInsertComputed(lane, () => {
      const counts = new Array<number>(durationBounds.length + 1).fill(0)
      return { tally: { lane, counts, sum: 0, exemplars: [] }, last: new Map() }
    })
    const value = milliseconds / 1000
    let bucket = 0
    while (bucket < durationBounds.length && value > (durationBounds[bucket] ?? 0)) bucket++
    tally.counts[bucket] = (tally.counts[bucket] ?? 0) + 1
    tally.sum += value
    if (this.#traced && record.trace?.sampled !== false) last.set(bucket, { record, value })
  }
}

function statusClass(status: number): string {
  return `${Math.floor(status / 100)}xx`
}

function withExemplars({ tally, last }: ObservedDurations): DurationTally {
  const exemplars = [...last].map(([bucket, { record, value }]): DurationTally['exemplars'][number] => {
    const { id, trace, time, duration_ms } = record
    const ended = (Date.parse(time) + (duration_ms ?? 0)) / 1000
    return [bucket, { traceId: trace?.trace_id ?? ownTraceId(id), spanId: spanIdOf(id, 0), value, time: ended }]
  })
  return { ...tally, exemplars }
}

type Latencies = Map<number, number>

interface Second extends Omit<SecondTally, 'latencies'> {
  latencies: Latencies
}

/** Adds up records by the second in which they ended, for the live view of traffic. */
class SecondTallier {
  readonly #clock = new RecordClock()
  readonly #seconds = new Map<number, Second>()

  add(head: RecordHead): void {
    const { time, duration_ms, error, status, cost, shadow_of } = head
    const second = Math.floor((this.#clock.read(time) + (duration_ms ?? 0)) / 1000)
    const found = this.#seconds.getOrInsertComputed(second, begin)
    if (cost !== null) found.usd = (found.usd ?? 0) + cost.usd
    // A copy for a shadow target is not a request of a client.
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
  // Any other status means that the request was wrong.
  return error.code !== 'provider_error' || status === null || status >= 500 || failingStatuses.includes(status)
}
