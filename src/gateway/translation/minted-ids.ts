import { createHash } from 'node:crypto'
import type { ModelReply, ReplyEvent } from '../../translate/reply.ts'

/** Ids for calls of a provider that gives them none: the same for the same answer, and never the same for two calls. */
export class MintedIds {
  #answer: string

  constructor(requestId: string) {
    this.#answer = requestId
  }

  events(events: readonly ReplyEvent[]): readonly ReplyEvent[] {
    for (const event of events) if (event.kind === 'start' && event.id !== '') this.#answer = event.id
    if (!events.some((event) => event.kind === 'call' && event.id === null)) return events
    return events.map((event) =>
      event.kind === 'call' && event.id === null ? { ...event, id: this.#mint(event.part) } : event,
    )
  }

  whole(reply: ModelReply): ModelReply {
    if (!reply.parts.some((part) => part.kind === 'call' && part.id === null)) return reply
    if (reply.id !== '') this.#answer = reply.id
    const parts = reply.parts.map((part, index) =>
      part.kind === 'call' && part.id === null ? { ...part, id: this.#mint(index) } : part,
    )
    return { ...reply, parts }
  }

  #mint(part: number): string {
    const digest = createHash('sha256').update(`${this.#answer} ${part}`).digest('hex')
    return `call_${digest.slice(0, 24)}`
  }
}
