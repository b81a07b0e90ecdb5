import type { ShownState } from '../../core/provider-state.ts'
import type { StoreClient } from '../../store/api.ts'

const everyMs = 5000

export interface StateHistoryOptions {
  store: { providers: Pick<StoreClient['providers'], 'noteShown'> }
  /** Of every provider, as all surfaces show it. */
  states(): { id: string; state: ShownState }[]
}

/** Notes what live calls found of providers, so that their history says what every surface said at the time. */
export class StateHistory {
  readonly #options: StateHistoryOptions
  readonly #noted = new Map<string, { state: ShownState['state']; since: string | null }>()
  #timer: NodeJS.Timeout | null = null

  constructor(options: StateHistoryOptions) {
    this.#options = options
  }

  /** What holds is known at once: the first look finds what was noted before the start. */
  start(): void {
    void this.look()
    this.#timer ??= setInterval(() => void this.look(), everyMs).unref()
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer)
    this.#timer = null
  }

  /** Never rejects: what a store in trouble did not take is noted at the next look. */
  async look(): Promise<void> {
    for (const { id, state } of this.#options.states()) {
      if (this.#noted.get(id)?.state === state.state) continue
      const noted: { state: ShownState['state']; since: string | null } = { state: state.state, since: null }
      this.#noted.set(id, noted)
      try {
        noted.since = await this.#options.store.providers.noteShown(id, state)
      } catch {
        this.#noted.delete(id)
      }
    }
  }

  /** null: nothing was noted yet, or of this state its own trouble says more. */
  since(id: string, state: ShownState['state']): string | null {
    const noted = this.#noted.get(id)
    if (noted?.state === state) return noted.since
    // Well again, since the last look.
    return noted !== undefined && state === 'ready' ? new Date().toISOString() : null
  }
}
