import type { Log } from '../log.ts'

/**
 * Whether PostgreSQL is reached by a gateway that is no member of a cluster. Nothing of it is degraded by that, so only the log
 * says so: each reason once, until it is reached again.
 */
export class UnjoinedReach {
  readonly #log: Pick<Log, 'warn' | 'info'>
  readonly #said = new Set<string>()

  constructor(log: Pick<Log, 'warn' | 'info'>) {
    this.#log = log
  }

  /** `trouble` null: it is reached, or this gateway is a member by now. */
  note(trouble: string | null): void {
    if (trouble === null) {
      if (this.#said.size > 0) this.#log.info('PostgreSQL is reached: this gateway can join a cluster')
      this.#said.clear()
      return
    }
    if (this.#said.has(trouble)) return
    this.#said.add(trouble)
    this.#log.warn('this gateway can neither join nor found a cluster', { reason: trouble })
  }
}
