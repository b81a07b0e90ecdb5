import type { JsonObject } from '../../core/json/json-value.ts'
import { CustomInputDecoder } from '../custom-tools.ts'
import { areArguments } from '../stop.ts'
import type { EmitEvent, ItemPlace } from './message-item.ts'

interface CallHead {
  id: string
  name: string
  /** The tool's namespace, if the client keeps it in one. */
  namespace?: string
  /** Whether the client knows it as a custom tool. */
  custom: boolean
  /** It is the client's own search for tools. */
  findsTools: boolean
  /** The provider knows the tool as a function, so its text is inside JSON. */
  wrapped: boolean
}

/** A call of a function, or of a custom tool. */
export class CallItem {
  readonly #place: ItemPlace
  readonly #emit: EmitEvent
  readonly #head: CallHead
  readonly #decoder: CustomInputDecoder | null
  #text = ''

  constructor(place: ItemPlace, head: CallHead, emit: EmitEvent) {
    this.#place = place
    this.#head = head
    this.#emit = emit
    this.#decoder = head.wrapped ? new CustomInputDecoder() : null
    emit('response.output_item.added', { output_index: place.output_index, item: this.#item('in_progress') })
  }

  get id(): string {
    return this.#head.id
  }

  add(piece: string): void {
    this.#delta(this.#decoder === null ? piece : this.#decoder.push(piece))
  }

  /** The finished item. */
  end(): JsonObject {
    if (this.#decoder !== null) this.#delta(this.#decoder.end())
    if (!this.#head.custom && this.#text.trim() === '') this.#delta('{}')
    const member = this.#head.custom ? 'input' : 'arguments'
    this.#emitText('done', { [member]: this.#text })
    const item = this.#item(this.#isComplete ? 'completed' : 'incomplete')
    this.#emit('response.output_item.done', { output_index: this.#place.output_index, item })
    return item
  }

  #delta(delta: string): void {
    if (delta === '') return
    this.#text += delta
    this.#emitText('delta', { delta })
  }

  /** Searches for tools come whole. */
  #emitText(event: 'delta' | 'done', members: JsonObject): void {
    if (this.#head.findsTools) return
    const kind = this.#head.custom ? 'custom_tool_call_input' : 'function_call_arguments'
    this.#emit(`response.${kind}.${event}`, { ...this.#place, ...members })
  }

  /** Whether the arguments are complete. */
  get #isComplete(): boolean {
    return this.#head.custom || areArguments(this.#text)
  }

  #item(status: string): JsonObject {
    const { id, name, namespace, custom, findsTools } = this.#head
    if (findsTools) {
      const written = status === 'completed' ? JSON.parse(this.#text) : {}
      return {
        id: this.#place.item_id,
        status,
        call_id: id,
        type: 'tool_search_call',
        execution: 'client',
        arguments: written,
      }
    }
    const call = { id: this.#place.item_id, status, call_id: id, name, ...(namespace !== undefined && { namespace }) }
    return custom
      ? { ...call, type: 'custom_tool_call', input: this.#text }
      : { ...call, type: 'function_call', arguments: this.#text }
  }
}
