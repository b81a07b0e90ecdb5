import type { Database } from '../schema.ts'
import type { AuditLine } from './audit-tables.ts'

/** The project that the thing belongs to, as long as it exists; null: none, or several. */
export async function projectOf(db: Database, { resource, projectId }: AuditLine): Promise<string | null> {
  if (projectId !== undefined) return projectId
  const { kind, id } = resource
  switch (kind) {
    case 'project':
      return id
    case 'environment':
    case 'route':
    case 'key': {
      const table = `${kind}s` as const
      const row = await db.selectFrom(table).select('project_id').where('id', '=', id).executeTakeFirst()
      return row?.project_id ?? null
    }
    case 'policy':
      return await projectOfPolicy(db, id)
    case 'request':
      return await projectOfRecord(db, id)
    default:
      return null
  }
}

async function projectOfPolicy(db: Database, id: string): Promise<string | null> {
  const policy = await db.selectFrom('policies').select('workspace').where('id', '=', id).executeTakeFirst()
  if (policy?.workspace !== 0) return null
  const attached = db.selectFrom('policy_attachments').select('target_id').where('policy_id', '=', id)
  const rows = await db
    .selectFrom('projects')
    .select('id as project_id')
    .where('id', 'in', attached)
    .union(db.selectFrom('environments').select('project_id').where('id', 'in', attached))
    .union(
      db
        .selectFrom('keys')
        .select('project_id')
        .where((where) => where.or([where('id', 'in', attached), where('policy_id', '=', id)])),
    )
    .execute()
  const [first, ...others] = rows
  return others.length === 0 ? (first?.project_id ?? null) : null
}

/** Whoever had the name when the request came. */
async function projectOfRecord(db: Database, id: string): Promise<string | null> {
  const row = await db
    .selectFrom('records')
    .innerJoin('record_labels', 'record_labels.number', 'records.label')
    .innerJoin('project_names', 'project_names.name', 'record_labels.project')
    .select('project_names.project_id')
    .where('records.id', '=', id)
    .whereRef('records.time', '>=', 'project_names.since')
    .where(({ or, eb, ref }) =>
      or([eb('project_names.until', 'is', null), eb('records.time', '<', ref('project_names.until'))]),
    )
    .executeTakeFirst()
  return row?.project_id ?? null
}
