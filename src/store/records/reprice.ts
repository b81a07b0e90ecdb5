import type { Database } from '../schema.ts'
import { writeJson } from '../sqlite/json-column.ts'
import { readRecord } from './record-json.ts'
import type { RecordCost } from './record-tables.ts'

/** What had no price before has one now, so that it says so no more. The sums are made of the column. */
export async function repriceRecords(db: Database, costs: readonly RecordCost[]): Promise<number> {
  const byId = new Map(costs.map((each) => [each.id, each]))
  const rows = await db
    .selectFrom('records')
    .select(['id', 'record_json'])
    .where('id', 'in', [...byId.keys()])
    .where('state', '<>', 'admitted')
    .execute()
  for (const { id, record_json } of rows) {
    const found = byId.get(id)
    if (found === undefined) continue
    const record = readRecord(record_json, id)
    record.cost = found.cost
    const last = record.attempts.at(-1)
    if (last !== undefined) last.cost = found.attempt
    record.policy_signals = record.policy_signals.filter(({ rule }) => rule !== 'unpriced')
    const change = { usd: found.cost.usd, record_json: writeJson(record) }
    await db.updateTable('records').set(change).where('id', '=', id).execute()
  }
  return rows.length
}
