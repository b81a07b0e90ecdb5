import type { AttemptFigure } from './attempt-figures.ts'
import type { ErrorOrigin, RecordErrorCode } from './errors.ts'
import type { LaneName } from './lane.ts'
import type { TokenUsage } from './record.ts'

/** Upper bounds in seconds of the buckets that durations are counted in; one more bucket holds what exceeds them all. */
export const durationBounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120] as const

export type TokenCounts = Omit<TokenUsage, 'source'>

/** What records that settled add up to: plain data, far smaller than they are. */
export interface TrafficTally {
  served: ServedTally[]
  errors: { code: RecordErrorCode; origin: ErrorOrigin; count: number }[]
  durations: DurationTally[]
  firstBytes: DurationTally[]
  seconds: SecondTally[]
  attempts: AttemptTally[]
}

/** Attempts at one model of a provider that ended the same way. */
export interface AttemptTally {
  provider: string
  model: string
  outcome: AttemptFigure['outcome']
  count: number
}

/** `model` is the provider's own name of it. `status` is a class (`2xx`), empty where there was none. */
export interface ServedTally {
  lane: LaneName | ''
  status: string
  provider: string | null
  model: string | null
  count: number
  tokens: TokenCounts
}

/** `counts` by bucket, each for itself; `sum` in seconds. */
export interface DurationTally {
  lane: LaneName | ''
  counts: number[]
  sum: number
  /** By bucket, one that is exported as a trace; empty where none is. */
  exemplars: [bucket: number, exemplar: Exemplar][]
}

/** A request of a histogram's bucket, by its trace. */
export interface Exemplar {
  traceId: string
  spanId: string
  /** Seconds. */
  value: number
  /** Epoch seconds. */
  time: number
}

/** What ended within one second of the clock. */
export interface SecondTally {
  /** Since the epoch. */
  second: number
  requests: number
  errors: number
  /** Those for a reason that operators can do something about. */
  failures: number
  /** null: nothing of it has a price. */
  usd: number | null
  /** How many took as long as which step (`latencyStep`): pairs of both. */
  latencies: [step: number, count: number][]
}

/** From one step to the next durations grow by 6 %, so that a step tells one within 3 %. */
const stepGrowth = Math.log(1.06)

export function latencyStep(milliseconds: number): number {
  return milliseconds <= 0.1 ? 0 : Math.round(Math.log(milliseconds * 10) / stepGrowth)
}

/** The middle of a step, in milliseconds. */
export function latencyOfStep(step: number): number {
  return Math.exp(step * stepGrowth) / 10
}
