import type { AttemptRecord, RequestRecord, Signal } from '../../core/record.ts'

/** "What happened" in plain sentences, the same on every surface. Pure: all of it is in the record. */
export function describeRecord(record: RequestRecord): string[] {
  return [
    ...record.routing_signals.filter(isDecision).map(sentence),
    ...record.attempts.map((attempt, index) => describeAttempt(attempt, record.attempts[index - 1])),
    ...record.policy_signals.filter((signal) => signal.verdict === 'deny' || signal.verdict === 'flag').map(sentence),
    ...describeLosses(record),
    describeEnd(record),
  ]
}

/** Attempts are told from the attempts themselves, with their times. */
function isDecision(signal: Signal): boolean {
  return signal.rule !== 'attempt'
}

function sentence(signal: Signal): string {
  const text = signal.text.trim()
  const first = text.charAt(0).toUpperCase() + text.slice(1)
  return /[.!?…]$/.test(first) ? first : `${first}.`
}

const outcomes: Record<string, string> = {
  answered: 'answered',
  retry: 'tried again',
  fallback: 'fell back to the next target',
  passed: 'its answer was passed on',
  aborted: 'given up because the client hung up',
}

function describeAttempt(attempt: AttemptRecord, before: AttemptRecord | undefined): string {
  const verb = before === undefined ? 'Tried' : before.provider === attempt.provider ? 'Tried again' : 'Fell back to'
  const status = attempt.status === null ? 'no answer' : String(attempt.status)
  const after = attempt.ended_ms === null ? '' : ` after ${describeDuration(attempt.ended_ms - attempt.started_ms)}`
  const outcome = outcomes[attempt.outcome] ?? attempt.outcome
  const message = attempt.message === null ? '' : ` (${attempt.message.replace(/\.$/, '')})`
  return `${verb} ${attempt.provider}/${attempt.upstream_model}: ${status}${after}, ${outcome}${message}.`
}

function describeLosses(record: RequestRecord): string[] {
  return record.losses.length === 0 ? [] : [`Lost in translation: ${record.losses.join(', ')}.`]
}

function describeEnd(record: RequestRecord): string {
  if (record.state === 'admitted') return 'Still under way.'
  if (record.state === 'interrupted') return 'Interrupted: the gateway stopped before it ended.'
  const took = record.duration_ms === null ? '' : ` after ${describeDuration(record.duration_ms)}`
  if (record.error === null) return `Ended with ${record.status ?? 'no status'}${took}.`
  const message = record.error.message.trim().replace(/[.]$/, '')
  return `Ended with ${record.status ?? 'no status'} ${record.error.code}${took}, the fault of the ${record.error.origin}: ${message}.`
}

/** `210 ms`, `1.2 s`, `2 min 5 s`. */
export function describeDuration(milliseconds: number): string {
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`
  const seconds = milliseconds / 1000
  if (seconds < 60) return `${seconds < 10 ? seconds.toFixed(1) : Math.round(seconds)} s`
  const whole = Math.round(seconds)
  return `${Math.floor(whole / 60)} min ${whole % 60} s`
}
