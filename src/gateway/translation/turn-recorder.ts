import type { Opaque } from '../../translate/conversation.ts'
import type { ModelReply, ReplyEvent } from '../../translate/reply.ts'
import type { TurnReasoning } from './vault.ts'

interface Thought {
  text: string
  opaque: Opaque | null
  first: boolean
}

/** Collects what a model thinks before each call of a tool, from the events of an answer. */
export class TurnRecorder {
  readonly #keep: (callId: string, turn: TurnReasoning) => void
  /** By part. */
  #thoughts = new Map<number, Thought>()
  #hasText = false
  #calls: { part: number; id: string; own: Opaque | null; before: readonly Thought[] }[] = []

  constructor(keep: (callId: string, turn: TurnReasoning) => void) {
    this.#keep = keep
  }

  /** What came together: a call's own signature comes with it. */
  events(events: readonly ReplyEvent[]): void {
    for (const event of events) {
      if (event.kind === 'reasoning') this.#thought(event.part).text += event.text
      else if (event.kind === 'opaque') this.#sign(event.part, event.opaque)
      else if (event.kind === 'text') this.#hasText = true
      else if (event.kind === 'call' && event.id !== null) this.#call(event.part, event.id)
    }
    for (const { id, own, before } of this.#calls.splice(0))
      this.#keep(id, {
        before: before.flatMap(({ text, opaque, first }) => (opaque === null ? [] : [{ text, opaque, first }])),
        own,
      })
  }

  whole({ parts }: ModelReply): void {
    this.events(
      parts.flatMap((part, index): ReplyEvent[] => {
        const opaque = 'opaque' in part && part.opaque !== undefined ? part.opaque : null
        const signed: ReplyEvent[] = opaque === null ? [] : [{ kind: 'opaque', part: index, opaque }]
        if (part.kind === 'reasoning') return [{ kind: 'reasoning', part: index, text: part.text }, ...signed]
        if (part.kind === 'call')
          return [{ kind: 'call', part: index, id: part.id, name: part.name, custom: part.custom }, ...signed]
        return part.kind === 'text' && part.text !== '' ? [{ kind: 'text', part: index, text: part.text }] : []
      }),
    )
  }

  #thought(part: number): Thought {
    const known = this.#thoughts.get(part)
    if (known !== undefined) return known
    const thought = { text: '', opaque: null, first: !this.#hasText }
    this.#thoughts.set(part, thought)
    return thought
  }

  #sign(part: number, opaque: Opaque): void {
    const call = this.#calls.find((each) => each.part === part)
    if (call !== undefined) call.own = opaque
    // A text's signature is of no use without the text's own place.
    else if (opaque.form !== 'thought' || this.#thoughts.has(part)) this.#thought(part).opaque = opaque
  }

  #call(part: number, id: string): void {
    this.#calls.push({ part, id, own: null, before: [...this.#thoughts.values()] })
    this.#thoughts = new Map()
  }
}
