import { setTimeout as wait } from 'node:timers/promises'
import type Sqlite from 'better-sqlite3'
import type { Database } from '../schema.ts'
import { isBusy, isDamage, StoreDegraded, translateSqliteError } from '../store-error.ts'
import type { Ground } from './file-names.ts'
import { HotStatements } from './hot-statements.ts'

const pausesMs = [10, 20, 40, 80, 150]
/** A lock that lasts this long is told, before those who wait for it give up. */
const noticeMs = 500
/** A fault that went away by itself is reported for this long, so that whoever looks now and then sees it. */
const recoveredMs = 3000

interface ConnectionParts {
  db: Database
  /** The one connection that the query builder uses as well. */
  sqlite: Sqlite.Database
  busyTimeoutMs: number
  ground: Ground
}

/** Transactions with patience: a lock held by another process is waited for by timer, so that the thread goes on answering. */
export class Connection {
  /** For reads that page through by themselves and need no transaction. */
  readonly db: Database
  /** For whoever is alone on it: within `writeUnchecked`, or within the transaction that he has begun. */
  readonly sqlite: Sqlite.Database
  readonly #busyTimeoutMs: number
  readonly #ground: Ground
  #hot: HotStatements | null = null
  #trouble: string | null = null
  #damage: string | null = null
  #recovered: { reason: string; until: number } | null = null
  #closed = false

  constructor({ db, sqlite, busyTimeoutMs, ground }: ConnectionParts) {
    this.db = db
    this.sqlite = sqlite
    this.#busyTimeoutMs = busyTimeoutMs
    this.#ground = ground
  }

  /**
   * Why the last write failed, until one succeeds; or that a page is damaged, until the gateway starts again: what is
   * written into a damaged database may be lost with it, and stays in the journal instead.
   */
  get trouble(): string | null {
    if (this.#recovered !== null && Date.now() > this.#recovered.until) this.#recovered = null
    return this.#damage ?? this.#trouble ?? this.#recovered?.reason ?? null
  }

  /** `run` may be run again from its beginning, in a new transaction. */
  async write<Output>(run: (db: Database) => Promise<Output>): Promise<Output> {
    return await this.#writePatiently(() => this.db.transaction().execute(run))
  }

  /** The same with the hot statements and without a pause: nobody else gets a turn before it is committed. */
  async writeHot<Output>(run: (hot: HotStatements) => Output): Promise<Output> {
    const hot = this.#statements()
    const transact = this.sqlite.transaction(() => hot.whole(() => run(hot))).immediate
    return await this.#writePatiently(() => this.#alone(transact)).catch((error: unknown) => {
      hot.forget()
      throw error
    })
  }

  /** In a transaction without a pause, in which references are not looked at: for rows that come from another database. */
  async writeUnchecked<Output>(run: (sqlite: Sqlite.Database) => Output): Promise<Output> {
    const transact = this.sqlite.transaction(() => run(this.sqlite)).immediate
    return await this.#writePatiently(() =>
      this.#alone(() => {
        this.sqlite.pragma('foreign_keys = off')
        try {
          return transact()
        } finally {
          this.sqlite.pragma('foreign_keys = on')
        }
      }),
    )
  }

  /** The hot statements without a transaction: each sees what is committed. */
  async readHot<Output>(run: (hot: HotStatements) => Output): Promise<Output> {
    return await this.#patiently(() => this.#alone(() => run(this.#statements())), false)
  }

  /** All statements of `run` see one state of the database. */
  async read<Output>(run: (db: Database) => Promise<Output>): Promise<Output> {
    return await this.#patiently(() => this.db.transaction().setAccessMode('read only').execute(run), false)
  }

  /** Each statement of `run` sees what is committed by then, and others get their turn between them. */
  async readPaged<Output>(run: (db: Database) => Promise<Output>): Promise<Output> {
    return await this.#patiently(() => run(this.db), false)
  }

  /** Looks whether what stood in the way of writing still does; nobody may have anything to write for a long time. */
  async look(): Promise<void> {
    const lost = await this.#loss()
    if (lost !== null) this.#trouble = lost
    else if (this.#trouble !== null || this.#ground.logLost()) await this.write(tryToWrite)
  }

  /**
   * Moves the write-ahead log into the database once that much of it waits, as far as no reader needs it; waits for
   * nobody. The log then begins anew.
   */
  async checkpoint(atBytes: number): Promise<void> {
    await this.#alone(() => {
      if (this.#waitingBytes() >= atBytes) this.sqlite.pragma('wal_checkpoint(passive)')
    })
  }

  /** What of the database is in use, and what of its file is free. */
  async space(): Promise<{ usedBytes: number; freeBytes: number }> {
    return await this.#alone(() => {
      const number = (name: string) => Number(this.sqlite.pragma(name, { simple: true }))
      const pageBytes = number('page_size')
      const free = number('freelist_count')
      return { usedBytes: (number('page_count') - free) * pageBytes, freeBytes: free * pageBytes }
    })
  }

  /**
   * Moves so many pages of the file's end into its free ones, and the file becomes shorter with the next checkpoint. Returns whether
   * that came to anything: a database that an earlier version made, and that was too large to be rewritten, keeps its file.
   */
  async trim(pages: number): Promise<boolean> {
    return await this.#writePatiently(() =>
      this.#alone(() => {
        const before = Number(this.sqlite.pragma('freelist_count', { simple: true }))
        // Each row that it gives is a page.
        this.sqlite.pragma(`incremental_vacuum(${pages})`)
        return Number(this.sqlite.pragma('freelist_count', { simple: true })) < before
      }),
    )
  }

  async close(): Promise<void> {
    this.#closed = true
    await this.db.destroy()
  }

  #statements(): HotStatements {
    this.#hot ??= new HotStatements(this.sqlite)
    return this.#hot
  }

  async #standFirm(): Promise<void> {
    const refusal = this.#damage ?? (await this.#loss())
    if (refusal !== null) throw new StoreDegraded(refusal)
    if (!this.#ground.logLost()) return
    await this.#patiently(() => this.#alone(() => this.#ground.renewLog()), true)
    this.#recovered = {
      reason: 'the write-ahead log of the database was deleted and has been recreated',
      until: Date.now() + recoveredMs,
    }
  }

  async #loss(): Promise<string | null> {
    if (this.#ground.lost() === null) return null
    await this.#alone(() => this.#ground.rescue())
    return this.#ground.lost()
  }

  /** On the connection, between transactions. */
  async #alone<Output>(run: () => Output): Promise<Output> {
    return await this.db.connection().execute(async () => run())
  }

  /** The log's file keeps its size when the log begins anew: only SQLite knows how much of it waits. */
  #waitingBytes(): number {
    const [state] = this.sqlite.pragma('wal_checkpoint(noop)') as { log: number; checkpointed: number }[]
    const pages = state === undefined ? 0 : state.log - state.checkpointed
    return pages * Number(this.sqlite.pragma('page_size', { simple: true }))
  }

  async #writePatiently<Output>(attempt: () => Promise<Output>): Promise<Output> {
    try {
      await this.#standFirm()
      const output = await this.#patiently(attempt, true)
      if (this.#trouble !== null) await this.#lookForTrouble()
      return output
    } catch (error) {
      if (error instanceof StoreDegraded) this.#trouble = error.message
      throw error
    }
  }

  /** What had nothing to change succeeds on a failing disk, too: only a real write shows that it is healthy. */
  async #lookForTrouble(): Promise<void> {
    try {
      await this.db.transaction().execute(tryToWrite)
      this.#trouble = null
    } catch {
      // It goes on, and whoever writes next says how.
    }
  }

  async #patiently<Output>(attempt: () => Promise<Output>, writes: boolean): Promise<Output> {
    const begun = performance.now()
    for (let tries = 0; ; tries++) {
      try {
        return await attempt()
      } catch (error) {
        const translated = translateSqliteError(error)
        if (isDamage(error) && translated instanceof StoreDegraded) this.#damage = translated.message
        const waited = performance.now() - begun
        if (!isBusy(error) || this.#closed || waited > this.#busyTimeoutMs) throw translated
        if (writes && waited > noticeMs && translated instanceof StoreDegraded) this.#trouble = translated.message
        await wait(pausesMs[tries] ?? 200)
      }
    }
  }
}

/** Changes nothing in the end, but needs lock, room and the right to write like anything that does. */
async function tryToWrite(db: Database): Promise<void> {
  const name = ''
  await db.insertInto('journal_segments').values({ name, bytes_read: 0 }).execute()
  await db.deleteFrom('journal_segments').where('name', '=', name).execute()
}
