import type { Database, Statement } from 'better-sqlite3'
import type { CachePut } from '../../core/cached-answer.ts'

/** Answers removed at once when there are too many. */
const trimmed = 20
/** Expired answers removed in one transaction. */
const mostExpired = 500

/** The prepared statements of look-ups and writes of cached answers. */
export class CacheStatements {
  readonly #find: Statement<[string, number], { key_id: string; sealed: Uint8Array }>
  readonly #remove: Statement<[string]>
  readonly #put: Statement<[string, string, number, string, number, Uint8Array]>
  readonly #size: Statement<[], { answers: number; bytes: number }>
  readonly #trim: Statement<[number]>
  readonly #expire: Statement<[number, number]>

  constructor(sqlite: Database) {
    this.#find = sqlite.prepare('select key_id, sealed from cached_answers where key = ? and expires_at > ?')
    this.#remove = sqlite.prepare('delete from cached_answers where key = ?')
    this.#put = sqlite.prepare(
      'insert into cached_answers (key, route_id, expires_at, key_id, bytes, sealed) values (?, ?, ?, ?, ?, ?)',
    )
    this.#size = sqlite.prepare('select answers, bytes from cache_size')
    this.#trim = sqlite.prepare(
      'delete from cached_answers where number in (select number from cached_answers order by number limit ?)',
    )
    this.#expire = sqlite.prepare(
      `delete from cached_answers where number in
       (select number from cached_answers where expires_at <= ? order by expires_at limit ?)`,
    )
  }

  find(key: string, now: number): { keyId: string; sealed: Uint8Array } | null {
    const row = this.#find.get(key, now)
    return row === undefined ? null : { keyId: row.key_id, sealed: row.sealed }
  }

  put({ key, routeId, expiresAt, keyId, sealed }: CachePut): void {
    // Replaced in two steps, so that sizes are counted and the new row is the last to be removed.
    this.#remove.run(key)
    this.#put.run(key, routeId, expiresAt, keyId, sealed.length, sealed)
  }

  /** Removes the oldest until the rest is no larger. */
  trim(mostBytes: number): void {
    while (this.size().bytes > mostBytes) this.#trim.run(trimmed)
  }

  removeExpired(now: number): void {
    this.#expire.run(now, mostExpired)
  }

  size(): { answers: number; bytes: number } {
    return this.#size.get() ?? { answers: 0, bytes: 0 }
  }
}
