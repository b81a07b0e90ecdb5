import { createHash } from 'node:crypto'
import type { ModelReply, ReplyEvent } from '../../translate/reply.ts'

/**
 * What a provider leaves out of its answer: the model, which is the one that was asked, and ids of calls. A call of the conversation may
 * also have its id already (some servers count anew in each answer, and agents know a call by its id alone). Ids are the same for the same
 * answer, and never the same for two calls.
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

  /** A server may give its answers one id, too. */
  #mint(part: number): string {
    const id = mintId(`${this.#answer} ${part}`)
    return this.#isTaken(id) ? mintId(`${this.#answer} ${part} ${this.#requestId}`) : id
  }
}

function mintId(seed: string): string {
  return `call_${createHash('sha256').update(seed).digest('hex').slice(0, 24)}`
}
