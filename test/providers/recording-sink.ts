import type { ResponseSink, TransportFault } from '../../src/providers/contract.ts'

/** Keeps what it is told, in order, and lets a test wait for a moment instead of for time. */
export class RecordingSink implements ResponseSink {
  readonly events: string[] = []
  readonly chunks: Buffer[] = []
  status = 0
  headers: string[] = []
  fault: TransportFault | null = null
  #waiting: { event: string; resolve: () => void }[] = []

  onConnected(): void {
    this.#recordChange('connected')
  }

  onHead(status: number, headers: string[]): void {
    this.status = status
    this.headers = headers
    this.#recordChange('head')
  }

  onData(chunk: Buffer): void {
    this.chunks.push(chunk)
    this.#recordChange('data')
  }

  onEnd(): void {
    this.#recordChange('end')
    this.#recordChange('over')
  }

  onError(fault: TransportFault): void {
    this.fault = fault
    this.#recordChange('error')
    this.#recordChange('over')
  }

  get text(): string {
    return Buffer.concat(this.chunks).toString()
  }

  /** Resolves at once when it has already happened. `over` is the end or an error. */
  seen(event: 'connected' | 'head' | 'data' | 'end' | 'error' | 'over'): Promise<void> {
    if (this.events.includes(event)) return Promise.resolve()
    return new Promise((resolve) => this.#waiting.push({ event, resolve }))
  }

  #recordChange(event: string): void {
    this.events.push(event)
    for (const waiter of this.#waiting) if (waiter.event === event) waiter.resolve()
  }
}
