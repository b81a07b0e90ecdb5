import type { StreamEvent } from '../../core/bytes/stream-event.ts'
import type { Fault } from '../../core/errors.ts'
import type { EventReading } from '../../lanes/contract.ts'

/** Bytes to send; null: none. A fault: neither this nor anything after it may be sent. */
export type Passed = Buffer | Fault | null
/** A promise only if the work takes long, so that other requests are served meanwhile. */
export type StagePass = Passed | Promise<Passed>

/**
 * Changes an answer between its reader, which has seen what the provider sent, and its writer. A pass-through answer has no stages. Several
 * run in order, each on the output of the one before.
 */
export interface AnswerStage {
  /** Why an answer must be rejected rather than passed on unread; null: it may pass. */
  readonly faultIfUnread: Fault | null
  /** What to send for an event. `pass`: what would be sent without this stage. The next event follows once this has resolved. */
  event(event: StreamEvent, pass: Buffer | null, reading: EventReading): StagePass
  /** Bytes to send after the last event, before the request is settled. */
  end(): StagePass
  /** The end of a stream that breaks off, if only this stage can write it; absent: the lane writes it. */
  broken?(reason: Fault): Buffer
  /** The body of a whole answer. A fault: nothing of the answer may be sent. */
  whole(body: Buffer): Buffer | Fault | Promise<Buffer | Fault>
}

export const isRefused = (passed: Passed): passed is Fault => passed !== null && !Buffer.isBuffer(passed)

/** Passes an event through all stages, in their order. */
export function passEvent(
  stages: readonly AnswerStage[],
  event: StreamEvent,
  reading: EventReading,
  pass: Buffer | null = reading.pass,
  from = 0,
): StagePass {
  let passed = pass
  for (let at = from; at < stages.length; at++) {
    const passing = stages[at]?.event(event, passed, reading) ?? null
    if (passing instanceof Promise)
      return passing.then((later) => (isRefused(later) ? later : passEvent(stages, event, reading, later, at + 1)))
    if (isRefused(passing)) return passing
    passed = passing
  }
  return passed
}

/** What all stages have left at the end of a stream; the first fault ends it. */
export function endStages(stages: readonly AnswerStage[]): StagePass {
  const [stage, ...later] = stages
  if (stage === undefined) return null
  return after(stage.end(), (left) => {
    if (isRefused(left)) return left
    return after(endStages(later), (rest) => (isRefused(rest) ? rest : joined(left, rest)))
  })
}

function joined(one: Buffer | null, other: Buffer | null): Buffer | null {
  if (one === null || other === null) return one ?? other
  return Buffer.concat([one, other])
}

/** Calls `act` with what passes: at once, unless `passing` is a promise. */
export function after(passing: StagePass, act: (passed: Passed) => StagePass): StagePass {
  return passing instanceof Promise ? passing.then(act) : act(passing)
}
