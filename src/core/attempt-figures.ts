import type { AttemptRecord, RequestRecord } from './record.ts'

/** What one attempt counts as in the figures of providers, targets and routes. Source: contract.md rule 24. */
export interface AttemptFigure {
  provider: string
  model: string
  /** `fell_back`: it failed, and the request went on to another target. `aborted`: it was tried, and its client left, or another target was faster. */
  outcome: 'answered' | 'failed' | 'fell_back' | 'aborted'
  /** Milliseconds; null: it has none. */
  duration: number | null
  firstByte: number | null
}

export interface AttemptCounts {
  tried: number
  /** Includes those that fell back. */
  failed: number
  fell_back: number
}

export function isFailure(outcome: AttemptFigure['outcome']): boolean {
  return outcome === 'failed' || outcome === 'fell_back'
}

export function countAttempt(counts: AttemptCounts, outcome: AttemptFigure['outcome']): void {
  counts.tried++
  if (isFailure(outcome)) counts.failed++
  if (outcome === 'fell_back') counts.fell_back++
}

const fewAttempts = 5
const highShare = 0.1

/** Often enough to show it to operators, even if the provider is ready. */
export function failsOften({ tried, failed }: Pick<AttemptCounts, 'tried' | 'failed'>): boolean {
  return tried >= fewAttempts && failed / tried >= highShare
}

/** `error` is the record's: it ended the last attempt, whose answer may have begun. */
export function figuresOf(attempts: readonly AttemptRecord[], error: RequestRecord['error']): AttemptFigure[] {
  return attempts.map((attempt, place) => {
    const next = attempts[place + 1]
    const moved = next !== undefined && !isSameTarget(attempt, next)
    const outcome = outcomeOf(attempt, next === undefined ? error : null)
    return {
      provider: attempt.provider,
      model: attempt.upstream_model,
      outcome: outcome === 'failed' && moved ? 'fell_back' : outcome,
      duration: since(attempt, attempt.ended_ms),
      firstByte: since(attempt, attempt.first_byte_ms),
    }
  })
}

/** Exactly one attempt, which was answered: nearly every record, whose own fields say all that figures need. */
export function isPlain(figures: readonly AttemptFigure[]): boolean {
  return figures.length === 1 && figures[0]?.outcome === 'answered'
}

/** Whether the provider ended a request with it, possibly in the middle of an answer. */
export function isProvidersError(error: RequestRecord['error']): boolean {
  return error !== null && (error.origin === 'provider' || error.origin === 'network')
}

/**
 * What the client caused is no failure: it left, or the provider rejected its request. Credentials, quotas and limits are not
 * the client's.
 */
const failingStatuses: readonly (number | null)[] = [null, 401, 402, 408, 425, 429]

function outcomeOf({ outcome, status }: AttemptRecord, error: RequestRecord['error']): AttemptFigure['outcome'] {
  if (outcome === 'answered') return isProvidersError(error) ? 'failed' : 'answered'
  if (outcome === 'aborted' || outcome === 'started' || outcome === 'cancelled') return 'aborted'
  if (outcome !== 'passed') return 'failed'
  return failingStatuses.includes(status) || (status ?? 0) >= 500 ? 'failed' : 'answered'
}

function isSameTarget(one: AttemptRecord, other: AttemptRecord): boolean {
  return one.provider === other.provider && one.upstream_model === other.upstream_model
}

function since({ started_ms }: AttemptRecord, moment: number | null | undefined): number | null {
  return moment === null || moment === undefined ? null : Math.max(0, moment - started_ms)
}
