import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** So many bytes of chunks wait for their collection at most; one takes less than a millisecond. */
const mostBytes = 16 * 1024 * 1024

/**
 * Bodies that pass leave a buffer for each chunk. Their bytes are outside of V8's heap, which therefore sees no reason to look for
 * them before they are 80 MB; `malloc` then keeps that much for good. So the young generation is collected as bytes pass.
 */
export class GcPacer {
  #bytes = 0
  #collect: ((options: { type: 'minor' }) => void) | null = null

  /** So many bytes have been handed on. */
  passed(bytes: number): void {
    this.#bytes += bytes
    if (this.#bytes < mostBytes) return
    this.#bytes = 0
    this.#collect ??= exposeCollection()
    this.#collect({ type: 'minor' })
  }
}

function exposeCollection(): (options: { type: 'minor' }) => void {
  setFlagsFromString('--expose-gc')
  const collect: (options: { type: 'minor' }) => void = runInNewContext('gc')
  // V8 compares its flags before it uses compiled code that it has kept.
  setFlagsFromString('--no-expose-gc')
  return collect
}
