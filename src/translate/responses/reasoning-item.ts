import type { JsonObject } from '../../core/json/json-value.ts'
import type { EmitEvent, ItemPlace } from './message-item.ts'

/** Reasoning: the visible text as its only summary, and what only a provider can read sealed in `encrypted_content`. */
export class ReasoningItem {
  readonly #place: ItemPlace
  readonly #emit: EmitEvent
  #text = ''

  constructor(place: ItemPlace, emit: EmitEvent) {
    this.#place = place
    this.#emit = emit
    emit('response.output_item.added', { output_index: place.output_index, item: this.#item(null) })
  }

  get text(): string {
    return this.#text
  }

  add(text: string): void {
    if (text === '') return
    if (this.#text === '') this.#emit('response.reasoning_summary_part.added', { ...this.#at(), part: summary('') })
    this.#text += text
    this.#emit('response.reasoning_summary_text.delta', { ...this.#at(), delta: text })
  }

  /** The finished item. */
  end(sealed: string | null): JsonObject {
    if (this.#text !== '') {
      this.#emit('response.reasoning_summary_text.done', { ...this.#at(), text: this.#text })
      this.#emit('response.reasoning_summary_part.done', { ...this.#at(), part: summary(this.#text) })
    }
    const item = this.#item(sealed)
    this.#emit('response.output_item.done', { output_index: this.#place.output_index, item })
    return item
  }

  #at(): JsonObject {
    return { ...this.#place, summary_index: 0 }
  }

  #item(sealed: string | null): JsonObject {
    return {
      id: this.#place.item_id,
      type: 'reasoning',
      summary: this.#text === '' ? [] : [summary(this.#text)],
      ...(sealed !== null && { encrypted_content: sealed }),
    }
  }
}

function summary(text: string): JsonObject {
  return { type: 'summary_text', text }
}
