import { setImmediate as nextTurn } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Connection } from '../sqlite/connection.ts'

const pageRows = 500

/** By the time that each was given when it was kept. */
export async function removeExpiredReasoning(connection: Connection, now: number): Promise<void> {
  for (let removed = pageRows; removed === pageRows; await nextTurn()) {
    removed = await connection.write(async (db) => {
      const { numAffectedRows } = await sql`delete from reasoning where name in (
        select name from reasoning indexed by reasoning_by_age where expires_at < ${now} limit ${sql.lit(pageRows)})`.execute(
        db,
      )
      return Number(numAffectedRows ?? 0)
    })
  }
}
