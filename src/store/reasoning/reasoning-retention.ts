import { setImmediate as nextTurn } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Connection } from '../sqlite/connection.ts'

/** More than any use needs; each is at most 1.2 MB. */
const mostRows = 500_000

/** By the time that each was given when it was kept; beyond so many, those that end first. */
export async function removeExpiredReasoning(connection: Connection, now: number, most = mostRows): Promise<void> {
  while (await removeReasoningBefore(connection, now, most)) await nextTurn()
}

/** A page of those that end first. Returns whether there may be more. */
export async function removeReasoningBefore(connection: Connection, end: number, most = mostRows): Promise<boolean> {
  return await connection.write(async (db) => {
    const { numAffectedRows } = await sql`delete from reasoning where name in (
select name from reasoning where expires_at < max(${end}, coalesce(
(select expires_at + 1 from reasoning order by expires_at desc limit 1 offset ${most}), 0))
order by expires_at limit 500)`.execute(db)
    return (numAffectedRows ?? 0n) > 0
  })
}
