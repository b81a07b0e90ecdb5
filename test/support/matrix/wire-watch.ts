/** The network with its last answer of the gateway kept: SDKs show neither all headers nor the body of an error. */
export class WireWatch {
  last = { status: 0, headers: new Headers(), body: '' }
  #losses: string[] = []
  readonly #network = globalThis.fetch

  /** In the global's place, since not every SDK takes a fetch of its own. */
  install(origin: string): () => void {
    globalThis.fetch = async (input, init) => {
      const response = await this.#network(input, init)
      const url = typeof input === 'object' && 'url' in input ? input.url : String(input)
      if (!url.startsWith(origin)) return response
      const { status, headers } = response
      this.note({ status, headers, body: status === 200 ? '' : await response.clone().text() })
      return response
    }
    return () => {
      globalThis.fetch = this.#network
    }
  }

  note(answer: { status: number; headers: Headers; body: string }): void {
    this.last = answer
    this.#losses.push(...(answer.headers.get('x-sp-lossy')?.split(', ') ?? []))
  }

  /** What was lost since the last time. */
  takeLosses(): string[] {
    return this.#losses.splice(0)
  }
}
