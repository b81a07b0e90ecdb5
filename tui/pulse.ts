import type { Operation } from '../cli/operation.ts'
import { valueAt } from '../src/admin/contract/show-value.ts'
import type { Link } from './link.ts'

/** What the first line says, kept fresh whatever is looked at. */
export interface Figures {
  requestsPerSecond: number
  errorShare: number
  p95Ms: number | null
  usdPerHour: number | null
}

const statusEveryMs = 2000
const figuresEveryMs = 5000
/** The span that the figures are of. */
const spanSeconds = 60

/** Asks the gateway how it is: by being told where it tells, else gently. It is also what finds it when it comes back. */
export class Pulse {
  status: unknown = undefined
  figures: Figures | null = null
  readonly #link: Link
  readonly #operations: readonly Operation[]
  readonly #beat: (changed: 'figures' | 'configuration') => void
  readonly #stop = new AbortController()
  #configuration: unknown = undefined

  constructor(link: Link, operations: readonly Operation[], beat: (changed: 'figures' | 'configuration') => void) {
    this.#link = link
    this.#operations = operations
    this.#beat = beat
  }

  start(): void {
    const watch = this.#find('watch')
    if (watch === undefined) void this.#repeat('status', {}, statusEveryMs, (status) => this.#hear(status))
    else {
      const stop = this.#link.follow(watch, {}, (event) => this.#hearEvent(event))
      this.#stop.signal.addEventListener('abort', stop)
    }
    const span = { since: `${spanSeconds}s`, by: 'total' }
    void this.#repeat('requests.stats', span, figuresEveryMs, (rows) => this.#count(rows))
  }

  stop(): void {
    this.#stop.abort()
  }

  #find(name: string): Operation | undefined {
    return this.#operations.find((operation) => operation.name === name)
  }

  async #repeat(name: string, input: object, everyMs: number, take: (answer: unknown) => void): Promise<void> {
    const operation = this.#find(name)
    const { signal } = this.#stop
    while (operation !== undefined && !signal.aborted) {
      try {
        take(await this.#link.call(operation, input, signal))
      } catch {
        // The link knows, and says it on every screen.
        if (signal.aborted) return
      }
      await this.#link.pause(signal, this.#link.state.kind === 'live' ? everyMs : 1000)
    }
  }

  #hearEvent(event: unknown): void {
    const configuration = valueAt(event, 'configuration')
    const changed = this.#configuration !== undefined && configuration !== this.#configuration
    this.#configuration = configuration
    this.#hear(valueAt(event, 'status'))
    if (changed) this.#beat('configuration')
  }

  #hear(status: unknown): void {
    this.status = status
    this.#beat('figures')
  }

  #count(rows: unknown): void {
    const total = Array.isArray(rows) ? rows[0] : undefined
    const requests = numberAt(total, 'requests') ?? 0
    const usd = numberAt(total, 'usd')
    this.figures = {
      requestsPerSecond: requests / spanSeconds,
      errorShare: requests === 0 ? 0 : (numberAt(total, 'errors') ?? 0) / requests,
      p95Ms: numberAt(total, 'duration_p95_ms'),
      usdPerHour: usd === null ? null : (usd * 3600) / spanSeconds,
    }
    this.#beat('figures')
  }
}

export function numberAt(row: unknown, path: string): number | null {
  const value = valueAt(row, path)
  return typeof value === 'number' ? value : null
}
