import { setTimeout as wait } from 'node:timers/promises'
import type { Audience } from '../ingest/ingest.ts'
import { chargeUnread } from '../ingest/unread-batches.ts'
import type { Connection } from '../sqlite/connection.ts'
import type { Retention } from './record-tables.ts'
import { RemovalClock } from './removal-clock.ts'
import { keepBelow, removeOld, removeOverBodies } from './retention.ts'

/** How often it is seen whether there is anything to do. */
const everyMs = 10_000
const retainEveryMs = 10 * 60_000
/** After each slice of sums as long a pause, so that half of the thread is left to what comes in. */
const sumPauseMs = 5
/** Left free for what comes in next; what is free beyond goes back to the file system. */
const spareBytes = 4 * 1024 * 1024
const spareShare = 0.02
/** Moved to the front of the file in one statement. */
const pagesAtOnce = 128

interface UpkeepParts {
  connection: Connection
  /** Who hears of records that end here. */
  audience: Audience
  /** What else goes when its time is over. */
  expire(now: number): Promise<unknown>
}

/**
 * What the store does on its own, slice by slice: it sums records from before there were sums, removes what is too old or too
 * much, and gives the disk back what is free. A failure stands in the connection's trouble, and the next turn tries again.
 */
export class Upkeep {
  readonly #connection: Connection
  readonly #audience: Audience
  readonly #expire: UpkeepParts['expire']
  #retention: Retention | undefined
  #timer: NodeJS.Timeout | undefined
  #turn: Promise<void> | null = null
  /** By a clock that nobody sets. */
  #retainedAt = performance.now()
  readonly #clock: RemovalClock
  #closing = false

  constructor({ connection, audience, expire }: UpkeepParts, retention: Retention | undefined) {
    this.#connection = connection
    this.#clock = new RemovalClock(connection)
    this.#audience = audience
    this.#expire = expire
    this.#retention = retention
  }

  start(): void {
    this.#timer = setInterval(() => this.soon(), everyMs)
    this.soon()
  }

  /** How long records and bodies are kept, and how much, from now on. */
  keep(retention: Retention): void {
    this.#retention = retention
    this.#retainedAt = Number.NEGATIVE_INFINITY
    this.soon()
  }

  /** A turn at once, unless one is under way. */
  soon(): void {
    if (this.#closing) return
    this.#turn ??= this.#run()
      .catch(() => {})
      .finally(() => {
        this.#turn = null
      })
  }

  /** The clock is doubted: nothing is removed for its age before then. Null: it is believed. */
  get heldUntil(): number | null {
    return this.#clock.until
  }

  /** Resolves when no turn is under way. */
  async idle(): Promise<void> {
    await this.#turn
  }

  async close(): Promise<void> {
    this.#closing = true
    clearInterval(this.#timer)
    await this.#turn
  }

  async #run(): Promise<void> {
    await this.#sum()
    const retention = this.#retention
    const believed = await this.#clock.believes(Date.now())
    if (believed) await removeOverBodies(this.#connection, Date.now(), () => this.#closing)
    if (believed && retention !== undefined && performance.now() - this.#retainedAt >= retainEveryMs) {
      this.#retainedAt = performance.now()
      const now = Date.now()
      await chargeUnread(this.#connection, now, this.#audience)
      await removeOld(this.#connection, now, retention, () => this.#closing)
      await this.#expire(Date.now())
    }
    if (retention?.mostBytes != null) await keepBelow(this.#connection, retention.mostBytes, () => this.#closing)
    await this.#trim()
  }

  async #sum(): Promise<void> {
    while (!this.#closing && (await this.#connection.writeHot((hot) => hot.sums.sumOlder()))) await wait(sumPauseMs)
  }

  async #trim(): Promise<void> {
    for (;;) {
      const { usedBytes, freeBytes } = await this.#connection.space()
      if (this.#closing || freeBytes <= spareBytes + usedBytes * spareShare) return
      if (!(await this.#connection.trim(pagesAtOnce))) return
      await wait(sumPauseMs)
    }
  }
}
