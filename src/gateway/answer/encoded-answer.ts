import type { Transform } from 'node:stream'
import type { StreamFramer } from '../../core/bytes/stream-event.ts'
import type { AnswerReader } from '../../lanes/contract.ts'
import { openFramer } from '../../lanes/framer.ts'
import { openInflate, ratioBound } from '../request/inflate.ts'
import type { Leg } from '../upstream/leg.ts'
import { LastBytes } from './last-bytes.ts'
import { WrittenTokens } from './written-tokens.ts'

/** The most that is decompressed of one answer. */
const mostBytes = 64 * 1024 * 1024
/** The most compressed bytes that may wait: the client never waits for decompression. */
const mostWaiting = 4 * 1024 * 1024

/**
 * An answer that the provider compressed although it was asked not to. Its bytes are passed on unchanged; a copy is decompressed, within
 * the bounds above, to read its usage.
 */
export class EncodedAnswer {
  /** Only used for streams. */
  readonly written = new WrittenTokens(false)
  /** Why reading stopped before the end; null: it did not. */
  unread: string | null = null
  readonly #reader: AnswerReader
  readonly #framer: StreamFramer | null
  readonly #tail: LastBytes | null
  readonly #stream: Transform
  readonly #done = Promise.withResolvers<void>()
  #received = 0
  #inflated = 0

  constructor(reader: AnswerReader, framer: StreamFramer | null, stream: Transform) {
    this.#reader = reader
    this.#framer = framer
    this.#tail = framer === null ? new LastBytes() : null
    this.#stream = stream
    stream.on('data', (chunk: Buffer) => this.#read(chunk))
    stream.on('error', () => this.stop('it is not what its content-encoding says'))
    stream.on('end', () => this.#finish())
  }

  add(chunk: Buffer): void {
    if (this.unread !== null) return
    this.#received += chunk.length
    if (this.#stream.writableLength > mostWaiting) this.stop('it came faster than it could be inflated')
    else this.#stream.write(chunk)
  }

  /** Resolves when all of it has been read, or reading has stopped. */
  end(): Promise<void> {
    if (this.unread === null) this.#stream.end()
    return this.#done.promise
  }

  stop(reason: string): void {
    this.unread ??= reason
    this.#stream.destroy()
    this.#done.resolve()
  }

  #read(chunk: Buffer): void {
    this.#inflated += chunk.length
    if (this.#inflated > Math.min(mostBytes, ratioBound(this.#received))) return this.stop('it inflates to too much')
    this.#tail?.add(chunk)
    for (const event of this.#framer?.push(chunk) ?? []) if (this.#reader.event(event).content) this.written.add(event)
  }

  #finish(): void {
    const rest = this.#framer?.rest() ?? null
    if (rest !== null) this.#reader.event(rest)
    if (this.#tail !== null) this.#reader.tail(this.#tail.bytes())
    this.#done.resolve()
  }
}

/** Null if the answer is not compressed, or in an unknown encoding. */
export function openEncodedAnswer({ reader, framing }: Leg, encoding: string, type: string): EncodedAnswer | null {
  const stream = openInflate(encoding)
  if (stream === null) return null
  const streamed = framing !== null && (framing !== 'sse' || type.startsWith('text/event-stream'))
  return new EncodedAnswer(reader, streamed ? openFramer(framing) : null, stream)
}
