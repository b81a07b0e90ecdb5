import type { RequestRecord } from '../../core/record.ts'
import type { Postgres } from '../postgres.ts'
import { channel } from '../schema/configuration.ts'

const followWord = 'follow'
export const endedWord = 'ended'
const noticeEveryMs = 2000
/** Who follows says so several times within it. */
const followedMs = 7000
/** A notification holds 8,000 bytes, and an id has 30. */
export const idsAtOnce = 200
/** What could not be read waits for the next time, so many ids at most. */
const mostMissed = 10_000

export interface FollowingParts {
  postgres: Pick<Postgres, 'ask'>
  /** What records call this node. */
  node: string
  read(ids: readonly string[]): Promise<RequestRecord[]>
  onRecords(records: RequestRecord[]): void
}

/** Records of other nodes as they come to PostgreSQL; only while somebody follows do nodes say which these are. */
export class Following {
  readonly #parts: FollowingParts
  #asking: NodeJS.Timeout | null = null
  #followedUntil = Number.NEGATIVE_INFINITY
  /** Records that have ended and could not be read yet. */
  #missed: string[] = []

  constructor(parts: FollowingParts) {
    this.#parts = parts
  }

  /** Whether somebody wants to know what this node brings. */
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

  /** PostgreSQL may have been away. */
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
