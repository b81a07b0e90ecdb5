import type { Transport } from '../providers/contract.ts'

/** The control plane seldom calls anybody, so undici is loaded by its first call: 2 MB that most gateways never need here. */
export class LateTransport {
  #opened: Promise<Transport & { close(): Promise<void> }> | null = null

  open(): Promise<Transport> {
    this.#opened ??= load()
    return this.#opened
  }

  async close(): Promise<void> {
    const transport = await this.#opened
    await transport?.close()
  }
}

async function load() {
  const { createHttpTransport } = await import('../providers/http.ts')
  return createHttpTransport()
}
