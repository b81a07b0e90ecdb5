import { type Fault, fault } from '../../core/errors.ts'
import { formatBytes } from '../../core/text/format-bytes.ts'
import type { ReplyEvent } from '../../translate/reply.ts'
import { outOfMemory } from '../request/memory-budget.ts'
import type { Leg } from '../upstream/leg.ts'

/** How much of a stream is held without reserving memory: nearly every answer is shorter. */
const freeBytes = 1024 * 1024
/** Several times the longest answer of any model, in the smallest pieces. */
const mostBytes = 32_000_000
/** Memory for an event of the provider, in addition to its text, and for each thing that it says. */
const eventCost = 64
const saidCost = 32

/**
 * Memory that the two codecs need for a streamed answer: texts that some formats repeat at the end, calls that must be complete, parts that
 * wait. It counts in the memory budget with the request's body, and is released with it.
 */
export class HeldReply {
  readonly #leg: Leg
  #bytes = 0

  constructor(leg: Leg) {
    this.#leg = leg
  }

  /** A fault: the answer cannot be held any further. */
  add(said: readonly ReplyEvent[]): Fault | null {
    let bytes = eventCost
    for (const event of said) bytes += saidCost + lengthOf(event)
    return this.hold(bytes)
  }

  /** Negative: bytes that are no longer needed. */
  hold(bytes: number): Fault | null {
    this.#bytes += bytes
    if (this.#bytes <= freeBytes) return null
    if (this.#bytes > mostBytes) return tooLong
    const { gateway, body } = this.#leg.call
    return gateway.memoryBudget.reserve(body, body.bytes.length + this.#bytes) ? null : outOfMemory()
  }
}

function lengthOf(event: ReplyEvent): number {
  if (event.kind === 'text' && event.logprobs !== undefined)
    return event.text.length + JSON.stringify(event.logprobs).length
  if ('text' in event) return event.text.length
  if (event.kind === 'image') return event.data.length
  if (event.kind === 'opaque') return event.opaque.value.length
  return event.kind === 'citation' ? JSON.stringify(event.citation).length : 0
}

const tooLong = fault(
  'provider_bad_response',
  `The answer is longer than what can be held of a stream while it is translated (${formatBytes(mostBytes)}).`,
)
