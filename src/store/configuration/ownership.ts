import { inSlices } from '../../core/threads/slices.ts'
import type { AuditLine, OwnedField, Tables } from '../api.ts'
import type { Database } from '../schema.ts'
import { canonicalJson } from '../sqlite/json-column.ts'
import { StoreOwned } from '../store-error.ts'

export function ownershipTable(db: Database): Tables['ownership'] {
  return { list: () => listOwned(db) }
}

export async function listOwned(db: Database): Promise<OwnedField[]> {
  const rows = await db.selectFrom('owned_fields').selectAll().orderBy('resource_id').orderBy('field').execute()
  return rows.map(({ resource_id, field, owner }) => ({ resourceId: resource_id, field, owner }))
}

/** The last file that names a field owns it, whoever owned it before. */
export async function setOwned(db: Database, own: readonly OwnedField[]): Promise<void> {
  await inSlices(inGroups(own), async (group) => {
    await db
      .insertInto('owned_fields')
      .values(group.map(({ resourceId, field, owner }) => ({ resource_id: resourceId, field, owner })))
      .onConflict((conflict) =>
        conflict.columns(['resource_id', 'field']).doUpdateSet(({ ref }) => ({ owner: ref('excluded.owner') })),
      )
      .execute()
  })
}

export async function releaseOwned(
  db: Database,
  fields: readonly Pick<OwnedField, 'resourceId' | 'field'>[],
): Promise<void> {
  await inSlices(fields, async ({ resourceId, field }) => {
    await db.deleteFrom('owned_fields').where('resource_id', '=', resourceId).where('field', '=', field).execute()
  })
}

/** Rows that one statement writes in a few milliseconds. */
const groupSize = 200

function* inGroups<Item>(items: readonly Item[]): Generator<readonly Item[]> {
  for (let at = 0; at < items.length; at += groupSize) yield items.slice(at, at + groupSize)
}

/**
 * The only check of a change against the fields that configuration files own: `before` and `after` of its audit line
 * may differ in none of them, unless the line is forced. Throws `StoreOwned`.
 */
export async function refuseOwned(db: Database, line: AuditLine): Promise<void> {
  const { before, after, resource } = line
  if (before === null || line.force === true) return
  const owned = await db.selectFrom('owned_fields').selectAll().where('resource_id', '=', resource.id).execute()
  const touched = owned.filter(({ field }) => after === null || !sameAt(field, before, after))
  const [first] = touched
  if (first === undefined) return
  const subject = `${resource.kind} ${resource.name}`
  const what = after === null ? subject : `${touched.map(({ field }) => field).join(', ')} of ${subject}`
  throw new StoreOwned(`the configuration files of owner ${JSON.stringify(first.owner)} manage ${what}`)
}

/** What is no more is owned by nobody. */
export async function forgetOwned(db: Database, line: AuditLine): Promise<void> {
  if (line.after === null) await db.deleteFrom('owned_fields').where('resource_id', '=', line.resource.id).execute()
}

function sameAt(field: string, before: unknown, after: unknown): boolean {
  return canonicalJson(valueAt(before, field)) === canonicalJson(valueAt(after, field))
}

/** Follows a path such as `timeouts.connect_ms`; undefined where a part of it is missing. */
function valueAt(value: unknown, field: string): unknown {
  return field
    .split('.')
    .reduce<unknown>(
      (inner, name) => (typeof inner === 'object' && inner !== null ? Reflect.get(inner, name) : null),
      value,
    )
}
