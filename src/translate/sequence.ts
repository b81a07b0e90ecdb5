import type { ReplyEvent } from './reply.ts'

type PartEvent = Extract<ReplyEvent, { part: number }>

/**
 * Puts the parts of an answer one after another. Chat's parallel calls may be interleaved, but most formats end one part before the next
 * begins: the first open part is passed on live, the others wait for its end.
 */
export class PartSequence {
  /** The part that is passed on live; null: none is open. */
  #open: number | null = null
  readonly #waiting = new Map<number, PartEvent[]>()
  readonly #ended = new Set<number>()

  order(events: readonly ReplyEvent[]): ReplyEvent[] {
    const ordered: ReplyEvent[] = []
    for (const event of events) {
      if (event.kind === 'stop') {
        this.#closeAll(ordered)
        ordered.push(event)
      } else if ('part' in event) this.#take(event, ordered)
      else ordered.push(event)
    }
    return ordered
  }

  /** Ends every part that has begun, in the order in which they began. */
  end(): ReplyEvent[] {
    const ordered: ReplyEvent[] = []
    this.#closeAll(ordered)
    return ordered
  }

  #closeAll(ordered: ReplyEvent[]): void {
    while (this.#open !== null) this.#close(this.#open, ordered)
  }

  #take(event: PartEvent, ordered: ReplyEvent[]): void {
    const { part } = event
    // A part that has ended gets nothing more.
    if (this.#ended.has(part)) return
    this.#open ??= part
    if (part !== this.#open) {
      const waiting = this.#waiting.get(part)
      if (waiting === undefined) this.#waiting.set(part, [event])
      else waiting.push(event)
    } else if (event.kind === 'part-end') this.#close(part, ordered)
    else ordered.push(event)
  }

  #close(part: number, ordered: ReplyEvent[]): void {
    ordered.push({ kind: 'part-end', part })
    this.#ended.add(part)
    this.#open = null
    // Parts that ended while they waited are passed on whole, up to one that is still open.
    for (const [next, events] of this.#waiting) {
      this.#waiting.delete(next)
      for (const event of events) ordered.push(event)
      if (events.at(-1)?.kind !== 'part-end') {
        this.#open = next
        return
      }
      this.#ended.add(next)
    }
  }
}
