import type { Opaque } from '../../translate/conversation.ts'
import type { ModelReply, ReplyEvent } from '../../translate/reply.ts'
import type { TurnReasoning } from './vault.ts'

interface Thought {
  text: string
  opaque: Opaque | null
  first: boolean
}

interface RecordedCall {
  id: string
  own: Opaque | null
  before: readonly Thought[]
}

/** Keeps the reasoning of a turn: by the id of each call, or by its text if it makes no calls. */
interface Kept {
  call(id: string, turn: TurnReasoning): void
  text(text: string, turn: TurnReasoning): void
}

/** Collects a model's reasoning before each tool call, or before its text, from the events of an answer. */
export class TurnRecorder {
  readonly #kept: Kept
  /** By part number. */
  #thoughts = new Map<number, Thought>()
  /** The part numbers of texts. */
  readonly #textParts = new Set<number>()
  #text = ''
  /** The signature of the last text itself. */
  #textOpaque: { part: number; opaque: Opaque } | null = null
  #hasCalls = false
  /** By part. */
  readonly #calls = new Map<number, RecordedCall>()
  /** Those that are not kept yet, or not with their signature. */
  readonly #changed = new Set<RecordedCall>()

  constructor(kept: Kept) {
    this.#kept = kept
  }

  /** `events`: those that arrived together. A call's own signature comes with it, or (OpenRouter) at the end of the answer. */
  events(events: readonly ReplyEvent[]): void {
    for (const event of events) {
      if (event.kind === 'reasoning') this.#thought(event.part).text += event.text
      else if (event.kind === 'opaque') this.#sign(event.part, event.opaque)
      else if (event.kind === 'text') this.#addText(event.part, event.text)
      else if (event.kind === 'call' && event.id !== null) this.#call(event.part, event.id)
    }
    for (const { id, own, before } of this.#changed) this.#kept.call(id, { before: signed(before), own })
    this.#changed.clear()
    if (events.some(({ kind }) => kind === 'stop')) this.#end()
  }

  whole({ parts, stop }: ModelReply): void {
    this.events([
      ...parts.flatMap((part, index): ReplyEvent[] => {
        const opaque = 'opaque' in part && part.opaque !== undefined ? part.opaque : null
        const seal: ReplyEvent[] = opaque === null ? [] : [{ kind: 'opaque', part: index, opaque }]
        if (part.kind === 'reasoning') return [{ kind: 'reasoning', part: index, text: part.text }, ...seal]
        if (part.kind === 'call')
          return [{ kind: 'call', part: index, id: part.id, name: part.name, custom: part.custom }, ...seal]
        return part.kind === 'text' && part.text !== '' ? [{ kind: 'text', part: index, text: part.text }, ...seal] : []
      }),
      { kind: 'stop', stop },
    ])
  }

  /** Reasoning between two texts cannot be put back into a single text, and a signature only fits a text that is alone. */
  #end(): void {
    if (this.#hasCalls || this.#text.trim() === '') return
    const thoughts = signed([...this.#thoughts.values()])
    const isOne = this.#textParts.size === 1 && this.#textParts.has(this.#textOpaque?.part ?? -1)
    const own = isOne ? (this.#textOpaque?.opaque ?? null) : null
    if (thoughts.some(({ first }) => !first) || (thoughts.length === 0 && own === null)) return
    this.#kept.text(this.#text, { before: thoughts, own })
  }

  #addText(part: number, text: string): void {
    this.#textParts.add(part)
    if (!this.#hasCalls) this.#text += text
  }

  #thought(part: number): Thought {
    const known = this.#thoughts.get(part)
    if (known !== undefined) return known
    const thought = { text: '', opaque: null, first: this.#textParts.size === 0 }
    this.#thoughts.set(part, thought)
    return thought
  }

  #sign(part: number, opaque: Opaque): void {
    const call = this.#calls.get(part)
    if (call !== undefined) {
      call.own = opaque
      this.#changed.add(call)
    } else if (this.#textParts.has(part)) this.#textOpaque = { part, opaque }
    // A text's signature is useless without the text's own part.
    else if (opaque.form !== 'thought' || this.#thoughts.has(part)) this.#thought(part).opaque = opaque
  }

  #call(part: number, id: string): void {
    this.#hasCalls = true
    const call = { id, own: null, before: [...this.#thoughts.values()] }
    this.#calls.set(part, call)
    this.#changed.add(call)
    this.#thoughts = new Map()
  }
}

function signed(thoughts: readonly Thought[]): TurnReasoning['before'] {
  return thoughts.flatMap(({ text, opaque, first }) => (opaque === null ? [] : [{ text, opaque, first }]))
}
