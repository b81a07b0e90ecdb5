import type { ModelPrice } from '../../core/cost/model-price.ts'
import type { Tables } from '../api.ts'
import type { Database } from '../schema.ts'
import { readJson, writeJson } from '../sqlite/json-column.ts'

export function pricesTable(db: Database): Tables['prices'] {
  return {
    async list() {
      const rows = await db.selectFrom('prices').selectAll().orderBy('model').orderBy('provider_id').execute()
      return rows.map(({ provider_id, price_json }) => ({
        providerId: provider_id === '' ? null : provider_id,
        price: readJson<ModelPrice>(price_json),
      }))
    },
    async table() {
      const { table_json } = await db.selectFrom('price_state').select('table_json').executeTakeFirstOrThrow()
      return table_json === null ? null : readJson<ModelPrice[]>(table_json)
    },
    async put(prices) {
      for (const { providerId, price } of prices) {
        const price_json = writeJson(price)
        await db
          .insertInto('prices')
          .values({ model: price.model, provider_id: providerId ?? '', price_json })
          .onConflict((conflict) => conflict.columns(['model', 'provider_id']).doUpdateSet({ price_json }))
          .execute()
      }
      await countChange(db)
    },
    async remove(model, providerId) {
      const of = db.deleteFrom('prices').where('model', '=', model)
      const { numDeletedRows } = await of.where('provider_id', '=', providerId ?? '').executeTakeFirst()
      if (numDeletedRows > 0n) await countChange(db)
      return numDeletedRows > 0n
    },
    async setTable(prices) {
      const table_json = prices === null ? null : writeJson(prices)
      await db.updateTable('price_state').set({ table_json }).execute()
      await countChange(db)
    },
  }
}

export async function pricesRevision(db: Database): Promise<number> {
  const { revision } = await db.selectFrom('price_state').select('revision').executeTakeFirstOrThrow()
  return Number(revision)
}

/** Removes the provider's own prices: a provider created later under the same name must not get them. */
export async function removePricesOf(db: Database, providerId: string): Promise<void> {
  const { numDeletedRows } = await db.deleteFrom('prices').where('provider_id', '=', providerId).executeTakeFirst()
  if (numDeletedRows > 0n) await countChange(db)
}

async function countChange(db: Database): Promise<void> {
  await db
    .updateTable('price_state')
    .set((set) => ({ revision: set('revision', '+', 1) }))
    .execute()
}
