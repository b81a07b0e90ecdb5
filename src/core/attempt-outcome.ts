import type { AttemptRecord, RequestRecord } from './record.ts'

type Outcome = Pick<AttemptRecord, 'status' | 'outcome'>

const gaveAnswer = ['answered', 'started', 'aborted']

/**
 * Whether an attempt counts as failed in the figures of providers and targets. What the client caused does not: it left,
 * or the provider rejected its request. `error` is the record's, for the attempt that the client's answer came from.
 */
export function isFailedAttempt({ status, outcome }: Outcome, error: RequestRecord['error']): boolean {
  if (outcome === 'answered') return error !== null && (error.origin === 'provider' || error.origin === 'network')
  if (outcome === 'passed') return status === null || status >= 500 || status === 429 || status === 401
  return !gaveAnswer.includes(outcome)
}
