import type { Database, Statement } from 'better-sqlite3'
import type { BodyEntry } from '../../core/journal-format.ts'
import type { BodyRow } from '../schema.ts'

/** What ingestion does with captured bodies, prepared once. */
export class BodyStatements {
  readonly #add: Statement<[BodyRow]>
  readonly #sqlite: Database

  constructor(sqlite: Database) {
    this.#sqlite = sqlite
    // A journal that is read twice brings the very same again.
    this.#add = sqlite.prepare(
      `insert into bodies (id, part, mode, type, bytes, truncated, masked, key_id, sealed, until)
       values (@id, @part, @mode, @type, @bytes, @truncated, @masked, @key_id, @sealed, @until) on conflict do nothing`,
    )
  }

  /** What it takes; null: it was there already. */
  store({ truncated, masked, key: key_id, sealed: text, until, ...entry }: BodyEntry): number | null {
    const sealed = Buffer.from(text, 'base64')
    const marks = { truncated: Number(truncated), masked: Number(masked), until: until ?? null }
    return this.#add.run({ ...entry, ...marks, key_id, sealed }).changes === 0 ? null : sealed.length
  }

  /** Of other nodes, sealed under the same key. None is here without its record. */
  takeOver(bodies: readonly BodyRow[]): null {
    const hasRecord = this.#sqlite.prepare<[string]>('select 1 from records where id = ?')
    for (const body of bodies) if (hasRecord.get(body.id) !== undefined) this.#add.run(body)
    return null
  }
}
