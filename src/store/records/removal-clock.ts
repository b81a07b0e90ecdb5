import { idTime } from '../../core/ids.ts'
import type { Connection } from '../sqlite/connection.ts'

const dayMs = 86_400_000
/** How old what is stored of it may get. */
const writeEveryMs = 10 * 60_000

interface Seen {
  seen_at: number
  doubted_at: number | null
}

/**
 * Whether the machine's clock may decide what is too old. A clock that is wrongly ahead would have all records removed at once: one that
 * is more than a day ahead of the last look, also over a restart, is believed a day later. That leaves time to set it right, and delays
 * removal by a day where the gateway was stopped for longer.
 */
export class RemovalClock {
  readonly #connection: Connection
  #seen: Seen | null = null
  /** When that was read or written, by a clock that nobody sets. */
  #seenAt = 0
  /** By the same clock; null: the doubt began in an earlier process. */
  #doubtedAt: number | null = null
  /** Nothing is removed before; null: the clock is believed. */
  heldUntil: number | null = null

  constructor(connection: Connection) {
    this.#connection = connection
  }

  async believes(now: number, steady = performance.now()): Promise<boolean> {
    if (this.#seen === null) {
      this.#seen = await this.#read(now)
      this.#seenAt = steady
    }
    const { seen_at, doubted_at } = this.#seen
    if (now - seen_at - (steady - this.#seenAt) > dayMs) {
      const since = doubted_at === null || doubted_at > now ? now : doubted_at
      if (since !== doubted_at) this.#doubtedAt = steady
      // Only a day that has passed counts, not a clock that was set ahead once more.
      const passed = this.#doubtedAt === null ? now - since : Math.min(now - since, steady - this.#doubtedAt)
      if (passed < dayMs) {
        this.heldUntil = now + dayMs - passed
        if (since !== doubted_at) await this.#write({ seen_at, doubted_at: since })
        return false
      }
    }
    this.heldUntil = null
    if (doubted_at !== null || Math.abs(now - seen_at) >= writeEveryMs) {
      await this.#write({ seen_at: now, doubted_at: null })
      this.#seenAt = steady
    }
    return true
  }

  /** A database of an earlier version has seen its newest record. */
  async #read(now: number): Promise<Seen> {
    const known = await this.#connection.read((db) => db.selectFrom('removal_clock').selectAll().executeTakeFirst())
    if (known !== undefined) return known
    const newest = await this.#connection.read((db) =>
      db.selectFrom('records').select('id').orderBy('id', 'desc').limit(1).executeTakeFirst(),
    )
    const first = { seen_at: (newest === undefined ? null : idTime(newest.id)) ?? now, doubted_at: null }
    await this.#write(first)
    return first
  }

  async #write(seen: Seen): Promise<void> {
    this.#seen = seen
    await this.#connection.write(async (db) => {
      await db.deleteFrom('removal_clock').execute()
      await db.insertInto('removal_clock').values(seen).execute()
    })
  }
}
