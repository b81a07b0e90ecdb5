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

/** What a call came to before anything reached the client. */
export type Gated =
  /** Content has begun (or the stream ended as it should): the events come through `attach`. */
  | { kind: 'stream'; head: Head; held: readonly [StreamEvent, EventReading][] }
  | { kind: 'whole'; head: Head; body: Buffer }
  /** Bytes by nature, too large to hold or too much to read, or compressed against our asking: they flow, through `attach`. */
  | { kind: 'flow'; head: Head }
  /** Not 2xx. The body is whole, or its first part when larger than what is held. */
  | { kind: 'error'; head: Head; body: Buffer }
  /** The provider's error event came first. */
  | { kind: 'error-event'; head: Head; error: NonNullable<EventReading['error']> }
  | { kind: 'failed'; fault: Fault; transport: TransportFault['kind'] | null }
  /** Aborted from this side. */
  | { kind: 'aborted' }

/** Where a call's bytes go once it is let through. Nothing is called after `ended` or `failed`. */
export interface AnswerConsumer {
  event(event: StreamEvent, reading: EventReading): void
  chunk(chunk: Buffer): void
  /** All that arrived together has been handed over. */
  flush(): void
  ended(missing: string | null): void
  failed(fault: Fault, transport: TransportFault['kind'] | null): void
  /** What it was given has waited for the client longer than a download may. */
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
  /** The gateway must know what stands in the whole answer. */
  mustRead: boolean
  /** For such an answer, where it is large. */
  budget: MemoryBudget
}
