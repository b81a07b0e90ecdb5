import type { AttemptRecord } from './record.ts'

/** What one attempt counts as in the figures of providers, targets and routes. Source: contract.md rule 24. */
export interface AttemptFigure {
  provider: string
  model: string
  /** `fell_back`: it failed, and the request went on to another target. `aborted`: it was tried, and its client left. */
  outcome: 'answered' | 'failed' | 'fell_back' | 'aborted'
  /** Milliseconds; null: it has none. */
  duration: number | null
  firstByte: number | null
}

export interface AttemptCounts {
  tried: number
  /** Those that fell back among them. */
  failed: number
  fell_back: number
}

export function countAttempt(counts: AttemptCounts, outcome: AttemptFigure['outcome']): void {
  counts.tried++
  if (outcome === 'failed' || outcome === 'fell_back') counts.failed++
  if (outcome === 'fell_back') counts.fell_back++
}

export function figuresOf(attempts: readonly AttemptRecord[]): AttemptFigure[] {
  return attempts.map((attempt, place) => {
    const next = attempts[place + 1]
    const moved = next !== undefined && !isSameTarget(attempt, next)
    const outcome = outcomeOf(attempt)
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

/** A provider's error that passes is the caller's own mistake, but for those that are worth another attempt. */
function outcomeOf({ outcome, status }: AttemptRecord): AttemptFigure['outcome'] {
  if (outcome === 'answered' || outcome === 'aborted') return outcome
  if (outcome !== 'passed') return outcome === 'started' ? 'aborted' : 'failed'
  return status !== null && (status >= 500 || status === 408 || status === 425 || status === 429)
    ? 'failed'
    : 'answered'
}

function isSameTarget(one: AttemptRecord, other: AttemptRecord): boolean {
  return one.provider === other.provider && one.upstream_model === other.upstream_model
}

function since({ started_ms }: AttemptRecord, moment: number | null | undefined): number | null {
  return moment === null || moment === undefined ? null : Math.max(0, moment - started_ms)
}
