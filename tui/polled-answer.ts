import { type FaultReport, reportFault } from '../cli/fault.ts'
import type { Operation } from '../cli/operation.ts'
import type { Host } from './host.ts'

/** An operation's answer, asked for again from time to time while somebody looks at it. */
export class PolledAnswer {
  readonly operation: Operation
  input: object
  /** undefined: nothing came yet. */
  data: unknown = undefined
  report: FaultReport | null = null
  readonly #host: Host
  readonly #everyMs: number
  readonly #took: (data: unknown) => void
  #stop: AbortController | null = null
  #timer: NodeJS.Timeout | undefined

  constructor(
    host: Host,
    operation: Operation,
    input: object,
    options: { everyMs?: number; took?(data: unknown): void } = {},
  ) {
    this.#host = host
    this.operation = operation
    this.input = input
    this.#everyMs = options.everyMs ?? 5000
    this.#took = options.took ?? (() => {})
  }

  start(): void {
    if (this.#stop !== null) return
    this.#stop = new AbortController()
    void this.#load(this.#stop.signal)
  }

  stop(): void {
    this.#stop?.abort()
    this.#stop = null
    clearTimeout(this.#timer)
  }

  reload(): void {
    if (this.#stop === null) return
    this.stop()
    this.start()
  }

  async #load(signal: AbortSignal): Promise<void> {
    try {
      const data = await this.#host.link.call(this.operation, this.input, signal)
      if (signal.aborted) return
      this.data = data
      this.report = null
      this.#took(data)
    } catch (error) {
      if (signal.aborted) return
      this.report = reportFault(error)
    }
    this.#host.changed()
    this.#timer = setTimeout(() => void this.#load(signal), this.#everyMs)
  }
}
