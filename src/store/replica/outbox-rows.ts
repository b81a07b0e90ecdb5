import type { Database } from '../schema.ts'
import { writeJson } from '../sqlite/json-column.ts'
import type { SharedChange } from './shared-change.ts'

/** What was changed is shipped (once more); on a node that keeps its records to itself nothing is done. */
export async function addToOutbox(
  db: Database,
  ids: readonly string[],
  changes: readonly SharedChange[] = [],
): Promise<void> {
  const [least = behindIds] = ids.toSorted()
  const state = await db.selectFrom('outbox_state').select('member').executeTakeFirst()
  if (ids.length + changes.length === 0 || state === undefined) return
  const changes_json = changes.length === 0 ? null : writeJson(changes)
  const time = new Date().toISOString()
  await db
    .insertInto('outbox')
    .values({ least, records: ids.length, ids_json: writeJson(ids), time, changes_json })
    .execute()
}

/** Behind all ids of records. */
export const behindIds = '~'

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
