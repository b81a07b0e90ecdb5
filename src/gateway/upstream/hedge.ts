import type { AttemptRecord } from '../../core/record.ts'
import { flatText } from '../../core/text/flat-text.ts'
import type { Sent } from '../../routing/attempt.ts'
import { RouteTimes } from '../../routing/hedging.ts'
import type { Candidate, Plan } from '../../routing/plan.ts'
import type { SnapshotRoute } from '../../store/configuration/snapshot.ts'
import { chargeCutAttempt } from '../answer/charge.ts'
import type { Abort } from '../request/arrival.ts'
import type { Call } from '../request/call.ts'
import type { Answer } from './evaluate.ts'
import { raiseForTarget } from './hold-budgets.ts'
import { noteHead, noteLeg } from './leg.ts'
import { mayRepeat } from './may-repeat.ts'

/** What can end an attempt early: the end of the request, or the cancellation of one of two attempts that run at once. */
export interface AbortWatch extends Pick<Abort, 'aborted' | 'onAbort'> {
  /** The attempt has been sent, or is about to be. */
  began?(attempt: AttemptRecord): void
}
/** One attempt at a target. */
export type SendAttempt = (candidate: Candidate, watch?: AbortWatch) => Promise<Sent<Answer>>

/** Null: the route does not hedge, or the call must not be sent twice. */
export function prepareHedge(call: Call, { route, candidates }: Plan): Hedge | null {
  const { hedge } = route ?? {}
  if (route === null || hedge === null || hedge === undefined || !mayRepeat(call)) return null
  return new Hedge(call, route, hedge, candidates)
}

/** One of two attempts that run at once. It ends with the request, or when it is cancelled. */
class Branch implements AbortWatch {
  aborted = false
  /** null: nothing has been sent. */
  attempt: AttemptRecord | null = null
  readonly candidate: Candidate
  #act: (() => void) | null = null

  constructor(candidate: Candidate) {
    this.candidate = candidate
  }

  onAbort(act: (() => void) | null): void {
    this.#act = act
  }

  began(attempt: AttemptRecord): void {
    this.attempt = attempt
  }

  cancel(): void {
    this.aborted = true
    this.#act?.()
  }
}

interface Running {
  branch: Branch
  sent: Promise<Sent<Answer>>
}

/**
 * If the first target is silent for longer than the route allows, a second one is asked as well. The first answer is passed on; the other
 * attempt is cancelled, and charged at its own provider.
 */
export class Hedge {
  readonly #call: Call
  readonly #share: number
  readonly #candidates: readonly Candidate[]
  readonly #times: RouteTimes
  /** Milliseconds; null: not known yet. */
  readonly #after: number | null
  /** A request is hedged at most once; its retries work as usual. */
  #tried = false

  constructor(
    call: Call,
    { id }: SnapshotRoute,
    hedge: NonNullable<SnapshotRoute['hedge']>,
    all: readonly Candidate[],
  ) {
    this.#call = call
    this.#share = hedge.share
    this.#candidates = all
    this.#times = new RouteTimes(call.gateway.hedging, id)
    this.#times.count()
    this.#after = hedge.after === 'p95' ? this.#times.p95(call.inspection.streamed) : hedge.after
  }

  async send(candidate: Candidate, send: SendAttempt): Promise<Sent<Answer>> {
    if (this.#tried) return send(candidate)
    this.#tried = true
    const { abort } = this.#call
    const begun = performance.now()
    const first = this.#begin(candidate, send)
    const both: Running[] = [first]
    abort.onAbort(() => {
      for (const { branch } of both) branch.cancel()
    })
    try {
      const early = this.#after === null ? await first.sent : await within(first.sent, this.#after)
      const other = early === null && !abort.aborted ? await this.#chooseOther(candidate) : null
      if (other !== null && !abort.aborted) both.push(this.#begin(other, send))
      const sent = both.length === 1 ? await first.sent : await this.#finish(both)
      // The second attempt was not sent: its breaker or credentials did not allow it, or it was no longer needed.
      if (other !== null && both[1]?.branch.attempt == null) this.#times.release()
      this.#record(first.branch, performance.now() - begun)
      return sent
    } catch (error) {
      for (const { branch } of both) branch.cancel()
      await Promise.allSettled(both.map(({ sent }) => sent))
      throw error
    } finally {
      abort.onAbort(null)
    }
  }

  /** Records the time of the first target, even if it lost and might have taken longer still. */
  #record({ attempt }: Branch, ms: number): void {
    if (attempt?.outcome === 'answered' || attempt?.outcome === 'cancelled')
      this.#times.record(this.#call.inspection.streamed, ms)
  }

  #begin(candidate: Candidate, send: SendAttempt): Running {
    const branch = new Branch(candidate)
    return { branch, sent: send(candidate, branch) }
  }

  /** The next candidate of the plan, or the first one again; null: there is no room for it, as the record says. */
  async #chooseOther(first: Candidate): Promise<Candidate | null> {
    const next = this.#candidates[this.#candidates.indexOf(first) + 1]
    const other = next === undefined || next.lastResort ? first : next
    if (!this.#times.take(this.#share))
      return this.#skip(`${this.#share}% of the route's requests were sent twice already`)
    if (this.#call.arrival.limits === null || (await raiseForTarget(this.#call, other, first))) return other
    this.#times.release()
    return this.#skip('the budgets have no room for it')
  }

  #skip(reason: string): null {
    const text = `No second target was asked after ${this.#after} ms: ${reason}.`
    this.#call.trace.routingSignals.push({ rule: 'hedge', verdict: 'skipped', text, data: { after_ms: this.#after } })
    return null
  }

  /** The first answer wins. If one attempt fails, the result of the other counts. */
  async #finish(both: readonly Running[]): Promise<Sent<Answer>> {
    const fastest = await Promise.race(both.map(async (each) => ({ each, sent: await each.sent })))
    const other = both.find((each) => each !== fastest.each)
    if (other === undefined) return fastest.sent
    if (fastest.sent.kind === 'gone') {
      await other.sent
      return fastest.sent
    }
    if (fastest.sent.kind === 'answered') {
      other.branch.cancel()
      this.#drop(other.branch, await other.sent)
      return this.#conclude(fastest.each, other, fastest.sent)
    }
    const slower = await other.sent
    // The failure of an attempt that was sent says more than that of one that was not.
    if (slower.kind === 'failed' && fastest.each.branch.attempt !== null)
      return this.#conclude(fastest.each, other, fastest.sent)
    return this.#conclude(other, fastest.each, slower)
  }

  /** Ends the attempt that lost: nobody needs its answer, but it may be charged all the same. */
  #drop({ attempt }: Branch, sent: Sent<Answer>): void {
    const { trace } = this.#call
    if (sent.kind === 'answered') {
      const { leg, upstream } = sent.answer
      upstream.abort()
      if (attempt !== null) chargeCutAttempt(leg, attempt, upstream)
    }
    // Its account has no part in the answer: a longer answer must neither raise its hold nor be stopped by it.
    if (attempt !== null && sent.kind !== 'failed') this.#call.arrival.accounts?.ended(attempt)
    // These tokens are not part of what the answer used.
    trace.cutTokens = null
    if (attempt !== null && sent.kind !== 'failed') attempt.outcome = 'cancelled'
  }

  #conclude(last: Running, other: Running, sent: Sent<Answer>): Sent<Answer> {
    const { attempts } = this.#call.trace
    const { attempt } = last.branch
    // The last attempt on a record is the one whose result the client got.
    if (attempt !== null && attempts.at(-1) !== attempt) attempts.push(...attempts.splice(attempts.indexOf(attempt), 1))
    if (sent.kind === 'answered') {
      noteLeg(sent.answer.leg)
      noteHead(sent.answer.leg, sent.answer.upstream)
    }
    if (other.branch.attempt !== null && attempt !== null) this.#say(last.branch, other.branch, sent)
    return sent
  }

  #say(last: Branch, other: Branch, sent: Sent<Answer>): void {
    if (sent.kind === 'gone') return
    const [winner, loser] = [nameOf(last.candidate), nameOf(other.candidate)]
    const usd = other.attempt?.cost?.usd ?? null
    const result = sent.kind === 'answered' ? `${winner} answered first` : 'neither answered'
    this.#call.trace.routingSignals.push({
      rule: 'hedge',
      verdict: 'note',
      text: flatText('Sent to two targets after ', String(this.#after), ' ms of silence: ', result, '.'),
      data: { after_ms: this.#after, winner: sent.kind === 'answered' ? winner : null, loser, loser_usd: usd },
    })
  }
}

function nameOf({ provider, upstreamModel }: Candidate): string {
  return `${provider.name}/${upstreamModel}`
}

/** Null: the promise did not resolve in time. */
async function within<Value>(promise: Promise<Value>, ms: number): Promise<Value | null> {
  let timer: NodeJS.Timeout | undefined
  const nothing = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), ms)
  })
  try {
    return await Promise.race([promise, nothing])
  } finally {
    clearTimeout(timer)
  }
}
