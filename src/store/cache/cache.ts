import type { Tables } from '../api.ts'
import type { Database } from '../schema.ts'

export function cacheTable(db: Database): Tables['cache'] {
  return {
    async clear(routeId) {
      const all = db.deleteFrom('cached_answers')
      const { numDeletedRows } = await (routeId === null ? all : all.where('route_id', '=', routeId)).executeTakeFirst()
      return Number(numDeletedRows)
    },
  }
}
