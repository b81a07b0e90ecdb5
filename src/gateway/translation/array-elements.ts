import { SseFramer } from '../../core/bytes/sse.ts'

/** Turns server-sent events into elements of one JSON array, for clients of the Gemini lane that did not ask for events. */
export class ArrayElements {
  readonly #framer = new SseFramer()
  #begun = false

  write(bytes: Buffer, last: boolean): Buffer {
    const pieces: Buffer[] = []
    for (const { data } of this.#framer.push(bytes)) {
      if (data.length === 0) continue
      pieces.push(Buffer.from(this.#begun ? ',\n' : '['), data)
      this.#begun = true
    }
    if (last) pieces.push(Buffer.from(this.#begun ? '\n]' : '[]'))
    return Buffer.concat(pieces)
  }
}
