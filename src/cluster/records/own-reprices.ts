import { reachFaultPoint } from '../../core/fault-point.ts'
import type { OwnConnection } from '../own-connection.ts'
import type { Self } from '../self.ts'
import type { OutboxClient } from './outbox-client.ts'
import { readReprices, removeReprice } from './reprice.ts'

/** A notification can be lost with its connection. */
const askEveryMs = 10_000

/**
 * Puts the costs that `cost recompute` found on any node on what this node has stored. What it changes is shipped once more:
 * a batch that was on its way meanwhile has the cost from before, and PostgreSQL would keep that.
 */
export class OwnReprices {
  readonly #connection: Pick<OwnConnection, 'use'>
  #askedAt = Number.NEGATIVE_INFINITY

  constructor(connection: Pick<OwnConnection, 'use'>) {
    this.#connection = connection
  }

  /** There are new ones. */
  ask(): void {
    this.#askedAt = Number.NEGATIVE_INFINITY
  }

  /** True: there may be more to do. Whoever is killed in between does the last once more, which changes nothing. */
  async doSome(self: Self, outbox: OutboxClient): Promise<boolean> {
    const now = performance.now()
    if (now - this.#askedAt < askEveryMs) return false
    const waiting = await this.#connection.use((client) => readReprices(client, self))
    for (const { number, costs } of waiting) {
      await outbox.ask('reprice', costs)
      reachFaultPoint('reprice.stored')
      await this.#connection.use((client) => removeReprice(client, number))
    }
    if (waiting.length === 0) this.#askedAt = now
    return waiting.length > 0
  }
}
