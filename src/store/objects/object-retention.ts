import { setImmediate as nextTurn } from 'node:timers/promises'
import { type RawBuilder, sql } from 'kysely'
import type { Connection } from '../sqlite/connection.ts'

const pageRows = 500

/** Marks of what is counted once: their answers are forgotten by then, since they are older. */
export async function removeMarksBefore(connection: Connection, moment: number): Promise<void> {
  const time = new Date(moment).toISOString()
  await removePages(
    connection,
    sql`delete from counted_batches where (id, provider_id, credential_id) in (
      select id, provider_id, credential_id from counted_batches indexed by counted_by_age
      where type in ('response', 'interaction') and counted_at < ${time} limit ${sql.lit(pageRows)})`,
  )
}

/**
 * Forgets answers that were stored at their provider before that moment (milliseconds), page by page: nearly every call makes
 * one, and the providers themselves delete them after weeks. What people make by hand stays until it is deleted.
 */
export async function removeAnswersBefore(connection: Connection, moment: number): Promise<void> {
  const time = new Date(moment).toISOString()
  // The list of types is that of the index, word for word, without which it cannot be used.
  await removePages(
    connection,
    sql`delete from objects where (type, id, provider_id, credential_id) in (
      select type, id, provider_id, credential_id from objects indexed by objects_by_age
      where type in ('response', 'item', 'interaction', 'chat_completion', 'session_handle') and created_at < ${time}
      limit ${sql.lit(pageRows)})`,
  )
}

async function removePages(connection: Connection, page: RawBuilder<unknown>): Promise<void> {
  for (let removed = pageRows; removed === pageRows; await nextTurn()) {
    const { numAffectedRows } = await connection.write((db) => page.execute(db))
    removed = Number(numAffectedRows ?? 0)
  }
}
