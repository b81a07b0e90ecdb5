import type { Database } from '../schema.ts'
import { writeJson } from '../sqlite/json-column.ts'

/** Records that were changed are shipped once more; on a node that keeps its records to itself nothing is done. */
export async function addToOutbox(db: Database, ids: readonly string[]): Promise<void> {
  const [least] = ids.toSorted()
  const state = await db.selectFrom('outbox_state').select('member').executeTakeFirst()
  if (least === undefined || state === undefined) return
  const time = new Date().toISOString()
  await db
    .insertInto('outbox')
    .values({ least, records: ids.length, ids_json: writeJson(ids), time })
    .execute()
}

/** The least id that PostgreSQL was not heard to have: what is as old is removed only later. Null: it has all. */
export async function leastUnshipped(db: Database): Promise<string | null> {
  const row = await db
    .selectFrom('outbox')
    .innerJoin('outbox_state', (join) => join.onTrue())
    .select((fn) => fn.fn.min('outbox.least').as('least'))
    .whereRef('outbox.sequence', '>', 'outbox_state.sequence')
    .executeTakeFirst()
  return row?.least ?? null
}
