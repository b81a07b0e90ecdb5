import type { JsonObject } from '../../core/json/json-value.ts'
import type { Citation, TokenLogprob } from '../conversation.ts'
import { writeCitation } from './citations.ts'

/** Emits an event of the stream, without its sequence number. */
export type EmitEvent = (type: string, members: JsonObject) => void

/** An item's place in the answer. */
export interface ItemPlace {
  item_id: string
  output_index: number
}

type ContentKind = 'text' | 'refusal'

interface OpenContent {
  kind: ContentKind
  part: number
  text: string
  /** The length of the answer's text before it. */
  base: number
  annotations: JsonObject[]
  logprobs: TokenLogprob[]
}

/** A piece of content. */
interface SaidText {
  kind: ContentKind
  part: number
  text: string
  /** Probabilities of the piece's tokens; empty unless the client asked for them. */
  logprobs: readonly TokenLogprob[]
}

export const noLogprobs: readonly TokenLogprob[] = []

/** A message of the answer. Consecutive texts are parts of one message. */
export class MessageItem {
  readonly #place: ItemPlace
  readonly #emit: EmitEvent
  readonly #content: JsonObject[] = []
  #open: OpenContent | null = null

  constructor(place: ItemPlace, emit: EmitEvent) {
    this.#place = place
    this.#emit = emit
    emit('response.output_item.added', { output_index: place.output_index, item: this.#item('in_progress') })
  }

  add({ kind, part, text, logprobs }: SaidText, base: number): void {
    if (text === '' && logprobs.length === 0) return
    if (this.#open?.part !== part || this.#open.kind !== kind) {
      this.endPart()
      this.#open = { kind, part, text: '', base, annotations: [], logprobs: [] }
      this.#emit('response.content_part.added', { ...this.#at(), part: writePart({ ...this.#open }) })
    }
    this.#open.text += text
    for (const token of logprobs) this.#open.logprobs.push(token)
    if (kind === 'text') this.#emit('response.output_text.delta', { ...this.#at(), delta: text, logprobs })
    else this.#emit('response.refusal.delta', { ...this.#at(), delta: text })
  }

  cite(part: number, citation: Citation): void {
    const open = this.#open
    if (open?.part !== part || open.kind !== 'text') return
    const annotation = writeCitation(citation, open.base, open.text.length)
    const annotation_index = open.annotations.push(annotation) - 1
    this.#emit('response.output_text.annotation.added', { ...this.#at(), annotation_index, annotation })
  }

  endPart(): void {
    const open = this.#open
    if (open === null) return
    const { text, logprobs } = open
    if (open.kind === 'text') this.#emit('response.output_text.done', { ...this.#at(), text, logprobs })
    else this.#emit('response.refusal.done', { ...this.#at(), refusal: text })
    const part = writePart(open)
    this.#emit('response.content_part.done', { ...this.#at(), part })
    this.#content.push(part)
    this.#open = null
  }

  /** The finished item. */
  end(status: 'completed' | 'incomplete'): JsonObject {
    this.endPart()
    const item = this.#item(status)
    this.#emit('response.output_item.done', { output_index: this.#place.output_index, item })
    return item
  }

  #at(): JsonObject {
    return { ...this.#place, content_index: this.#content.length }
  }

  #item(status: string): JsonObject {
    return { id: this.#place.item_id, type: 'message', status, role: 'assistant', content: [...this.#content] }
  }
}

function writePart({ kind, text, annotations, logprobs }: OpenContent): JsonObject {
  if (kind === 'refusal') return { type: 'refusal', refusal: text }
  return { type: 'output_text', text, annotations: [...annotations], logprobs: [...logprobs] }
}
