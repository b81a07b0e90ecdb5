import type { RequestRecord } from '../../core/record.ts'
import type { Postgres } from '../postgres.ts'
import { channel } from '../schema/configuration.ts'

const followWord = 'follow'
export const endedWord = 'ended'
const noticeEveryMs = 2000
/** A follower repeats its request several times within this time. */
const followedMs = 7000
/** A notification holds 8,000 bytes, and an id has 30. */
export const idsAtOnce = 200
/** Ids of unread records that are kept for the next attempt. */
const mostMissed = 10_000

export interface FollowingParts {
  postgres: Pick<Postgres, 'ask'>
  /** This node's name in records. */
  node: string
  read(ids: readonly string[]): Promise<RequestRecord[]>
  onRecords(records: RequestRecord[]): void
}

/** Records of other nodes, as they arrive in PostgreSQL. Nodes announce them only while somebody follows. */
export class Following {
  readonly #parts: FollowingParts
  #asking: NodeJS.Timeout | null = null
  #followedUntil = Number.NEGATIVE_INFINITY
  /** Records that have ended and could not be read yet. */
  #missed: string[] = []

  constructor(parts: FollowingParts) {
    this.#parts = parts
  }

  /** Whether somebody follows the records of this node. */
  get isFollowed(): boolean {
    return performance.now() < this.#followedUntil
  }

  follow(wanted: boolean): void {
    if (this.#asking !== null) clearInterval(this.#asking)
    this.#asking = null
    this.#missed = []
    if (!wanted) return
    this.#asking = setInterval(() => {
      this.#ask()
      this.#readMissed()
    }, noticeEveryMs)
    this.#ask()
  }

  /** False: the notification is about something else. */
  hear(payload: string): boolean {
    const [word, node, ...ids] = payload.split(' ')
    if (word === followWord) this.#followedUntil = performance.now() + followedMs
    else if (word !== endedWord) return false
    else if (this.#asking !== null && node !== this.#parts.node) void this.#read(ids)
    return true
  }

  close(): void {
    this.follow(false)
  }

  async #read(ids: readonly string[]): Promise<void> {
    const { read, onRecords } = this.#parts
    const records = await read(ids).catch(() => null)
    if (this.#asking === null) return
    if (records === null) this.#missed = [...this.#missed, ...ids].slice(-mostMissed)
    else if (records.length > 0) onRecords(records)
  }

  /** For example after PostgreSQL was away. */
  #readMissed(): void {
    const missed = this.#missed
    this.#missed = []
    for (let from = 0; from < missed.length; from += idsAtOnce) void this.#read(missed.slice(from, from + idsAtOnce))
  }

  #ask(): void {
    const { postgres } = this.#parts
    void postgres.ask((client) => client.query('select pg_notify($1, $2)', [channel, followWord])).catch(() => {})
  }
}
