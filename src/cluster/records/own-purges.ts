import type { OwnConnection } from '../own-connection.ts'
import type { Self } from '../self.ts'
import { findOrphans, removeOrphans } from './bodies.ts'
import type { OutboxClient } from './outbox-client.ts'
import { markPurged, type Purge, purgeAllShared, readPurges } from './purge.ts'

/** A notification can be lost with its connection. */
const askEveryMs = 10_000

export interface PurgingNode {
  self: Self
  /** As its records name it. */
  name: string
}

/**
 * This node's part of what was purged on any node: what it has stored, and what it shipped since. Slice by slice between
 * batches, so that nothing waits long to be shipped.
 */
export class OwnPurges {
  readonly #connection: OwnConnection
  #askedAt = Number.NEGATIVE_INFINITY
  #waiting: Purge[] = []
  /** How far the first of them is here. */
  #before: string | null = null
  #bodies = 0
  /** What it came to; null: it is not done yet, but for bodies whose records went. */
  #removed: number | null = null
  /** Bodies that had no record when they were looked for last, and behind which id the next are. */
  #orphans: { ids: string[]; after: string | null } | null = null

  constructor(connection: OwnConnection) {
    this.#connection = connection
  }

  /** There is a new one: asked for as soon as those that are known are done. */
  ask(): void {
    this.#askedAt = Number.NEGATIVE_INFINITY
  }

  /** Call when what was journaled before is shipped. `done`: something; what was read of the outbox before is old. */
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
      // The slices of whoever asked may have gone by before this node had shipped.
      // Bodies of all: whoever asks may be of a version that leaves them there.
      purgeAllShared(client, bodies ? question : { bodies, filter: { ...question.filter, node: name } }),
    )
    this.#removed = this.#bodies + rest
    return await this.#removeOrphans(self, name, purge, this.#removed)
  }

  /**
   * Whoever asked may be of a version that deletes records in PostgreSQL and leaves their bodies. One that has no record in two turns
   * has none: by the second, what was journaled before the first is shipped.
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
