import type { Gated } from './answer-consumer.ts'
import type { GatedAttempt } from './evaluate.ts'
import type { AbortWatch } from './hedge.ts'
import { type Leg, type LegTarget, noteHead, sendLeg } from './leg.ts'
import { afterRefusal, noteWithout } from './shown-reasoning.ts'
import type { UpstreamCall } from './upstream-call.ts'

/** Sends a call again if the provider refused reasoning of earlier turns, or paused in a translated answer. All of this is rare. */
export function finishAttempt(
  first: GatedAttempt,
  target: LegTarget,
  watch: AbortWatch,
  resend: Resend,
): GatedAttempt | Promise<GatedAttempt> {
  if (watch.aborted) return first
  if (target.translation === null) {
    const search = target.refused === null ? afterRefusal(first.leg.call, first) : null
    if (search === null) return first
    const isShown = first.leg.match.endpoint.format === 'chat'
    const what = isShown ? 'of earlier turns (reasoning_content)' : 'in an answer that began without its own'
    return search.then((refused) =>
      refused === null || watch.aborted ? first : sendAgain(first, { ...target, refused }, watch, resend, what),
    )
  }
  const translation = target.translation.withoutSigned(first.gated)
  if (translation !== null) return sendAgain(first, { ...target, translation }, watch, resend, 'that it had signed')
  const rest = first.leg.translation?.afterPause(first.leg, first.gated) ?? null
  return rest === null ? first : completePaused(first, rest, watch)
}

/** Sends the call to the target once more, as another attempt of the same request. */
type Resend = (target: LegTarget) => Promise<GatedAttempt>

/** The provider refused such reasoning: sends the request once more without it. */
async function sendAgain(
  { leg, gated, attempt }: GatedAttempt,
  target: LegTarget,
  watch: AbortWatch,
  resend: Resend,
  what: string,
): Promise<GatedAttempt> {
  const { trace, arrival } = leg.call
  const { name } = target.provider.row
  if ('head' in gated) attempt.status = gated.head.status
  attempt.outcome = 'retry'
  attempt.message = `refused the reasoning ${what}`
  const text = `${name} refused reasoning ${what}: it was stripped, and asked once more.`
  trace.recordStep({ rule: 'retry', verdict: 'note', text, data: { provider: name } })
  const sending = resend(target)
  // `resend` begins its attempt at once. The first attempt's hold on the account covers it: nothing was charged for the refusal.
  arrival.accounts?.replaced(attempt, trace.attempts.at(-1))
  const second = await sending
  if (target.refused !== null) noteWithout(second)
  const rest = second.leg.translation?.afterPause(second.leg, second.gated) ?? null
  return rest === null ? second : await completePaused(second, rest, watch)
}

/** The provider paused in the middle of its answer: asks for the rest, part by part, within the same attempt. */
async function completePaused(
  first: GatedAttempt,
  rest: Promise<Leg | null>,
  watch: AbortWatch,
): Promise<GatedAttempt> {
  let part = first
  for (let next: Promise<Leg | null> | null = rest; next !== null; ) {
    const leg: Leg | null = await next
    if (leg === null) break
    if (watch.aborted) return { ...part, gated: { kind: 'aborted' } }
    part = { ...part, leg, ...(await sendForRest(leg, (upstream) => watch.onAbort(() => upstream.abort()))) }
    watch.onAbort(null)
    part.attempt.ended_ms = leg.call.trace.elapsed()
    noteHead(leg, part.upstream)
    next = leg.translation?.afterPause(leg, part.gated) ?? null
  }
  return part
}

/**
 * Asks for the rest of an answer, a second time if an idle connection broke before any of it came: nothing else retries a stream that has
 * begun. `began` gets each call, so that it can be aborted with the request.
 */
export async function sendForRest(
  leg: Leg,
  began: (upstream: UpstreamCall) => void,
): Promise<{ upstream: UpstreamCall; gated: Gated }> {
  for (let last = false; ; last = true) {
    const upstream = sendLeg(leg)
    began(upstream)
    const gated = await upstream.gate
    const isStale = gated.kind === 'failed' && gated.transport === 'reset' && upstream.head.status === 0
    if (!isStale || last) return { upstream, gated }
  }
}
