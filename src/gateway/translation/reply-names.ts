import { createHash } from 'node:crypto'
import type { ModelReply, ReplyEvent } from '../../translate/reply.ts'

/**
 * Ids for calls of a provider that gives them none, or one that a call of the conversation has already (some servers count anew in each
 * answer, and agents know a call by its id alone): the same for the same answer, and never the same for two calls.
 */
export class MintedIds {
  readonly #requestId: string
  readonly #isTaken: (id: string) => boolean
  #answer: string

  constructor(requestId: string, isTaken: (id: string) => boolean) {
    this.#requestId = requestId
    this.#isTaken = isTaken
    this.#answer = requestId
  }

  events(events: readonly ReplyEvent[]): readonly ReplyEvent[] {
    for (const event of events) if (event.kind === 'start' && event.id !== '') this.#answer = event.id
    if (!events.some((event) => event.kind === 'call' && this.#needsId(event))) return events
    return events.map((event) =>
      event.kind === 'call' && this.#needsId(event) ? { ...event, id: this.#mint(event.part) } : event,
    )
  }

  whole(reply: ModelReply): ModelReply {
    if (!reply.parts.some((part) => part.kind === 'call' && this.#needsId(part))) return reply
    if (reply.id !== '') this.#answer = reply.id
    const parts = reply.parts.map((part, index) =>
      part.kind === 'call' && this.#needsId(part) ? { ...part, id: this.#mint(index) } : part,
    )
    return { ...reply, parts }
  }

  #needsId({ id }: { id: string | null }): boolean {
    return id === null || this.#isTaken(id)
  }

  /** A server may give its answers one id, too. */
  #mint(part: number): string {
    const id = mintId(`${this.#answer} ${part}`)
    return this.#isTaken(id) ? mintId(`${this.#answer} ${part} ${this.#requestId}`) : id
  }
}

function mintId(seed: string): string {
  return `call_${createHash('sha256').update(seed).digest('hex').slice(0, 24)}`
}
