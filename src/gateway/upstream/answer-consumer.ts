import type { StreamEvent, StreamFramer } from '../../core/bytes/stream-event.ts'
import type { Fault } from '../../core/errors.ts'
import type { AnswerReader, Endpoint, EventReading } from '../../lanes/contract.ts'
import type { TransportFault } from '../../providers/contract.ts'
import type { MemoryBudget } from '../request/memory-budget.ts'
import type { CallLimitsOptions } from '../thread/deadlines.ts'

export interface Head {
  status: number
  headers: string[]
}

/** The result of a call at its commit gate, before anything has reached the client. */
export type Gated =
  /** Content has begun (or the stream ended normally): the events come through `attach`. */
  | { kind: 'stream'; head: Head; held: readonly [StreamEvent, EventReading][] }
  | { kind: 'whole'; head: Head; body: Buffer }
  /**
   * The body is binary, too large to hold or to read, or compressed although the gateway asked for plain text: it flows through `attach`.
   */
  | { kind: 'flow'; head: Head }
  /** Not 2xx. The body is complete, or its first part if it is larger than the limit for held bytes. */
  | { kind: 'error'; head: Head; body: Buffer }
  /** The provider sent an error event before any content. */
  | { kind: 'error-event'; head: Head; error: NonNullable<EventReading['error']> }
  | { kind: 'failed'; fault: Fault; transport: TransportFault['kind'] | null }
  /** Aborted by the client or the gateway. */
  | { kind: 'aborted' }

/** Gets a call's bytes once the gate is open. Nothing is called after `ended` or `failed`. */
export interface AnswerConsumer {
  event(event: StreamEvent, reading: EventReading): void
  chunk(chunk: Buffer): void
  /** All that arrived together has been handed over. */
  flush(): void
  ended(missing: string | null): void
  failed(fault: Fault, transport: TransportFault['kind'] | null): void
  /** The client has not read for longer than a download may pause. */
  stalled(): void
}

export interface UpstreamTimes {
  connected: number | null
  firstByte: number | null
}

export interface UpstreamOptions extends CallLimitsOptions {
  streamed: boolean
  responseForm: Endpoint['responseForm']
  /** Whether the answer may be empty: the call asks no model. */
  mayBeEmpty: boolean
  /** The type that a streamed answer must have; another type is taken for a whole document. */
  streamType: string
  reader: AnswerReader
  framer: StreamFramer | null
  /** The gateway must read the whole answer before any of it is passed on. */
  mustRead: boolean
  /** Memory for such an answer is reserved here, if it is large. */
  budget: MemoryBudget
}
