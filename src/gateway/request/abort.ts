import type { Fault } from '../../core/errors.ts'

/**
 * The one way to end a request before its answer is complete: its client disconnects, or the gateway ends it for a reason that
 * the client is told (a revoked key, a limit, a drain). One step at a time listens, the one that waits for something.
 *
 * The listeners are set by methods, not by writing a function to a property: V8 makes such a function old from the start, and
 * all that it knows outlives its request (decision 0010).
 */
export class Abort {
  /** Nobody reads an answer any more. May also become true after the gateway has ended the request. */
  disconnected = false
  /** Why the gateway ends the request; null while it does not. */
  reason: Fault | null = null
  /** One of the two. */
  aborted = false
  /** The request is settled: the gateway can no longer end it otherwise. */
  settled = false
  #onAbort: (() => void) | null = null
  #onDrain: (() => void) | null = null

  disconnect(): void {
    this.disconnected = true
    this.aborted = true
    this.#onAbort?.()
  }

  /** Has no effect on a request that is aborted or settled. */
  abort(reason: Fault): void {
    if (this.aborted || this.settled) return
    this.reason = reason
    this.aborted = true
    this.#onAbort?.()
  }

  /** Replaces the listener before it; null removes it. */
  onAbort(act: (() => void) | null): void {
    this.#onAbort = act
  }

  /** For a WebSocket: the gateway is about to stop, and a connection without a response in progress may end now. */
  onDrain(act: (() => void) | null): void {
    this.#onDrain = act
  }

  drain(): void {
    this.#onDrain?.()
  }
}
