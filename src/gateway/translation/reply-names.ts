import { createHash } from 'node:crypto'
import type { ModelReply, ReplyEvent } from '../../translate/reply.ts'

/**
 * Fills in what a provider leaves out of its answer: the model that was asked, and ids of calls. It also replaces an id that the
 * conversation has already: some servers restart their numbering in each answer, and agents identify a call by its id alone. The same
 * answer always gets the same ids, and no two calls share one.
 */
export class ReplyNames {
  readonly #requestId: string
  readonly #model: string
  readonly #isTaken: (id: string) => boolean
  #answer: string

  constructor({ id, model }: { id: string; model: string }, isTaken: (id: string) => boolean) {
    this.#requestId = id
    this.#model = model
    this.#isTaken = isTaken
    this.#answer = id
  }

  events(events: readonly ReplyEvent[]): readonly ReplyEvent[] {
    for (const event of events) if (event.kind === 'start' && event.id !== '') this.#answer = event.id
    if (!events.some((event) => this.#needsName(event))) return events
    return events.map((event) => {
      if (!this.#needsName(event)) return event
      return event.kind === 'start' ? { ...event, model: this.#model } : { ...event, id: this.#mint(event.part) }
    })
  }

  whole(reply: ModelReply): ModelReply {
    return this.#withIds(reply.model === '' ? { ...reply, model: this.#model } : reply)
  }

  #withIds(reply: ModelReply): ModelReply {
    if (!reply.parts.some((part) => part.kind === 'call' && this.#needsId(part))) return reply
    if (reply.id !== '') this.#answer = reply.id
    const parts = reply.parts.map((part, index) =>
      part.kind === 'call' && this.#needsId(part) ? { ...part, id: this.#mint(index) } : part,
    )
    return { ...reply, parts }
  }

  #needsName(event: ReplyEvent): event is Extract<ReplyEvent, { kind: 'start' | 'call' }> {
    return event.kind === 'start' ? event.model === '' : event.kind === 'call' && this.#needsId(event)
  }

  #needsId({ id }: { id: string | null }): boolean {
    return id === null || this.#isTaken(id)
  }

  /** A server may reuse ids of answers, too. */
  #mint(part: number): string {
    const id = mintId(`${this.#answer} ${part}`)
    return this.#isTaken(id) ? mintId(`${this.#answer} ${part} ${this.#requestId}`) : id
  }
}

function mintId(seed: string): string {
  return `call_${createHash('sha256').update(seed).digest('hex').slice(0, 24)}`
}
