import type { Tables } from './api.ts'
import type { Database } from './schema.ts'

export function sealTable(db: Database): Tables['seal'] {
  return {
    async sealed() {
      const rows = await db
        .selectFrom('provider_credentials')
        .select(['provider_id', 'id', 'sealed'])
        .distinct()
        .orderBy('provider_id')
        .orderBy('id')
        .execute()
      return rows.map((row) => ({ identity: `credential:${row.provider_id}:${row.id}`, sealed: row.sealed }))
    },
    async witness() {
      const row = await db.selectFrom('seal').select('sealed').where('name', '=', 'witness').executeTakeFirst()
      return row?.sealed ?? null
    },
    async setWitness(sealed) {
      await db
        .insertInto('seal')
        .values({ name: 'witness', sealed })
        .onConflict((conflict) => conflict.column('name').doUpdateSet({ sealed }))
        .execute()
    },
  }
}
