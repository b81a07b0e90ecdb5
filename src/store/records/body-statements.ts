import type { Database, Statement } from 'better-sqlite3'
import type { BodyEntry } from '../../core/journal-format.ts'
import type { BodyRow } from '../schema.ts'

/** What ingestion does with captured bodies, prepared once. */
export class BodyStatements {
  readonly #add: Statement<(string | number | Uint8Array | null)[]>
  readonly #sqlite: Database

  constructor(sqlite: Database) {
    this.#sqlite = sqlite
    // A journal that is read twice brings the very same again.
    this.#add = sqlite.prepare(
      `insert into bodies (id, part, mode, type, bytes, truncated, masked, key_id, sealed)
       values (?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict do nothing`,
    )
  }

  /** What it takes; null: it was there already. */
  store({ id, part, mode, type, bytes, truncated, masked, key, sealed }: BodyEntry): number | null {
    const content = Buffer.from(sealed, 'base64')
    const row = [id, part, mode, type, bytes, Number(truncated), Number(masked), key, content]
    return this.#add.run(...row).changes === 0 ? null : content.length
  }

  /** Of other nodes, sealed under the same key. None is here without its record. */
  takeOver(bodies: readonly BodyRow[]): null {
    const hasRecord = this.#sqlite.prepare<[string]>('select 1 from records where id = ?')
    for (const { id, part, mode, type, bytes, truncated, masked, key_id, sealed } of bodies)
      if (hasRecord.get(id) !== undefined) this.#add.run(id, part, mode, type, bytes, truncated, masked, key_id, sealed)
    return null
  }
}
