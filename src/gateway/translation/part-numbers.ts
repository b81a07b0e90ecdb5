import type { ReplyEvent } from '../../translate/reply.ts'

/** Numbers the parts of an answer continuously across a provider's pauses, and passes the answer's start only once. */
export class PartNumbers {
  #first = 0
  #next = 0
  #goesOn = false

  /** What follows is the rest of the answer. */
  begin(): void {
    this.#first = this.#next
    this.#goesOn = true
  }

  events(events: readonly ReplyEvent[]): readonly ReplyEvent[] {
    for (const event of events) if ('part' in event) this.#next = Math.max(this.#next, this.#first + event.part + 1)
    if (!this.#goesOn) return events
    return events.flatMap((event): ReplyEvent[] => {
      if (event.kind === 'start') return []
      return 'part' in event ? [{ ...event, part: this.#first + event.part }] : [event]
    })
  }
}
