import type { Fault } from '../../core/errors.ts'
import type { StreamEvent } from '../../core/stream-event.ts'
import type { EventReading } from '../../lanes/contract.ts'

/**
 * Changes an answer between the reader, which has seen what the provider sent, and the writer. A pass-through answer has no
 * stages; those that there are run in order, each on what the one before it gave.
 */
export interface AnswerStage {
  /** Why an answer whose bytes flow on unread may not pass; null: it may. */
  readonly faultIfUnread: Fault | null
  /**
   * The bytes to pass for an event; null: nothing of it. A fault: neither it nor what follows may pass. `pass` is what would go out
   * otherwise.
   */
  event(event: StreamEvent, pass: Buffer | null, reading: EventReading): Buffer | Fault | null
  /** Bytes that go out after the last event, with the settled entry behind them; null: none. */
  end(): Buffer | Fault | null
  /** The end of a stream that breaks off, where only the stage knows what fits it; absent: the lane writes it. */
  broken?(reason: Fault): Buffer
  /** A whole answer's body; a promise where that may take long. A fault: nothing of the answer may pass. */
  whole(body: Buffer): Buffer | Fault | Promise<Buffer | Fault>
}
