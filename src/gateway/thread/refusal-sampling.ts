import type { JournalEntry } from '../../core/journal-format.ts'

const perSecond = 100
/** Addresses watched at once; beyond it all others share one, so that a flood from many addresses is bounded too. */
const addressLimit = 10_000
const flushMs = 1000

interface SampledAddress {
  count: number
  /** The record that the rest of this second shares; null while each has its own. */
  sharedId: string | null
  shared: number
  lastTime: number
  /** That there is a shared record stands in the journal. */
  announced: Promise<void>
}

/**
 * Refusals without a valid key, counted by address and second: beyond the first hundred they share one record with a
 * count, so that nobody can fill the disk (contract.md rule 16). That they share it is journaled with the first of them, so
 * that each id names it whatever happens; of their number, a death of the process costs what the last second added.
 */
export class RefusalSampler {
  #watched = new Map<string, SampledAddress>()
  readonly #append: (entry: JournalEntry) => Promise<void>
  #timer: NodeJS.Timeout | null = null

  constructor(append: (entry: JournalEntry) => Promise<void>) {
    this.#append = append
  }

  /** null: this refusal gets a record of its own. Else it is counted on the shared one; resolves when it may be answered. */
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
    // Its time is that of the last that may come to it; the true one is written when the second is over.
    if (watched.shared === 1) watched.announced = this.#append(repeated(watched.sharedId, 1, now + flushMs))
    return watched.announced
  }

  /** Writes the counts of the second that has passed. */
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
