import type { Operation } from '../cli/operation.ts'
import { valueAt } from '../src/admin/contract/show-value.ts'
import type { GatewayLink } from './gateway-link.ts'

const statusEveryMs = 2000
const awayEveryMs = 1000

/**
 * How the gateway is, kept fresh whatever is looked at: told by the gateway where it tells, else asked for gently. It is
 * also what finds it when it comes back.
 */
export class StatusWatch {
  /** What `status` answers; undefined: nothing came yet. */
  status: unknown = undefined
  readonly #link: GatewayLink
  readonly #operations: readonly Operation[]
  readonly #onChange: (changed: 'status' | 'configuration') => void
  readonly #stop = new AbortController()
  #configuration: unknown = undefined

  constructor(
    link: GatewayLink,
    operations: readonly Operation[],
    beat: (changed: 'status' | 'configuration') => void,
  ) {
    this.#link = link
    this.#operations = operations
    this.#onChange = beat
  }

  start(): void {
    const watch = this.#find('watch')
    const status = this.#find('status')
    if (watch !== undefined) {
      const stop = this.#link.follow(watch, {}, (event) => this.#readEvent(event))
      this.#stop.signal.addEventListener('abort', stop)
    } else if (status !== undefined) void this.#repeat(status)
  }

  stop(): void {
    this.#stop.abort()
  }

  #find(name: string): Operation | undefined {
    return this.#operations.find((operation) => operation.name === name)
  }

  async #repeat(operation: Operation): Promise<void> {
    const { signal } = this.#stop
    while (!signal.aborted) {
      try {
        this.#setStatus(await this.#link.call(operation, {}, signal))
      } catch {
        // The link knows, and says it on every screen.
      }
      await this.#link.pause(signal, this.#link.state.kind === 'live' ? statusEveryMs : awayEveryMs)
    }
  }

  #readEvent(event: unknown): void {
    const configuration = valueAt(event, 'configuration')
    const changed = this.#configuration !== undefined && configuration !== this.#configuration
    this.#configuration = configuration
    this.#setStatus(valueAt(event, 'status'))
    if (changed) this.#onChange('configuration')
  }

  #setStatus(status: unknown): void {
    this.status = status
    this.#onChange('status')
  }
}

export function numberAt(row: unknown, path: string): number | null {
  const value = valueAt(row, path)
  return typeof value === 'number' ? value : null
}
