import Sqlite from 'better-sqlite3'
import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  SqliteAdapter,
  type SqliteDatabase,
  SqliteDialect,
  SqliteDriver,
  type SqliteStatement,
  type TransactionSettings,
} from 'kysely'
import { ownValue } from '../../core/own-value.ts'
import { readTags } from '../records/record-json.ts'

/** A lock held elsewhere stops the thread for at most this long; longer waits are made by timer (`connection.ts`). */
const busyTimeoutMs = 25
const cachedStatements = 200

export interface SqliteFile {
  path: string
  /** The addon's path in the packaged executable; left out, the installed package finds its own. */
  nativeBinding?: string
}

export function openSqlite(file: SqliteFile): Sqlite.Database {
  const options = { timeout: busyTimeoutMs }
  const database = new Sqlite(
    file.path,
    file.nativeBinding ? { ...options, nativeBinding: file.nativeBinding } : options,
  )
  // Takes effect where the database is made. A record is about half of SQLite's usual page, and a page is what a write costs.
  database.pragma('page_size = 16384')
  // The same: what is removed can go back to the file system without rewriting all (`Connection.trim()`). It writes.
  if (database.pragma('page_count', { simple: true }) === 0) database.pragma('auto_vacuum = incremental')
  database.pragma('foreign_keys = on')
  database.pragma('journal_mode = wal')
  database.pragma('synchronous = normal')
  // Checkpoints are the thread's own doing, between calls, and never a surprise inside a commit.
  database.pragma('wal_autocheckpoint = 0')
  database.pragma('journal_size_limit = 67108864')
  defineFunctions(database)
  return database
}

/** `has_tag(record_json, name, value)`: whether a record has that tag; with the value null, whatever its value. */
function defineFunctions(database: Sqlite.Database): void {
  database.function('has_tag', { deterministic: true }, (text: unknown, name: unknown, value: unknown) => {
    const tags = readTags(String(text))
    const found = ownValue(tags, String(name))
    return found !== undefined && (value === null || found === value) ? 1 : 0
  })
}

/** Kysely's SQLite dialect, with two differences: see the driver and the adapter below. */
export function sqliteDialect(database: Sqlite.Database): Dialect {
  const cached = cacheStatements(database)
  const base = new SqliteDialect({ database: cached })
  return {
    createDriver: () => new ImmediateDriver(cached, database),
    createAdapter: () => new TransactionalAdapter(),
    createQueryCompiler: () => base.createQueryCompiler(),
    createIntrospector: (db) => base.createIntrospector(db),
  }
}

/**
 * A write takes its lock at the start: a transaction that reads first and writes later fails at once when somebody
 * wrote in between, without the busy time-out. A transaction declared `read only` takes none.
 */
class ImmediateDriver extends SqliteDriver {
  readonly #database: Sqlite.Database

  constructor(cached: SqliteDatabase, database: Sqlite.Database) {
    super({ database: cached })
    this.#database = database
  }

  override async beginTransaction(connection: DatabaseConnection, settings?: TransactionSettings): Promise<void> {
    const begin = settings?.accessMode === 'read only' ? 'begin' : 'begin immediate'
    await connection.executeQuery(CompiledQuery.raw(begin))
  }

  /** SQLite itself rolls back on a full disk or a failed write; a second rollback would hide the cause. */
  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    if (this.#database.inTransaction) await super.rollbackTransaction(connection)
  }
}

/** SQLite's schema changes are transactional; Kysely's own adapter does not use that. */
class TransactionalAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true
  }
}

/** Kysely prepares each statement anew. Kept by text, oldest out first; never used for iteration, which would lock one. */
function cacheStatements(database: Sqlite.Database): SqliteDatabase {
  const statements = new Map<string, SqliteStatement>()
  return {
    close: () => database.close(),
    prepare(text) {
      const known = statements.get(text)
      if (known) return known
      const statement = database.prepare<[readonly unknown[]]>(text)
      statements.set(text, statement)
      const oldest = statements.keys().next()
      if (statements.size > cachedStatements && !oldest.done) statements.delete(oldest.value)
      return statement
    },
  }
}
