import type { StoreClient } from '../store/api.ts'
import type { Operator } from '../store/operators/operator-tables.ts'

/** A guesser must not fill the audit: what fails within this time after a line is counted, and told in one line at its end. */
const quietMs = 60_000

/** Failed sign-ins, for the audit. */
export class Failures {
  readonly #store: StoreClient
  readonly #onFault: (error: unknown) => void
  #since: { count: number; addresses: Set<string>; timer: NodeJS.Timeout } | null = null

  constructor(store: StoreClient, onFault: (error: unknown) => void) {
    this.#store = store
    this.#onFault = onFault
  }

  /** A name that is nobody's is not written down: people type passwords there. */
  note(operator: Operator | null, method: string, address: string): void {
    if (this.#since === null) {
      const timer = setTimeout(() => this.#reportRest(), quietMs)
      timer.unref()
      this.#since = { count: 0, addresses: new Set(), timer }
      this.#write(operator, { method, address })
      return
    }
    this.#since.count++
    if (this.#since.addresses.size < 10) this.#since.addresses.add(address)
  }

  close(): void {
    if (this.#since !== null) clearTimeout(this.#since.timer)
    this.#reportRest()
  }

  #reportRest(): void {
    const rest = this.#since
    this.#since = null
    if (rest !== null && rest.count > 0) this.#write(null, { failures: rest.count, addresses: [...rest.addresses] })
  }

  #write(operator: Operator | null, after: Record<string, unknown>): void {
    const resource = { kind: 'operator', id: operator?.id ?? '', name: operator?.name ?? 'unknown' }
    const line = { actor: 'unknown', surface: 'console', operation: 'console.sign-in-failed', resource } as const
    void this.#store
      .audited({ ...line, before: null, after })
      .audit.note()
      .catch(this.#onFault)
  }
}
