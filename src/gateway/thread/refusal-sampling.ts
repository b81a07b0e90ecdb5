import type { JournalEntry } from '../../core/journal-format.ts'

const perSecond = 100
/** Addresses watched at once. All others share one counter, so that a flood from many addresses is bounded too. */
const addressLimit = 10_000
const flushMs = 1000

interface SampledAddress {
  count: number
  /** The record that the rest of this second's refusals share; null while each has its own. */
  sharedId: string | null
  shared: number
  lastTime: number
  /** Resolves when the shared record is journaled. */
  announced: Promise<void>
}

/**
 * Counts refusals without a valid key, by address and second. After the first hundred they share one record with a count, so that nobody
 * can fill the disk (contract.md rule 16). The shared record is journaled with its first refusal, so that each id can be found whatever
 * happens; if the process dies, only the last second's count is lost.
 */
export class RefusalSampler {
  #watched = new Map<string, SampledAddress>()
  readonly #append: (entry: JournalEntry) => Promise<void>
  #timer: NodeJS.Timeout | null = null

  constructor(append: (entry: JournalEntry) => Promise<void>) {
    this.#append = append
  }

  /**
   * null: this refusal gets a record of its own. Otherwise it is counted on the shared one, and may be answered when the promise resolves.
   */
  share(address: string | null, id: string, now: number): Promise<void> | null {
    const watched = this.#find(address ?? '')
    watched.count++
    if (watched.count <= perSecond) return null
    if (watched.sharedId === null) {
      watched.sharedId = id
      return null
    }
    watched.shared++
    watched.lastTime = now
    // Its time is the last one that may be added; the true time is written when the second is over.
    if (watched.shared === 1) watched.announced = this.#append(repeated(watched.sharedId, 1, now + flushMs))
    return watched.announced
  }

  /** Writes the counts of the past second. */
  flush(): void {
    for (const { sharedId, shared, lastTime } of this.#watched.values()) {
      if (sharedId === null || shared === 0) continue
      void this.#append(repeated(sharedId, shared - 1, lastTime))
    }
    this.#watched = new Map()
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
  }

  #find(address: string): SampledAddress {
    this.#timer ??= setTimeout(() => this.flush(), flushMs)
    const name = this.#watched.has(address) || this.#watched.size < addressLimit ? address : 'others'
    const known = this.#watched.get(name)
    if (known !== undefined) return known
    const fresh = { count: 0, sharedId: null, shared: 0, lastTime: 0, announced: Promise.resolve() }
    this.#watched.set(name, fresh)
    return fresh
  }
}

function repeated(id: string, count: number, lastTime: number): JournalEntry {
  return { kind: 'repeated', id, count, lastTime: new Date(lastTime).toISOString() }
}
