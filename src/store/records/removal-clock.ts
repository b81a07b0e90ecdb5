import { sql } from 'kysely'
import type { Connection } from '../sqlite/connection.ts'

const dayMs = 86_400_000
/** How old what is stored of it may get. */
const writeEveryMs = 600_000
/** By so much a clock that is set right by the network may be moved at once. */
const correctionMs = 3_600_000

/**
 * Whether the machine's clock may decide what is too old. A clock that is wrongly ahead would have all records removed at once: one that
 * goes ahead by more than a day, also over a restart, is believed a day later. That leaves time to set it right, and delays removal by a
 * day where the gateway was stopped for longer.
 */
export class RemovalClock {
  /** Nothing is removed before; null: the clock is believed. */
  until: number | null = null
  readonly #connection: Connection
  #row: { seen: number; held: number } | null = null
  #written = 0

  constructor(connection: Connection) {
    this.#connection = connection
  }

  async believes(now: number): Promise<boolean> {
    const known = this.#row ?? (await this.#read())
    const hasJumped = now - (known?.seen ?? now) > dayMs
    const held = known?.held ?? 0
    // It was set back since, and must not be doubted when it comes there again. A correction by little is none of that.
    const wasSetRight = held > now + dayMs + correctionMs
    const row = { seen: now, held: hasJumped ? now + dayMs : wasSetRight ? 0 : held }
    this.#row = row
    if (row.held !== known?.held || Math.abs(now - this.#written) > writeEveryMs) {
      this.#written = now
      await this.#connection.write((db) =>
        sql`insert or replace into removal_clock values (1, ${row.seen}, ${row.held})`.execute(db),
      )
    }
    this.until = row.held > now ? row.held : null
    return this.until === null
  }

  async #read() {
    return (await this.#connection.read((db) => db.selectFrom('removal_clock').selectAll().executeTakeFirst())) ?? null
  }
}
