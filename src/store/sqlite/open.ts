import { closeSync, openSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'
import type { SchemaUpgrade } from '../api.ts'
import type { Schema } from '../schema.ts'
import { isBusy, refuseToStart, StoreRefused } from '../store-error.ts'
import { Connection } from './connection.ts'
import { databaseBytes } from './database-bytes.ts'
import { watchPlaces } from './file-names.ts'
import { migrate } from './migrate.ts'
import { migrations as ownMigrations } from './migrations/index.ts'
import { openSqlite, type SqliteFile, sqliteDialect } from './sqlite.ts'

export interface OpenStore {
  connection: Connection
  schemaVersion: string
  /** What opening it made of an older database. */
  upgrade: SchemaUpgrade | null
  /** On the disk. */
  bytes(): number
  close(): Promise<void>
}

const openTries = 50

export interface OpenOptions {
  migrations: Record<string, Migration>
  /** How long a call waits for a lock that another process holds. */
  busyTimeoutMs: number
}

const defaults: OpenOptions = { migrations: ownMigrations, busyTimeoutMs: 5000 }

/** Opens the database, made with mode 0600 if it is new, and migrates it. Throws `StoreRefused`. */
export async function openStore(file: SqliteFile, options: OpenOptions = defaults): Promise<OpenStore> {
  for (let tries = 1; ; tries++) {
    try {
      return await openOnce(file, options)
    } catch (error) {
      if (!isBusy(error) || tries === openTries) throw asRefusal(error, file.path)
      await wait(100)
    }
  }
}

async function openOnce(file: SqliteFile, { migrations, busyTimeoutMs }: OpenOptions): Promise<OpenStore> {
  // The log and the shared memory file beside it take their mode from the database.
  closeSync(openSync(file.path, 'a', 0o600))
  const sqlite = openSqlite(file)
  const db = new Kysely<Schema>({ dialect: sqliteDialect(sqlite) })
  try {
    const { schemaVersion, upgrade } = await migrate({ ...file, sqlite, db }, migrations)
    const connection = new Connection({ db, sqlite, busyTimeoutMs, ground: watchPlaces(file.path, sqlite) })
    return {
      connection,
      schemaVersion,
      upgrade,
      bytes: () => databaseBytes(file.path),
      close: () => connection.close(),
    }
  } catch (error) {
    sqlite.close()
    throw error
  }
}

function asRefusal(error: unknown, path: string): StoreRefused {
  if (error instanceof StoreRefused) return new StoreRefused(`${path}: ${error.message}`, error.hint)
  return refuseToStart(path, error)
}
