import type { Fault } from '../../core/errors.ts'
import type { StreamEvent } from '../../core/stream-event.ts'
import type { EventReading } from '../../lanes/contract.ts'

/** Bytes; null: nothing. A fault: neither this nor what follows may pass. */
export type Passed = Buffer | Fault | null
/** A promise only where it takes long, and others have their turns meanwhile. */
export type StagePass = Passed | Promise<Passed>

/**
 * Changes an answer between the reader, which has seen what the provider sent, and the writer. A pass-through answer has no
 * stages; those that there are run in order, each on what the one before it gave.
 */
export interface AnswerStage {
  /** Why an answer whose bytes flow on unread may not pass; null: it may. */
  readonly faultIfUnread: Fault | null
  /** What passes for an event. `pass` is what would go out otherwise. The next event comes when that is known. */
  event(event: StreamEvent, pass: Buffer | null, reading: EventReading): StagePass
  /** Bytes that go out after the last event, with the settled entry behind them. */
  end(): StagePass
  /** The end of a stream that breaks off, where only the stage knows what fits it; absent: the lane writes it. */
  broken?(reason: Fault): Buffer
  /** A whole answer's body; a promise where that may take long. A fault: nothing of the answer may pass. */
  whole(body: Buffer): Buffer | Fault | Promise<Buffer | Fault>
}

export const isRefused = (passed: Passed): passed is Fault => passed !== null && !Buffer.isBuffer(passed)

/** An event through all stages, in their order. */
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

/** What all stages have left at the end of a stream; the first refusal is the answer's. */
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

/** At once where it is known at once. */
export function after(passing: StagePass, act: (passed: Passed) => StagePass): StagePass {
  return passing instanceof Promise ? passing.then(act) : act(passing)
}
