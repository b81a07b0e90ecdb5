import { reachFaultPoint } from '../../core/fault-point.ts'
import type { OwnConnection } from '../own-connection.ts'
import type { Self } from '../self.ts'
import type { OutboxClient } from './outbox-client.ts'
import { readReprices, removeReprice } from './reprice.ts'

/** A notification can be lost with its connection. */
const askEveryMs = 10_000

/**
 * Applies the costs that `cost recompute` found on any node to what this node has stored. The changed records are shipped again: a batch on
 * its way at that moment has the old cost, and PostgreSQL would keep it.
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

  /** True: there may be more to do. After a kill the last step is repeated, which changes nothing. */
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
