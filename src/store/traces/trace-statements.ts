import type { Database, Statement } from 'better-sqlite3'
import type { RecordHead } from '../records/record-head.ts'

/** Adds what is to be exported, in the transaction that stores its record. */
export class TraceStatements {
  readonly #add: Statement<[string]>

  constructor(sqlite: Database) {
    this.#add = sqlite.prepare('insert into pending_traces (record_id) values (?) on conflict do nothing')
  }

  /** A trace that its beginner does not sample is not exported. */
  add({ id, trace }: Pick<RecordHead, 'id' | 'trace'>): void {
    if (trace?.sampled !== false) this.#add.run(id)
  }
}
