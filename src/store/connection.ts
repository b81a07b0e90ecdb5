import { setTimeout as wait } from 'node:timers/promises'
import type { Database } from './schema.ts'
import { isBusy, StoreDegraded, translateSqliteError } from './store-error.ts'

const pausesMs = [10, 20, 40, 80, 150]

/** Transactions with patience: a lock held by another process is waited for by timer, so that the thread goes on answering. */
export class Connection {
  /** For reads that page through by themselves and need no transaction. */
  readonly db: Database
  /** Why the last write failed, until one succeeds. */
  trouble: string | null = null
  readonly #patienceMs: number
  #closed = false

  constructor(db: Database, patienceMs: number) {
    this.db = db
    this.#patienceMs = patienceMs
  }

  /** `run` may be run again from its beginning, in a new transaction. */
  async write<Output>(run: (db: Database) => Promise<Output>): Promise<Output> {
    try {
      const output = await this.#patiently(() => this.db.transaction().execute(run))
      this.trouble = null
      return output
    } catch (error) {
      if (error instanceof StoreDegraded) this.trouble = error.message
      throw error
    }
  }

  /** All statements of `run` see one state of the database. */
  async read<Output>(run: (db: Database) => Promise<Output>): Promise<Output> {
    return await this.#patiently(() => this.db.transaction().setAccessMode('read only').execute(run))
  }

  async close(): Promise<void> {
    this.#closed = true
    await this.db.destroy()
  }

  async #patiently<Output>(attempt: () => Promise<Output>): Promise<Output> {
    const deadline = performance.now() + this.#patienceMs
    for (let tries = 0; ; tries++) {
      try {
        return await attempt()
      } catch (error) {
        if (!isBusy(error) || this.#closed || performance.now() > deadline) throw translateSqliteError(error)
        await wait(pausesMs[tries] ?? 200)
      }
    }
  }
}
