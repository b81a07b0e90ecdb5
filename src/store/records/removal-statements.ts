import type { Database, Statement } from 'better-sqlite3'
import { type SummedRecord, summedColumns } from './sum-changes.ts'
import type { SumStatements } from './sum-statements.ts'

/** Takes records out with all that hangs on them, and out of the sums, in the transaction that is open. */
export class RemovalStatements {
  readonly #sums: SumStatements
  readonly #found: Statement<[string], SummedRecord & { record_json: string }>
  readonly #remove: Statement<[string]>[]
  readonly #bodies: Statement<[string], { bytes: number }>

  readonly #onRemoved: () => void

  /** `onRemoved`: of what was read of records before, some may be gone. */
  constructor(sqlite: Database, sums: SumStatements, onRemoved: () => void) {
    this.#sums = sums
    this.#onRemoved = onRemoved
    const those = 'id in (select value from json_each(?))'
    this.#found = sqlite.prepare(
      `select ${summedColumns}, record_json from records where ${those} and state <> 'admitted'`,
    )
    this.#remove = ['records', 'repeated_records', 'bodies'].map((table) =>
      sqlite.prepare<[string]>(`delete from ${table} where ${those}`),
    )
    this.#bodies = sqlite.prepare(`delete from bodies where ${those} returning length(sealed) as bytes`)
  }

  /** What is still under way keeps its record. Returns how many there were. */
  removeRecords(ids: readonly string[]): number {
    const rows = this.#found.all(JSON.stringify(ids))
    for (const row of rows) this.#sums.count(row, row.record_json, -1)
    this.#onRemoved()
    const removed = JSON.stringify(rows.map(({ id }) => id))
    for (const statement of this.#remove) statement.run(removed)
    return rows.length
  }

  /** What was captured of them; their records stay. */
  removeBodies(ids: readonly string[]): { bodies: number; bytes: number } {
    const rows = this.#bodies.all(JSON.stringify(ids))
    return { bodies: rows.length, bytes: rows.reduce((sum, { bytes }) => sum + bytes, 0) }
  }
}
