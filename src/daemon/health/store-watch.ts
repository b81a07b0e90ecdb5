import { errorText } from '../../core/caught.ts'
import { stallAwareTimeout } from '../../core/threads/stall-aware-timeout.ts'
import type { StoreClient, StoreHealth } from '../../store/api.ts'
import type { Log } from '../log.ts'

const everyMs = 500
/** A store that takes longer to say how it is does not answer. */
const stallLimitMs = 2000

/** What the store said of itself last; null until it has said something. */
export type KnownHealth = StoreHealth | null

export interface StoreWatchOptions {
  store: Pick<StoreClient, 'health'>
  log: Log
  /** Where the journal keeps what it sets aside, for whoever reads the log. */
  setAsideDirectory: string
  /** Why the store is degraded; null: it is well. */
  onDegraded(reason: string | null): void
}

/** Asks the store twice a second how it is, so that every surface can say so from memory, without waiting for an unhealthy one. */
export class StoreWatch {
  /** As it was when the store answered last. */
  health: KnownHealth = null
  readonly #options: StoreWatchOptions
  readonly #reported = new Set<string>()
  #timer: NodeJS.Timeout | null = null
  #asking = false
  /** Until when the store removes nothing, because it doubts the clock. */
  #heldUntil: string | null = null

  constructor(options: StoreWatchOptions) {
    this.#options = options
  }

  async start(): Promise<void> {
    await this.#look()
    this.#timer = setInterval(() => void this.#look(), everyMs)
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer)
    this.#timer = null
  }

  async #look(): Promise<void> {
    if (this.#asking) return
    this.#asking = true
    const timeout = stallAwareTimeout(stallLimitMs, () => this.#options.onDegraded('the store does not answer'))
    try {
      const health = await this.#options.store.health()
      this.health = health
      this.#options.onDegraded(health.degraded)
      this.#reportSetAside(health.setAside)
      this.#reportHeld(health.removalHeldUntil)
    } catch (error) {
      this.#options.onDegraded(errorText(error))
    } finally {
      timeout.cancel()
      this.#asking = false
    }
  }

  #reportHeld(until: string | null): void {
    if ((until === null) === (this.#heldUntil === null)) return
    this.#heldUntil = until
    const { log } = this.#options
    if (until === null) log.info('old records are removed again')
    else log.warn('the clock went ahead by more than a day: no record is removed for its age before then', { until })
  }

  #reportSetAside(files: readonly string[]): void {
    const fresh = files.filter((file) => !this.#reported.has(file))
    for (const file of fresh) this.#reported.add(file)
    if (fresh.length === 0) return
    const { log, setAsideDirectory } = this.#options
    const fields = { files: fresh.join(', '), directory: setAsideDirectory }
    log.error('a part of the journal could not be read and was set aside', fields)
  }
}
