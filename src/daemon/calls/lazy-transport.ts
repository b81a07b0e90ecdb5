import type { Transport } from '../../providers/contract.ts'
import type { Proxies } from '../../providers/proxy-choice.ts'

/** The control plane seldom calls anybody, so undici is loaded by its first call: 2 MB that most gateways never need here. */
export class LazyTransport {
  readonly #proxies: Proxies
  #opened: Promise<Transport & { close(): Promise<void> }> | null = null

  constructor(proxies: Proxies) {
    this.#proxies = proxies
  }

  open(): Promise<Transport> {
    this.#opened ??= load(this.#proxies)
    return this.#opened
  }

  async close(): Promise<void> {
    const transport = await this.#opened
    await transport?.close()
  }
}

async function load(proxies: Proxies) {
  const { createHttpTransport } = await import('../../providers/http.ts')
  return createHttpTransport({ proxies })
}
