import type { HeldBatch } from '../../store/ingest/batch-hold-statements.ts'
import type { WaitingUsage } from '../../store/replica/usage-claim.ts'
import type { OwnConnection } from '../own-connection.ts'
import type { Self } from '../self.ts'
import { claimUsage, readCounted } from './claim-usage.ts'
import type { OutboxClient } from './outbox-client.ts'

/** A notification can be lost with its connection. */
const checkEveryMs = 60_000
/** Work is counted often, and this node rarely holds anything for it. */
const checkPauseMs = 1000

/** The usage of background work is counted by one node. This one asks whether it is the one, and learns what others have counted. */
export class UsageClaims {
  readonly #connection: Pick<OwnConnection, 'use'>
  #after = 0
  #wanted = true
  #checkedAt = Number.NEGATIVE_INFINITY
  #waiting: WaitingUsage = { usage: 0, usageSince: null }

  constructor(connection: Pick<OwnConnection, 'use'>) {
    this.#connection = connection
  }

  /** As of the last round. */
  get waiting(): WaitingUsage {
    return this.#waiting
  }

  /** Work was counted for which this node may hold budget. */
  check(): void {
    this.#wanted = true
  }

  /** Returns why this cannot be done now, which does not prevent shipping; null: done. `all`: however much there is. */
  async settle(self: Self, outbox: OutboxClient, all: boolean): Promise<unknown> {
    try {
      if (all) this.#after = 0
      for (let more = true; more; ) more = (await this.#claim(self, outbox)) && all
      await this.#release(self, outbox)
      return null
    } catch (error) {
      this.#wanted = true
      return error
    }
  }

  /** True: there is more. What cannot be settled yet is tried again in a later round. */
  async #claim(self: Self, outbox: OutboxClient): Promise<boolean> {
    const { claims, last, waiting } = await outbox.ask('claims', { after: this.#after })
    this.#waiting = waiting
    if (claims.length > 0)
      await outbox.ask('claimed', await this.#connection.use((client) => claimUsage(client, self, claims)))
    this.#after = last ?? 0
    return last !== null
  }

  async #release(self: Self, outbox: OutboxClient): Promise<void> {
    const now = performance.now()
    if (now - this.#checkedAt < (this.#wanted ? checkPauseMs : checkEveryMs)) return
    this.#wanted = false
    this.#checkedAt = now
    let after: HeldBatch | null = null
    for (;;) {
      const holds: HeldBatch[] = await outbox.ask('holds', after)
      if (holds.length === 0) return
      const counted = await this.#connection.use((client) => readCounted(client, self, holds))
      if (counted.length > 0) await outbox.ask('release', counted)
      after = holds.at(-1) ?? null
    }
  }
}
