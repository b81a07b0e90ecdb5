import type { Tables } from '../api.ts'
import type { Database } from '../schema.ts'

export function spendTable(db: Database): Tables['spend'] {
  return {
    async list(periods) {
      const rows = await db.selectFrom('spend').selectAll().where('period', 'in', periods).execute()
      return rows.map(({ counter, period, amount }) => [counter, period, amount])
    },
  }
}
