import { createHash } from 'node:crypto'
import { renameCalls } from '../../translate/chat/reasoning-details.ts'
import type { Opaque } from '../../translate/conversation.ts'
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
  /** By the provider's own ids, which what it signed may name. */
  readonly #renamed = new Map<unknown, string>()
  #answer: string

  constructor({ id, model }: { id: string; model: string }, isTaken: (id: string) => boolean) {
    this.#requestId = id
    this.#model = model
    this.#isTaken = isTaken
    this.#answer = id
  }

  events(events: readonly ReplyEvent[]): readonly ReplyEvent[] {
    for (const event of events) if (event.kind === 'start' && event.id !== '') this.#answer = event.id
    if (this.#renamed.size === 0 && !events.some((event) => this.#needsName(event))) return events
    return events.map((event) => {
      if (event.kind === 'opaque') return { ...event, opaque: this.#rename(event.opaque) }
      if (!this.#needsName(event)) return event
      return event.kind === 'start'
        ? { ...event, model: this.#model }
        : { ...event, id: this.#mint(event.part, event.id) }
    })
  }

  whole(reply: ModelReply): ModelReply {
    return this.#withIds(reply.model === '' ? { ...reply, model: this.#model } : reply)
  }

  #withIds(reply: ModelReply): ModelReply {
    if (!reply.parts.some((part) => part.kind === 'call' && this.#needsId(part))) return reply
    if (reply.id !== '') this.#answer = reply.id
    const parts = reply.parts.map((part, index) =>
      part.kind === 'call' && this.#needsId(part) ? { ...part, id: this.#mint(index, part.id) } : part,
    )
    const signed = parts.map((part) =>
      part.kind === 'call' && part.opaque !== undefined ? { ...part, opaque: this.#rename(part.opaque) } : part,
    )
    return { ...reply, parts: signed }
  }

  #needsName(event: ReplyEvent): event is Extract<ReplyEvent, { kind: 'start' | 'call' }> {
    return event.kind === 'start' ? event.model === '' : event.kind === 'call' && this.#needsId(event)
  }

  #needsId({ id }: { id: string | null }): boolean {
    return id === null || this.#isTaken(id)
  }

  /** A server may reuse ids of answers, too. `own`: the provider's. */
  #mint(part: number, own: string | null): string {
    const first = mintId(`${this.#answer} ${part}`)
    const id = this.#isTaken(first) ? mintId(`${this.#answer} ${part} ${this.#requestId}`) : first
    if (own !== null) this.#renamed.set(own, id)
    return id
  }

  #rename(opaque: Opaque): Opaque {
    return this.#renamed.size === 0 ? opaque : renameCalls(opaque, this.#renamed)
  }
}

function mintId(seed: string): string {
  return `call_${createHash('sha256').update(seed).digest('hex').slice(0, 24)}`
}
