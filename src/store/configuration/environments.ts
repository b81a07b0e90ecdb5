import type { LaneName } from '../../core/lane.ts'
import type { Environment, Tables } from '../api.ts'
import { forgetObjectsOf } from '../objects/objects.ts'
import { named, present, refuseInUse, refuseTaken } from '../reject.ts'
import type { Database, Schema } from '../schema.ts'
import { removeKey } from './key-version.ts'

type EnvironmentRow = Schema['environments']
type DefaultRow = Schema['environment_default_providers']

export function environmentsTable(db: Database): Tables['environments'] {
  const withId = (id: string) => db.selectFrom('environments').selectAll().where('id', '=', id).executeTakeFirst()
  const withName = (projectId: string, name: string) =>
    db
      .selectFrom('environments')
      .selectAll()
      .where('project_id', '=', projectId)
      .where('name', '=', name)
      .executeTakeFirst()
  return {
    list: (projectId) => listEnvironments(db, projectId),
    async find(projectId, nameOrId) {
      const byId = await withId(nameOrId)
      const row = byId?.project_id === projectId ? byId : await withName(projectId, nameOrId)
      return row ? await toEnvironment(db, row) : null
    },
    async insert(environment) {
      refuseTaken(
        await withName(environment.projectId, environment.name),
        'environment',
        environment.name,
        environment.id,
      )
      const { id, name, projectId, createdAt } = environment
      await db.insertInto('environments').values({ id, name, project_id: projectId, created_at: createdAt }).execute()
      await setDefaults(db, id, environment.defaultProviders)
      return environment
    },
    async update(id, change) {
      const row = present(await withId(id), 'environment', id)
      const name = change.name ?? row.name
      refuseTaken(await withName(row.project_id, name), 'environment', name, id)
      await db.updateTable('environments').set({ name }).where('id', '=', id).execute()
      if (change.defaultProviders) await setDefaults(db, id, change.defaultProviders)
      return await toEnvironment(db, { ...row, name })
    },
    async remove(id) {
      const row = present(await withId(id), 'environment', id)
      refuseInUse(`environment ${row.name}`, await environmentUsers(db, id))
      await removeEnvironment(db, id)
    },
  }
}

export async function listEnvironments(db: Database, projectId: string | null): Promise<Environment[]> {
  let query = db.selectFrom('environments').selectAll().orderBy('project_id').orderBy('name')
  if (projectId !== null) query = query.where('project_id', '=', projectId)
  const defaults = await db.selectFrom('environment_default_providers').selectAll().execute()
  const byEnvironment = Map.groupBy(defaults, (entry) => entry.environment_id)
  return (await query.execute()).map((row) => combine(row, byEnvironment.get(row.id) ?? []))
}

/** What keeps an environment from being removed. */
export async function environmentUsers(db: Database, id: string): Promise<string[]> {
  const routes = await db
    .selectFrom('routes')
    .select('model')
    .where('environment_id', '=', id)
    .orderBy('model')
    .execute()
  const keys = await db
    .selectFrom('keys')
    .select('name')
    .where('environment_id', '=', id)
    .where('revoked_at', 'is', null)
    .orderBy('name')
    .execute()
  return [
    ...named(
      'route',
      routes.map((route) => route.model),
    ),
    ...named(
      'key',
      keys.map((key) => key.name),
    ),
  ]
}

/** Removes its revoked keys too. The caller has made sure that it holds nothing else. */
export async function removeEnvironment(db: Database, id: string): Promise<void> {
  const keys = await db.selectFrom('keys').select('id').where('environment_id', '=', id).execute()
  for (const key of keys) await removeKey(db, key.id)
  await forgetObjectsOf(db, 'environment_id', id)
  await db.deleteFrom('policy_attachments').where('target_id', '=', id).execute()
  await db.deleteFrom('environments').where('id', '=', id).execute()
}

async function toEnvironment(db: Database, row: EnvironmentRow): Promise<Environment> {
  const query = db.selectFrom('environment_default_providers').selectAll()
  return combine(row, await query.where('environment_id', '=', row.id).execute())
}

function combine(row: EnvironmentRow, defaults: readonly DefaultRow[]): Environment {
  const defaultProviders = Object.fromEntries(defaults.map((entry) => [entry.lane, entry.provider_id]))
  return { id: row.id, projectId: row.project_id, name: row.name, defaultProviders, createdAt: row.created_at }
}

async function setDefaults(db: Database, id: string, defaults: Partial<Record<LaneName, string>>): Promise<void> {
  await db.deleteFrom('environment_default_providers').where('environment_id', '=', id).execute()
  const rows = Object.entries(defaults).map(([lane, provider_id]) => ({ environment_id: id, lane, provider_id }))
  if (rows.length > 0) await db.insertInto('environment_default_providers').values(rows).execute()
}
