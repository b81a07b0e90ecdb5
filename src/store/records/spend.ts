import type { BatchHeldEntry } from '../../core/journal-format.ts'
import type { Tables } from '../api.ts'
import type { Database } from '../schema.ts'
import { readJson } from '../sqlite/json-column.ts'

export function spendTable(db: Database): Tables['spend'] {
  return {
    async list(periods) {
      const rows = await db.selectFrom('spend').selectAll().where('period', 'in', periods).execute()
      const batches = await db.selectFrom('batch_holds').select('held_json').execute()
      const held = batches.flatMap(({ held_json }) => readJson<BatchHeldEntry>(held_json).hold)
      return {
        used: rows.map(({ counter, period, amount }) => [counter, period, amount]),
        held: held.filter(([, period]) => periods.includes(period)),
      }
    },
    async add(amounts) {
      for (const [counter, period, amount] of amounts)
        await db
          .insertInto('spend')
          .values({ counter, period, amount })
          .onConflict((conflict) =>
            conflict
              .columns(['counter', 'period'])
              .doUpdateSet((row) => ({ amount: row('spend.amount', '+', row.ref('excluded.amount')) })),
          )
          .execute()
    },
  }
}
