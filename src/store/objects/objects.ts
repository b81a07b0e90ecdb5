import type { Tables } from '../api.ts'
import { addToOutbox } from '../replica/outbox-rows.ts'
import type { Database } from '../schema.ts'
import { StoreConflict } from '../store-error.ts'
import { forgottenUntil, toObjectRow, toStoredObject } from './object-rows.ts'
import type { ObjectFilter } from './object-tables.ts'

export function objectsTable(db: Database): Tables['objects'] {
  return {
    async list(filter) {
      const rows = await matching(db, filter).orderBy('created_at', 'desc').limit(filter.limit).execute()
      return rows.map(toStoredObject)
    },
    async insert(object) {
      const { numInsertedOrUpdatedRows } = await db
        .insertInto('objects')
        .values(toObjectRow(object))
        .onConflict((conflict) => conflict.doNothing())
        .executeTakeFirst()
      if (Number(numInsertedOrUpdatedRows) === 0)
        throw new StoreConflict(`${object.type} ${object.id} already has an owner`)
      await addToOutbox(db, [], [{ kind: 'made', object, input: null }])
      return object
    },
    async remove(object) {
      const { type, id, provider_id, credential_id } = toObjectRow(object)
      await db
        .deleteFrom('objects')
        .where('type', '=', type)
        .where('id', '=', id)
        .where('provider_id', '=', provider_id)
        .where('credential_id', '=', credential_id)
        .execute()
      await addToOutbox(db, [], [{ kind: 'forgotten', ...object, until: forgottenUntil(object.createdAt) }])
    },
  }
}

function matching(db: Database, filter: ObjectFilter) {
  let query = db.selectFrom('objects').selectAll()
  if (filter.projects !== undefined) query = query.where('project_id', 'in', [...filter.projects, ''])
  if (filter.environmentIds !== undefined) query = query.where('environment_id', 'in', filter.environmentIds)
  if (filter.providerId !== undefined) query = query.where('provider_id', '=', filter.providerId)
  if (filter.type !== undefined) query = query.where('type', '=', filter.type)
  if (filter.id !== undefined) query = query.where('id', '=', filter.id)
  return query
}

/**
 * Something that was removed owns no objects: a successor of the same name is somebody else, and an operator can give
 * what the provider still keeps to a new owner (decision 0027).
 */
export async function forgetObjectsOf(
  db: Database,
  column: 'environment_id' | 'provider_id',
  id: string,
): Promise<void> {
  await db.deleteFrom('objects').where(column, '=', id).execute()
}
