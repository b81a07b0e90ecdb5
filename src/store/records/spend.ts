import { CompiledQuery } from 'kysely'
import type { BatchHeldEntry, BookedAmount } from '../../core/journal-format.ts'
import type { Tables } from '../api.ts'
import { addSpent } from '../ingest/spend-statements.ts'
import type { Database } from '../schema.ts'
import { readJson } from '../sqlite/json-column.ts'

export function spendTable(db: Database): Tables['spend'] {
  return {
    async list(periods) {
      const rows = await db.selectFrom('spend').selectAll().where('period', 'in', periods).execute()
      const batches = await db.selectFrom('batch_holds').select('held_json').execute()
      const held = batches.flatMap(({ held_json }) => readJson<BatchHeldEntry>(held_json).hold)
      const admitted = await db.selectFrom('open_holds').select('hold_json').execute()
      const open = admitted.flatMap(({ hold_json }) => readJson<BookedAmount[]>(hold_json))
      return {
        used: rows.map(({ counter, period, amount }) => [counter, period, amount]),
        held: held.filter(([, period]) => periods.includes(period)),
        open: open.filter(([, period]) => periods.includes(period)),
      }
    },
    async add(amounts) {
      for (const amount of amounts) await db.executeQuery(CompiledQuery.raw(addSpent, [...amount]))
    },
  }
}
