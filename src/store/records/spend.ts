import { CompiledQuery } from 'kysely'
import type { BatchHeldEntry, BookedAmount } from '../../core/journal-format.ts'
import type { Tables } from '../api.ts'
import { addSpent } from '../ingest/spend-statements.ts'
import type { Database } from '../schema.ts'
import { readJson } from '../sqlite/json-column.ts'

export function spendTable(db: Database): Tables['spend'] {
  return {
    async list(periods) {
      const used = await db.selectFrom('spend').selectAll().where('period', 'in', periods).execute()
      const batches = await db.selectFrom('batch_holds').select('held_json').execute()
      const admitted = await db.selectFrom('open_holds').select('hold_json').execute()
      const now = (all: BookedAmount[]) => all.filter(([, period]) => periods.includes(period))
      return {
        used: used.map(({ counter, period, amount }) => [counter, period, amount]),
        held: now(batches.flatMap(({ held_json }) => readJson<BatchHeldEntry>(held_json).hold)),
        open: now(admitted.flatMap(({ hold_json }) => readJson<BookedAmount[]>(hold_json))),
      }
    },
    async add(amounts) {
      for (const amount of amounts) await db.executeQuery(CompiledQuery.raw(addSpent, [...amount]))
    },
  }
}
