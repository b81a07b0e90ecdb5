import type { Fault } from '../../core/errors.ts'
import type { StreamEvent, StreamFramer } from '../../core/stream-event.ts'
import type { AnswerReader, Endpoint, EventReading } from '../../lanes/contract.ts'
import type { TransportFault } from '../../providers/contract.ts'
import type { MemoryBudget } from '../request/memory-budget.ts'
import type { CallLimitsOptions } from '../thread/deadlines.ts'

export interface Head {
  status: number
  headers: string[]
}

/** How a call stands at its gate, before anything has reached the client. */
export type Gated =
  /** Content has begun (or the stream ended as it should): the events come through `attach`. */
  | { kind: 'stream'; head: Head; held: readonly [StreamEvent, EventReading][] }
  | { kind: 'whole'; head: Head; body: Buffer }
  /** The body is bytes by nature, too large to hold or to read, or compressed although we asked for plain: it flows through `attach`. */
  | { kind: 'flow'; head: Head }
  /** Not 2xx. The body is whole, or its first part when larger than what is held. */
  | { kind: 'error'; head: Head; body: Buffer }
  /** The provider's error event came first. */
  | { kind: 'error-event'; head: Head; error: NonNullable<EventReading['error']> }
  | { kind: 'failed'; fault: Fault; transport: TransportFault['kind'] | null }
  /** Aborted from this side. */
  | { kind: 'aborted' }

/** Gets a call's bytes once the gate is open. Nothing is called after `ended` or `failed`. */
export interface AnswerConsumer {
  event(event: StreamEvent, reading: EventReading): void
  chunk(chunk: Buffer): void
  /** Everything that arrived together has been handed over. */
  flush(): void
  ended(missing: string | null): void
  failed(fault: Fault, transport: TransportFault['kind'] | null): void
  /** The client has not read for longer than a download may wait. */
  stalled(): void
}

export interface UpstreamTimes {
  connected: number | null
  firstByte: number | null
}

export interface UpstreamOptions extends CallLimitsOptions {
  streamed: boolean
  responseForm: Endpoint['responseForm']
  /** Whether an answer may be empty: the call asks no model for anything. */
  mayBeEmpty: boolean
  /** The type that a streamed answer must have; another type is taken for a whole document. */
  streamType: string
  reader: AnswerReader
  framer: StreamFramer | null
  /** The gateway must read the whole answer before it passes. */
  mustRead: boolean
  /** The memory of such an answer, if it is large, is reserved here. */
  budget: MemoryBudget
}
