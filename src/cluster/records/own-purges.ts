import type { OwnConnection } from '../own-connection.ts'
import type { Self } from '../self.ts'
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
    const { number, question } = purge
    const filter = this.#before === null ? question.filter : { ...question.filter, before: this.#before }
    const slice = await outbox.ask('purge', { ...question, filter })
    if (question.bodies) this.#bodies += slice.removed
    this.#before = slice.before
    if (slice.before !== null) return { done: true, more: true }
    await this.#connection.use(async (client) => {
      // The slices of whoever asked may have gone by before this node had shipped.
      const { bodies } = question
      // Bodies of all: whoever asks may be of a version that leaves them there.
      const rest = await purgeAllShared(
        client,
        bodies ? question : { bodies, filter: { ...question.filter, node: name } },
      )
      await markPurged(client, self, number, this.#bodies + rest)
    })
    this.#begin(this.#waiting.slice(1))
    return { done: true, more: this.#waiting.length > 0 }
  }

  #begin(waiting: Purge[]): void {
    this.#waiting = waiting
    this.#before = null
    this.#bodies = 0
  }
}
