import { sql } from 'kysely'
import { type Migration, Migrator } from 'kysely/migration'
import type { Database } from './schema.ts'
import { isBusy, StoreRefused } from './store-error.ts'

/**
 * Brings the database to the newest schema, each migration in a transaction of its own, and returns its name.
 * Throws `StoreRefused` for a database of a newer spgw, and for a migration that failed (whose changes are undone).
 */
export async function migrate(db: Database, migrations: Record<string, Migration>): Promise<string> {
  const known = Object.keys(migrations).sort()
  await refuseForeign(db, known)
  const migrator = new Migrator({ db, provider: { getMigrations: async () => migrations } })
  for (;;) {
    const { error, results } = await migrator.migrateUp()
    if (isBusy(error)) throw error
    if (error !== undefined) throw failed(results?.at(-1)?.migrationName, error)
    if (!results?.length) return known.at(-1) ?? ''
  }
}

async function refuseForeign(db: Database, known: readonly string[]): Promise<void> {
  const applied = await appliedMigrations(db)
  const newest = applied.at(-1)
  if (newest === undefined || applied.every((name) => known.includes(name))) return
  throw new StoreRefused(
    `the database has schema ${newest}, this spgw knows schemas up to ${known.at(-1)}; ` +
      'start the newer spgw that made it, or restore a backup from before the upgrade',
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

function failed(migration: string | undefined, error: unknown): StoreRefused {
  const reason = error instanceof Error ? error.message : String(error)
  return new StoreRefused(`migration ${migration ?? 'set-up'} failed and was undone: ${reason}`)
}
