import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Bytes of chunks that may wait for collection. Collecting them takes less than a millisecond. */
const mostBytes = 16 * 1024 * 1024

/**
 * Each chunk of a body that passes leaves a buffer outside V8's heap. V8 does not collect them before they reach 80 MB, and `malloc` then
 * keeps that much for good. So the young generation is collected as bytes pass.
 */
export class GcPacer {
  #bytes = 0
  #collect: ((options: { type: 'minor' }) => void) | null = null

  /** This many bytes have been passed on. */
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
  // V8 compares its flags before it uses cached compiled code.
  setFlagsFromString('--no-expose-gc')
  return collect
}
