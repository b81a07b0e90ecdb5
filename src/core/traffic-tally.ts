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
}
