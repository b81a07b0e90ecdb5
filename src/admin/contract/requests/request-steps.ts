import type { AttemptRecord, RequestRecord, Signal } from '../../../core/record.ts'

/** One thing that took a part of a request's time, in milliseconds from its arrival: the same on every surface. */
export type RequestStep =
  | { kind: 'attempt'; startMs: number; endMs: number | null; attempt: AttemptRecord; lead: AttemptLead; end: string }
  | { kind: 'wait'; startMs: number; endMs: number; target: string }
  | { kind: 'skip'; startMs: number; target: string; reason: string }

/** `beside`: while another was still awaited. */
type AttemptLead = 'first' | 'again' | 'fallback' | 'beside'

/** Every attempt, every wait between two and every target that was skipped, in the order of time. Pure. */
export function listSteps(record: RequestRecord): RequestStep[] {
  const skips = record.routing_signals.filter(isSkip).map((signal) => describeSkip(signal, record))
  const begun = record.attempts.toSorted((one, other) => one.started_ms - other.started_ms)
  const attempts = begun.map((attempt, index) => describeAttempt(attempt, begun[index - 1], record))
  const tried: RequestStep[] = [...skips, ...attempts].sort((one, other) => one.startMs - other.startMs)
  return tried.flatMap((step, index) => [...waitBefore(step, tried.slice(0, index), record), step])
}

/** `demo`, or `demo (demo-large)` where the provider's name for the model is another. */
export function nameTarget(
  { provider, upstream_model: upstream }: Pick<AttemptRecord, 'provider' | 'upstream_model'>,
  model: string | null,
): string {
  return upstream === '' || upstream === model ? provider : `${provider} (${upstream})`
}

/** The providers whose own failures made the gateway skip them: where to look for the cause of `provider_not_ready`. */
export function providersBehind({ routing_signals }: Pick<RequestRecord, 'routing_signals'>): string[] {
  const failing = routing_signals.filter((signal) => isSkip(signal) && healthCodes.includes(String(signal.data?.code)))
  return [...new Set(failing.map(({ data }) => String(data?.provider)))]
}

const healthCodes = ['failing', 'cooling-down', 'open', 'probing']

export function isSkip({ rule, verdict }: Signal): boolean {
  return rule === 'target' && verdict === 'skipped'
}

/** The text begins with the target's name; what was skipped before anything was tried has no moment of its own. */
function describeSkip({ text, data }: Signal, { attempts, timeline }: RequestRecord): RequestStep {
  const [target, reason] = /^(.*?): (.*)$/s.exec(text)?.slice(1) ?? [text, '']
  const planned = timeline.find(({ event }) => event === 'admitted' || event === 'done')?.at_ms ?? 0
  const latest = attempts[0]?.started_ms ?? planned
  const startMs = typeof data?.at_ms === 'number' ? data.at_ms : Math.min(planned, latest)
  return { kind: 'skip', startMs, target: target ?? text, reason: (reason ?? '').replace(/\.$/, '') }
}

function describeAttempt(
  attempt: AttemptRecord,
  before: AttemptRecord | undefined,
  record: RequestRecord,
): RequestStep {
  const lead = before === undefined ? 'first' : leadAfter(before, attempt)
  const end = endOf(attempt, attempt === record.attempts.at(-1) ? record : null)
  return { kind: 'attempt', startMs: attempt.started_ms, endMs: attempt.ended_ms, attempt, lead, end }
}

function leadAfter(before: AttemptRecord, attempt: AttemptRecord): AttemptLead {
  if (before.ended_ms !== null && before.ended_ms > attempt.started_ms) return 'beside'
  const same = before.provider === attempt.provider && before.upstream_model === attempt.upstream_model
  return same ? 'again' : 'fallback'
}

/** How an attempt ended, in a word or two: its status, or why it has none. */
function endOf(
  { status, outcome, message, first_byte_ms: first }: AttemptRecord,
  answered: RequestRecord | null,
): string {
  // The status of an answer that began well says nothing of its end, which the outcome or the record's error tells.
  const error = answered?.error ?? null
  const isProviders = error !== null && (error.origin === 'provider' || error.origin === 'network')
  const failed = outcome.startsWith('provider_') && status !== null && status < 400
  const cut = (outcome === 'answered' && isProviders) || failed
  if (outcome === 'aborted' || outcome === 'cancelled') return status === null ? 'cancelled' : `${status}, cancelled`
  const unusable = completeButWrong.test(message ?? error?.message ?? '')
  if (status !== null) return cut ? `${status}, ${unusable ? 'unusable response' : 'broke off'}` : String(status)
  if (outcome === 'started') return 'in progress'
  if (outcome === 'answered') return cut ? 'broke off' : 'responded'
  if (first === null) return 'no response'
  if (outcome === 'provider_timeout') return 'stopped responding'
  return unusable ? 'unusable response' : 'broke off'
}

/** What the gateway says of a response that came to its end; any other that failed after its first byte broke off. */
const completeButWrong =
  /^The provider's answer is not what it promised|^The provider ended its stream with an error|^answered /

/** Between two tries of the same target; the gateway's own work between two is no wait. */
function waitBefore(step: RequestStep, earlier: readonly RequestStep[], { timeline }: RequestRecord): RequestStep[] {
  const last = earlier.findLast((one) => one.kind === 'attempt')
  if (last?.kind !== 'attempt' || last.endMs === null) return []
  // A target that was skipped after the wait has been told of it.
  const from = Math.max(last.endMs, earlier.at(-1)?.startMs ?? 0)
  const marked = timeline.some(({ event, at_ms }) => event === 'wait' && at_ms >= from && at_ms <= step.startMs)
  const again = step.kind === 'attempt' && step.lead === 'again'
  if (!(marked || again) || step.startMs - from < 1) return []
  return [{ kind: 'wait', startMs: from, endMs: step.startMs, target: nameTarget(last.attempt, null) }]
}
