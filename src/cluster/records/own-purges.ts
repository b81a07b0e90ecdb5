import type { OwnConnection } from '../own-connection.ts'
import type { Self } from '../self.ts'
import { findOrphans, removeOrphans } from './bodies.ts'
import type { OutboxClient } from './outbox-client.ts'
import { markPurged, type Purge, purgeAllShared, readPurges } from './purge.ts'

/** A notification can be lost with its connection. */
const askEveryMs = 10_000

export interface PurgingNode {
  self: Self
  /** Its name in records. */
  name: string
}

/**
 * This node's part of purges that were requested on any node: what it has stored, and has shipped since. Done in slices between batches, so
 * that shipping is not delayed.
 */
export class OwnPurges {
  readonly #connection: OwnConnection
  #askedAt = Number.NEGATIVE_INFINITY
  #waiting: Purge[] = []
  /** How far the first purge has come. */
  #before: string | null = null
  #bodies = 0
  /** How many were removed; null: not done yet. Afterwards only bodies without records remain. */
  #removed: number | null = null
  /** Bodies without a record at the last look, and the id after which the search continues. */
  #orphans: { ids: string[]; after: string | null } | null = null

  constructor(connection: OwnConnection) {
    this.#connection = connection
  }

  /** There is a new purge. It is fetched once the known ones are done. */
  ask(): void {
    this.#askedAt = Number.NEGATIVE_INFINITY
  }

  /**
   * Call when everything that was journaled before has been shipped. `done`: something was removed, so what was read of the outbox before
   * is outdated.
   */
  async doSlice({ self, name }: PurgingNode, outbox: OutboxClient): Promise<{ done: boolean; more: boolean }> {
    const now = performance.now()
    if (this.#waiting.length === 0 && now - this.#askedAt > askEveryMs) {
      this.#askedAt = now
      this.#begin(await this.#connection.use((client) => readPurges(client, self)))
    }
    const [purge] = this.#waiting
    if (purge === undefined) return { done: false, more: false }
    const { question } = purge
    if (this.#removed !== null) return await this.#removeOrphans(self, name, purge, this.#removed)
    const filter = this.#before === null ? question.filter : { ...question.filter, before: this.#before }
    const slice = await outbox.ask('purge', { ...question, filter })
    if (question.bodies) this.#bodies += slice.removed
    this.#before = slice.before
    if (slice.before !== null) return { done: true, more: true }
    const { bodies } = question
    const rest = await this.#connection.use((client) =>
      // This node may have shipped records after the requesting node's slices had passed. Bodies of all nodes are purged, since the
      // requesting node's version may leave them.
      purgeAllShared(client, bodies ? question : { bodies, filter: { ...question.filter, node: name } }),
    )
    this.#removed = this.#bodies + rest
    return await this.#removeOrphans(self, name, purge, this.#removed)
  }

  /**
   * The requesting node's version may delete records in PostgreSQL but leave their bodies. A body without a record in two turns really has
   * none: by the second turn, everything journaled before the first has been shipped.
   */
  async #removeOrphans(self: Self, node: string, { number, question }: Purge, removed: number) {
    const isOlder = !question.bodies && question.withBodies !== true
    const { until } = question.filter
    const { ids, after } = this.#orphans ?? { ids: [], after: '' }
    this.#orphans = await this.#connection.use(async (client) => {
      if (ids.length > 0) await removeOrphans(client, ids)
      const found = isOlder && after !== null ? await findOrphans(client, { node, after, until }) : null
      if (found !== null && (found.after !== null || found.ids.length > 0)) return found
      await markPurged(client, self, number, removed)
      return null
    })
    if (this.#orphans !== null) return { done: true, more: true }
    this.#begin(this.#waiting.slice(1))
    return { done: true, more: this.#waiting.length > 0 }
  }

  #begin(waiting: Purge[]): void {
    this.#waiting = waiting
    this.#before = null
    this.#bodies = 0
    this.#removed = null
    this.#orphans = null
  }
}
