import Sqlite from 'better-sqlite3'
import { Kysely } from 'kysely'
import { sealTable } from '../configuration/seal.ts'
import { auditTable } from '../operators/audit.ts'
import type { AuditVerdict } from '../operators/audit-tables.ts'
import type { Database, Schema } from '../schema.ts'
import { migrations } from './migrations/index.ts'
import { type SqliteFile, sqliteDialect } from './sqlite.ts'

/** What a look into a database tells that changes nothing in it, whether a gateway runs or not. */
export interface DatabaseCheck {
  /** What SQLite's own check says is damaged; empty is well. */
  damage: string[]
  /** The newest schema that it has had; null: none of ours. */
  schema: string | null
  /** `current`, one that the next start brings up to date, or one that this spgw does not know. */
  age: 'current' | 'older' | 'newer'
  /** Sealed under the machine key, to tell whether that is the right one; null: not made yet, or older. */
  witness: string | null
  /** null: the database is too old to have one, or to be asked. */
  audit: AuditVerdict | null
}

const damagesNamed = 5
/** A lock held for a moment is waited for; a command has the time. */
const busyTimeoutMs = 2000

/** Throws SQLite's error when it cannot be opened or is no database. */
export async function checkDatabase({ path, nativeBinding }: SqliteFile): Promise<DatabaseCheck> {
  const sqlite = new Sqlite(path, {
    readonly: true,
    fileMustExist: true,
    timeout: busyTimeoutMs,
    ...(nativeBinding === undefined ? {} : { nativeBinding }),
  })
  const db: Database = new Kysely<Schema>({ dialect: sqliteDialect(sqlite) })
  try {
    const damage = readDamage(sqlite)
    const applied = readApplied(sqlite)
    const age = schemaAge(applied)
    const isKnown = age === 'current' && damage.length === 0
    return {
      damage,
      schema: applied.at(-1) ?? null,
      age,
      witness: isKnown ? await sealTable(db).witness() : null,
      audit: isKnown ? await auditTable(db).verify(null) : null,
    }
  } finally {
    await db.destroy()
  }
}

/** The quick check reads every page and leaves out only whether each index has each row, which takes many times longer. */
function readDamage(sqlite: Sqlite.Database): string[] {
  const rows = sqlite.pragma(`quick_check(${damagesNamed})`) as { quick_check: string }[]
  return rows.map(({ quick_check: line }) => line).filter((line) => line !== 'ok')
}

function readApplied(sqlite: Sqlite.Database): string[] {
  const table = sqlite.prepare("select 1 from sqlite_master where name = 'kysely_migration'").get()
  if (table === undefined) return []
  const rows = sqlite.prepare('select name from kysely_migration order by name').all() as { name: string }[]
  return rows.map(({ name }) => name)
}

function schemaAge(applied: readonly string[]): DatabaseCheck['age'] {
  const known = Object.keys(migrations)
  if (applied.some((name) => !known.includes(name))) return 'newer'
  return known.every((name) => applied.includes(name)) ? 'current' : 'older'
}
