import { sql } from 'kysely'
import type { Provider, ProviderRevision, Tables } from '../api.ts'
import { forgetObjectsOf } from '../objects/objects.ts'
import { named, present, refuseInUse, refuseTaken } from '../reject.ts'
import type { Database, ProviderRow } from '../schema.ts'
import { writeJson } from '../sqlite/json-column.ts'
import { StoreConflict } from '../store-error.ts'
import { removePricesOf } from './prices.ts'
import { insertRevision, joinProviders, listRevisions } from './provider-rows.ts'
import { listStates, noteFirstState, noteShownState, noteState } from './provider-states.ts'

export function providersTable(db: Database): Tables['providers'] {
  const withId = (id: string) => db.selectFrom('providers').selectAll().where('id', '=', id).executeTakeFirst()
  const withName = (name: string) => db.selectFrom('providers').selectAll().where('name', '=', name).executeTakeFirst()
  const load = async (id: string) => await joinOne(db, present(await withId(id), 'provider', id))
  const activate = async (id: string, number: number): Promise<Provider> => {
    await db.updateTable('providers').set({ active_revision: number }).where('id', '=', id).execute()
    return await load(id)
  }
  return {
    list: () => listProviders(db),
    async find(nameOrId) {
      const row = (await withId(nameOrId)) ?? (await withName(nameOrId))
      return row ? await joinOne(db, row) : null
    },
    async insert(provider, revision) {
      refuseTaken(await withName(provider.name), 'provider', provider.name, provider.id)
      await db.insertInto('providers').values(toRow(provider, revision.number)).execute()
      await setProjects(db, provider.id, provider.projects)
      await insertRevision(db, provider.id, revision)
      await noteFirstState(db, provider.id, provider.readiness, provider.createdAt)
      return await load(provider.id)
    },
    async update(id, change) {
      const row = present(await withId(id), 'provider', id)
      const name = change.name ?? row.name
      refuseTaken(await withName(name), 'provider', name, id)
      const active = change.active === undefined ? row.active : Number(change.active)
      const tags_json = change.tags === undefined ? row.tags_json : writeJson(change.tags)
      const limits_json = change.limits === undefined ? row.limits_json : writeJson(change.limits)
      await db.updateTable('providers').set({ name, active, tags_json, limits_json }).where('id', '=', id).execute()
      if (change.projects !== undefined) await setProjects(db, id, change.projects)
      return await load(id)
    },
    async setReadiness(id, readiness, models) {
      const found = models === null ? {} : { models_json: writeJson(models) }
      const readiness_json = writeJson(await noteState(db, id, readiness))
      await db
        .updateTable('providers')
        .set({ readiness_json, ...found })
        .where('id', '=', id)
        .execute()
    },
    noteShown: (id, state) => noteShownState(db, id, state),
    states: (id, since) => listStates(db, id, since),
    revisions: (id) => listRevisions(db, id),
    async addRevision(id, revision) {
      await refuseKnownRevision(db, id, revision)
      await insertRevision(db, id, revision)
      return await activate(id, revision.number)
    },
    async activateRevision(id, number) {
      const found = (await listRevisions(db, id)).some((revision) => revision.number === number)
      if (!found) throw new StoreConflict(`provider ${id} has no revision ${number}`)
      return await activate(id, number)
    },
    async remove(id) {
      const row = present(await withId(id), 'provider', id)
      refuseInUse(`provider ${row.name}`, await providerUsers(db, id))
      await db.deleteFrom('providers').where('id', '=', id).execute()
      await db.deleteFrom('provider_states').where('provider_id', '=', id).execute()
      await removePricesOf(db, id)
      await forgetObjectsOf(db, 'provider_id', id)
    },
  }
}

export async function listProviders(db: Database): Promise<Provider[]> {
  return await joinProviders(db, await db.selectFrom('providers').selectAll().orderBy('name').execute())
}

async function joinOne(db: Database, row: ProviderRow): Promise<Provider> {
  const [provider] = await joinProviders(db, [row])
  return present(provider, 'provider', row.id)
}

function toRow(provider: Provider, activeRevision: number): ProviderRow {
  return {
    id: provider.id,
    name: provider.name,
    kind: provider.kind,
    active: Number(provider.active),
    limited: Number(provider.projects !== null),
    tags_json: writeJson(provider.tags),
    active_revision: activeRevision,
    readiness_json: writeJson(provider.readiness),
    models_json: writeJson(provider.models),
    limits_json: writeJson(provider.limits),
    created_at: provider.createdAt,
  }
}

async function setProjects(db: Database, id: string, projects: readonly string[] | null): Promise<void> {
  await db
    .updateTable('providers')
    .set({ limited: Number(projects !== null) })
    .where('id', '=', id)
    .execute()
  await db.deleteFrom('provider_projects').where('provider_id', '=', id).execute()
  const rows = [...new Set(projects)].map((project_id) => ({ provider_id: id, project_id }))
  if (rows.length > 0) await db.insertInto('provider_projects').values(rows).execute()
}

async function refuseKnownRevision(db: Database, id: string, revision: ProviderRevision): Promise<void> {
  const known = (await listRevisions(db, id)).some((other) => other.number === revision.number)
  if (known) throw new StoreConflict(`revision ${revision.number} of provider ${id} already exists; refresh and retry`)
}

async function providerUsers(db: Database, id: string): Promise<string[]> {
  const routes = await db
    .selectFrom('route_targets')
    .innerJoin('routes', 'routes.id', 'route_targets.route_id')
    .select('routes.model')
    .where('route_targets.provider_id', '=', id)
    .distinct()
    .orderBy('routes.model')
    .execute()
  const shadows = await db
    .selectFrom('routes')
    .select('model')
    .where(sql<string>`json_extract(options_json, '$.shadow.provider_id')`, '=', id)
    .orderBy('model')
    .execute()
  const defaults = await db
    .selectFrom('environment_default_providers')
    .innerJoin('environments', 'environments.id', 'environment_default_providers.environment_id')
    .innerJoin('projects', 'projects.id', 'environments.project_id')
    .select(['projects.name as project', 'environments.name as environment'])
    .where('environment_default_providers.provider_id', '=', id)
    .distinct()
    .execute()
  return [
    ...named('route', [...new Set([...routes, ...shadows].map((route) => route.model))]),
    ...defaults.map((scope) => `the defaults of environment ${scope.project}/${scope.environment}`),
  ]
}
