import type { JournalEntry } from '../core/journal-format.ts'

const perSecond = 100
/** Addresses watched at once; beyond it all others share one, so that a flood from many addresses is bounded too. */
const addressLimit = 10_000
const flushMs = 1000

interface Watched {
  count: number
  /** The record that the rest of this second shares; null while each has its own. */
  sharedId: string | null
  shared: number
  lastTime: number
}

/**
 * Refusals without a valid key, counted by address and second: beyond the first hundred they share one record with a
 * count, so that nobody can fill the disk (contract.md rule 16).
 */
export class RefusalFlood {
  #watched = new Map<string, Watched>()
  readonly #append: (entry: JournalEntry) => Promise<void>
  #timer: NodeJS.Timeout | null = null

  constructor(append: (entry: JournalEntry) => Promise<void>) {
    this.#append = append
  }

  /** Whether this refusal gets a record of its own; else it is counted on the shared one. */
  admits(address: string | null, id: string, now: number): boolean {
    const watched = this.#find(address ?? '')
    watched.count++
    if (watched.count <= perSecond) return true
    if (watched.sharedId === null) {
      watched.sharedId = id
      return true
    }
    watched.shared++
    watched.lastTime = now
    return false
  }

  /** Writes the counts of the second that has passed. */
  flush(): void {
    for (const { sharedId, shared, lastTime } of this.#watched.values()) {
      if (sharedId === null || shared === 0) continue
      void this.#append({ kind: 'repeated', id: sharedId, count: shared, lastTime: new Date(lastTime).toISOString() })
    }
    this.#watched = new Map()
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
  }

  #find(address: string): Watched {
    this.#timer ??= setTimeout(() => this.flush(), flushMs)
    const name = this.#watched.has(address) || this.#watched.size < addressLimit ? address : 'others'
    const known = this.#watched.get(name)
    if (known !== undefined) return known
    const fresh = { count: 0, sharedId: null, shared: 0, lastTime: 0 }
    this.#watched.set(name, fresh)
    return fresh
  }
}
