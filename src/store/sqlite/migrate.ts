import { sql } from 'kysely'
import { type Migration, Migrator } from 'kysely/migration'
import { errorText } from '../../core/caught.ts'
import { reachFaultPoint } from '../../core/fault-point.ts'
import type { SchemaUpgrade } from '../api.ts'
import type { Database } from '../schema.ts'
import { isBusy, StoreRefused } from '../store-error.ts'
import { databaseBytes } from './database-bytes.ts'
import { copyBeforeUpgrade, type DatabaseFile, removeOldCopies } from './upgrade-copy.ts'

export interface MigrationTarget extends DatabaseFile {
  db: Database
}

/**
 * Brings the database to the newest schema, all pending migrations in one transaction; one that holds anything is
 * copied first. Throws `StoreRefused` for a database of a newer spgw, for a copy that cannot be made, and for a
 * migration that failed: in all three the database is as it was.
 */
export async function migrate(
  target: MigrationTarget,
  migrations: Record<string, Migration>,
): Promise<{ schemaVersion: string; upgrade: SchemaUpgrade | null }> {
  const known = Object.keys(migrations).sort()
  const applied = await appliedMigrations(target.db)
  refuseNewer(applied, known)
  const schemaVersion = known.at(-1) ?? ''
  if (known.every((name) => applied.includes(name))) return { schemaVersion, upgrade: null }
  const from = applied.at(-1)
  const copy = from === undefined ? null : copyBeforeUpgrade(target, schemaVersion)
  reachFaultPoint('migrate.after-copy')
  await migrateAll(target, migrations)
  reachFaultPoint('migrate.after-commit')
  if (from === undefined || copy === null) return { schemaVersion, upgrade: null }
  makeShrinkable(target)
  removeOldCopies(target.path)
  return { schemaVersion, upgrade: { from, to: schemaVersion, copy } }
}

/** A larger one would keep the start waiting. */
const mostRewritten = 1e9
const incremental = 2

/** Databases of versions before 2026-11-25 cannot give back what is free: rewriting one makes it so. */
function makeShrinkable({ path, sqlite }: MigrationTarget): void {
  if (sqlite.pragma('auto_vacuum', { simple: true }) === incremental || databaseBytes(path) > mostRewritten) return
  try {
    sqlite.pragma('auto_vacuum = incremental')
    sqlite.exec('vacuum')
  } catch {
    // It is as good as it was: what is free is used again.
  }
}

function refuseNewer(applied: readonly string[], known: readonly string[]): void {
  const newest = applied.at(-1)
  if (newest === undefined || applied.every((name) => known.includes(name))) return
  throw new StoreRefused(
    `the database has schema ${newest}, this spgw knows schemas up to ${known.at(-1)}`,
    'Start the newer spgw, or go back to the copy from before the upgrade: docs/operations.md, Upgrade.',
  )
}

async function appliedMigrations(db: Database): Promise<string[]> {
  const tables = await db.introspection.getTables({ withInternalKyselyTables: true })
  if (tables.some((table) => table.name === 'kysely_migration')) {
    const { rows } = await sql<{ name: string }>`select name from kysely_migration order by name`.execute(db)
    return rows.map((row) => row.name)
  }
  if (tables.length === 0) return []
  throw new StoreRefused('the database belongs to another program: it has tables, but no schema version of spgw')
}

/**
 * SQLite rebuilds a table by dropping the old one, which would take along what refers to it: so foreign keys are not
 * kept on the way (they cannot be switched within a transaction), and all are checked at its end.
 */
async function migrateAll({ db, sqlite }: MigrationTarget, migrations: Record<string, Migration>): Promise<void> {
  sqlite.pragma('foreign_keys = off')
  try {
    await db.transaction().execute(async (transaction) => {
      const migrator = new Migrator({ db: transaction, provider: { getMigrations: async () => migrations } })
      const { error, results } = await migrator.migrateToLatest()
      if (isBusy(error)) throw error
      if (error !== undefined) throw failed(results?.find(({ status }) => status === 'Error')?.migrationName, error)
      const [dangling] = sqlite.pragma('foreign_key_check') as { table: string }[]
      if (dangling) throw failed(undefined, `rows of ${dangling.table} refer to missing rows`)
      reachFaultPoint('migrate.before-commit')
    })
  } finally {
    sqlite.pragma('foreign_keys = on')
  }
}

function failed(migration: string | undefined, error: unknown): StoreRefused {
  const reason = errorText(error)
  return new StoreRefused(`migration ${migration ?? 'set-up'} failed and was undone: ${reason}`)
}
