import { type Fault, fault } from '../core/errors.ts'
import type { Signal } from '../core/record.ts'
import { firstSentence } from '../core/text/first-sentence.ts'
import { retryAfterToPass, retryDelay } from './backoff.ts'

/** The outcome of one sending, as its sender classified it. */
export type Sent<Answer> =
  /** It goes to the client: content has begun, the answer is complete, or the error is the caller's own. */
  | { kind: 'answered'; answer: Answer }
  /** Nothing has reached the client. */
  | { kind: 'failed'; failure: Failure<Answer> }
  | { kind: 'gone' }

export interface Failure<Answer> {
  fault: Fault
  /** The provider's own error, which goes to the client when no other target helps; null: there is none. */
  answer: Answer | null
  /** `credential`: the same target at once with another of its credentials. */
  next: 'retry' | 'credential' | 'target'
  /** Whether the route's conditions let this failure move on to the next target. */
  fallback: boolean
  /** What the provider asked for; null when it asked for nothing. */
  retryAfterMs: number | null
  /** In words, for the record. */
  reason: string
  /** Nothing was sent to the target: the request cannot be written for it, its account has no room, or the call's time is over. */
  uncalled?: 'format' | 'account' | 'time'
}

export type Attempted<Answer> =
  /** `retryAfterMs`: the wait to pass on, true of the whole route; null when some target did not ask for one. */
  | { kind: 'answered'; answer: Answer; retryAfterMs: number | null }
  | { kind: 'failed'; fault: Fault }
  | { kind: 'gone' }

export interface AttemptPorts<Candidate, Answer> {
  send(candidate: Candidate): Promise<Sent<Answer>>
  /** Another answer, or none, goes to the client in its place. */
  discard(answer: Answer): void
  /** It goes to the client after all: a retry or a fallback was recorded that could not be made. */
  pass(answer: Answer): void
  /** False when the client disconnected while waiting. */
  wait(ms: number): Promise<boolean>
  describe(candidate: Candidate): string
  record(signal: Signal): void
  /** A target that could not even be called. */
  recordSkip(candidate: Candidate, failure: Failure<Answer>): void
  random(): number
}

/**
 * Tries the candidates in order until one answers. Whoever calls it guarantees that `send` resolves before any content
 * has reached the client, so that trying again can never show the client two answers.
 */
export async function attempt<Candidate, Answer>(
  candidates: readonly Candidate[],
  retries: number,
  ports: AttemptPorts<Candidate, Answer>,
): Promise<Attempted<Answer>> {
  let last: Failure<Answer> | null = null
  const asked: (number | null)[] = []
  for (const candidate of candidates) {
    const first = await ports.send(candidate)
    const outcome = first.kind === 'failed' ? await retryTarget(candidate, first, retries, ports) : first
    const replaces = outcome.kind !== 'failed' || wasTried(outcome.failure)
    if (last !== null && last.answer !== null && replaces) ports.discard(last.answer)
    if (outcome.kind === 'gone') return outcome
    if (outcome.kind === 'answered') return { kind: 'answered', answer: outcome.answer, retryAfterMs: null }
    const { failure } = outcome
    asked.push(failure.retryAfterMs)
    if (last === null || wasTried(failure)) last = failure
    if (!failure.fallback) break
    if (candidate !== candidates.at(-1) && wasTried(failure))
      ports.record(fallback(ports.describe(candidate), failure.reason))
  }
  if (last === null) return { kind: 'failed', fault: fault('provider_not_ready') }
  if (last.answer !== null) {
    ports.pass(last.answer)
    return { kind: 'answered', answer: last.answer, retryAfterMs: retryAfterToPass(asked) }
  }
  return { kind: 'failed', fault: last.fault }
}

/** A target that could not be called says less than one that was: the earlier failure stays the outcome. */
function wasTried({ fault, uncalled }: Failure<unknown>): boolean {
  return uncalled === undefined && fault.code !== 'provider_not_ready'
}

/** After a failure, as often as that helps. */
async function retryTarget<Candidate, Answer>(
  candidate: Candidate,
  first: Sent<Answer>,
  retries: number,
  ports: AttemptPorts<Candidate, Answer>,
): Promise<Sent<Answer>> {
  let before: Sent<Answer> | null = null
  let retried = 0
  for (let sent = first; ; sent = await ports.send(candidate)) {
    if (sent.kind === 'failed' && !wasTried(sent.failure)) {
      ports.recordSkip(candidate, sent.failure)
      return before ?? sent
    }
    before = sent
    if (sent.kind !== 'failed' || sent.failure.next === 'target') return sent
    if (sent.failure.next === 'credential') continue
    if (retried >= retries) return sent
    const delay = retryDelay(retried, sent.failure.retryAfterMs, () => ports.random())
    if (delay === null) return sent
    retried++
    ports.record(retry(ports.describe(candidate), sent.failure.reason, delay))
    if (!(await ports.wait(delay))) return { kind: 'gone' }
  }
}

/** `1.5 s`, as long as it is worth more digits. */
function formatWait(ms: number): string {
  return ms < 1000 ? `${ms} ms` : `${Math.round(ms / 100) / 10} s`
}

function retry(target: string, reason: string, delayMs: number): Signal {
  const waited = Math.round(delayMs)
  return {
    rule: 'retry',
    verdict: 'note',
    text: `${target}: ${firstSentence(reason)}; tried again after ${formatWait(waited)}.`,
    data: { delay_ms: waited },
  }
}

function fallback(target: string, reason: string): Signal {
  return {
    rule: 'fallback',
    verdict: 'note',
    text: `${target}: ${firstSentence(reason)}; fell back to the next target.`,
  }
}
