import type { StreamEvent } from '../../core/bytes/stream-event.ts'
import { readTextNode } from '../../core/json/json-nodes.ts'
import { passString } from '../../core/json/json-text.ts'
import type { StreamedPiece } from './answer-event.ts'

const quote = 0x22

/**
 * Most events of a stream differ from the one before only in a piece of text. The rest of such an event has been checked already, so only
 * the piece is read.
 */
export class RepeatedEvent {
  #known: { name: string; data: Buffer; piece: StreamedPiece } | null = null

  /** Remembers an event that has nothing else for content rules, and ends no text. */
  remember({ name, data }: StreamEvent, piece: StreamedPiece): void {
    this.#known = { name, data, piece }
  }

  /** The piece of an event that equals the remembered one otherwise; null: it must be read whole. */
  read({ name, data }: StreamEvent): StreamedPiece | null {
    if (this.#known === null || this.#known.name !== name) return null
    const { data: known, piece } = this.#known
    const { start, end: knownEnd } = piece.node
    const end = data.length - (known.length - knownEnd)
    if (end < start + 2 || data[start] !== quote) return null
    if (data.compare(known, 0, start, 0, start) !== 0) return null
    if (data.compare(known, knownEnd, known.length, end) !== 0) return null
    if (passString(data, start + 1, data.length) !== end) return null
    const node = { ...piece.node, end }
    const text = readTextNode(data, node)
    return text === null ? null : { ...piece, node, text }
  }
}
