import { asArray, asObject, asString, asText, type JsonObject } from '../../core/json/json-value.ts'
import type { ReplyReader } from '../codec.ts'
import { countOf } from '../json.ts'
import type { ReplyEvent, Stop } from '../reply.ts'
import { areArguments, cutsCalls, finalReason } from '../stop.ts'
import { readCitation } from './citations.ts'
import { lostOfBlock, lostOfMessage } from './read-reply.ts'
import { readStop } from './stop.ts'

interface StreamedBlock {
  part: number
  /** For a call, its arguments so far; null for other blocks. */
  arguments: string | null
}

/** Reads Anthropic's events. Blocks follow one another. */
export class MessagesStreamReader implements ReplyReader {
  /** By their index. Null: a block that is not passed on. */
  readonly #blocks = new Map<number, StreamedBlock | null>()
  #parts = 0
  #stop: Stop = { reason: 'done', sequence: null, explanation: null }

  event(name: string, data: JsonObject): readonly ReplyEvent[] {
    switch (asText(data.type) ?? name) {
      case 'message_start': {
        const message = asObject(data.message)
        return [{ kind: 'start', id: asString(message?.id), model: asString(message?.model) }, ...lostOf(message)]
      }
      case 'content_block_start': {
        const [index, block] = [countOf(data.index) ?? 0, asObject(data.content_block) ?? {}]
        const events = this.#begin(index, block)
        if (this.#blocks.get(index) === null) return events
        return events.concat(lostOfBlock(block).map((name) => ({ kind: 'dropped', name: `content[${index}].${name}` })))
      }
      case 'content_block_delta':
        return this.#add(countOf(data.index) ?? 0, asObject(data.delta) ?? {})
      case 'content_block_stop': {
        const block = this.#blocks.get(countOf(data.index) ?? 0)
        return block == null ? [] : [{ kind: 'part-end', part: block.part }]
      }
      case 'message_delta': {
        const delta = asObject(data.delta)
        this.#stop = readStop(delta ?? {})
        return [...lostOf(delta), ...lostOf({ ...data, delta: null })]
      }
      case 'ping':
        return [{ kind: 'ping' }]
      case 'message_stop':
      // Vertex begins with this event, which means nothing.
      case 'vertex_event':
        return []
      default:
        return [{ kind: 'dropped', name: asText(data.type) ?? (name || 'event') }]
    }
  }

  end(): readonly ReplyEvent[] {
    const calls = [...this.#blocks.values()].flatMap((block) => block?.arguments ?? [])
    const broken = !cutsCalls(this.#stop.reason) && !calls.every(areArguments)
    const reason = broken ? 'broken' : finalReason(this.#stop.reason, calls.length > 0)
    return [{ kind: 'stop', stop: { ...this.#stop, reason } }]
  }

  #begin(index: number, block: JsonObject): ReplyEvent[] {
    const part = this.#parts
    const open = (call: string | null) => {
      this.#parts++
      this.#blocks.set(index, { part, arguments: call })
    }
    switch (block.type) {
      case 'text': {
        open(null)
        const text = asString(block.text)
        return [
          ...(text === '' ? [] : [{ kind: 'text' as const, part, text }]),
          ...asArray(block.citations).flatMap((citation) => this.#cite(part, citation)),
        ]
      }
      case 'thinking': {
        open(null)
        const [text, value] = [asString(block.thinking), asString(block.signature)]
        return [{ kind: 'reasoning', part, text }, ...(value === '' ? [] : [signed(part, value)])]
      }
      case 'redacted_thinking':
        open(null)
        return [
          { kind: 'opaque', part, opaque: { family: 'anthropic', form: 'redacted', value: asString(block.data) } },
        ]
      case 'tool_use': {
        // Some servers send the whole input at the start of the block.
        const input = asObject(block.input)
        const text = input === null || Object.keys(input).length === 0 ? '' : JSON.stringify(input)
        open(text)
        const call = { kind: 'call' as const, part, id: asText(block.id), name: asString(block.name), custom: false }
        return text === '' ? [call] : [call, { kind: 'arguments', part, text }]
      }
      default:
        this.#blocks.set(index, null)
        return [{ kind: 'dropped', name: `content[${index}].${asText(block.type) ?? 'unknown'}` }]
    }
  }

  #add(index: number, delta: JsonObject): ReplyEvent[] {
    const block = this.#blocks.get(index)
    if (block === null) return []
    if (block === undefined) return this.#addHeadless(index, delta)
    const { part } = block
    switch (delta.type) {
      case 'text_delta':
        return delta.text === '' ? [] : [{ kind: 'text', part, text: asString(delta.text) }]
      case 'thinking_delta':
        return [{ kind: 'reasoning', part, text: asString(delta.thinking) }]
      case 'signature_delta':
        return delta.signature === '' ? [] : [signed(part, asString(delta.signature))]
      case 'input_json_delta': {
        const text = asString(delta.partial_json)
        if (text === '') return []
        block.arguments = (block.arguments ?? '') + text
        return [{ kind: 'arguments', part, text }]
      }
      case 'citations_delta':
        return this.#cite(part, delta.citation)
      default:
        return [{ kind: 'dropped', name: `delta.${asText(delta.type) ?? 'unknown'}` }]
    }
  }

  /** Some servers leave out the start of a text block. */
  #addHeadless(index: number, delta: JsonObject): ReplyEvent[] {
    const type = asText(delta.type)?.replace(/_delta$/, '') ?? 'unknown'
    if (type === 'text' || type === 'thinking') return [...this.#begin(index, { type }), ...this.#add(index, delta)]
    return [{ kind: 'dropped', name: `content[${index}].${type}` }]
  }

  #cite(part: number, value: unknown): ReplyEvent[] {
    const citation = readCitation(value)
    return [citation === null ? { kind: 'dropped', name: 'citations' } : { kind: 'citation', part, citation }]
  }
}

function lostOf(message: JsonObject | null): ReplyEvent[] {
  return lostOfMessage(message).map((name) => ({ kind: 'dropped', name }))
}

function signed(part: number, value: string): ReplyEvent {
  return { kind: 'opaque', part, opaque: { family: 'anthropic', form: 'signature', value } }
}
