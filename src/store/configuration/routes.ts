import { isFormatName } from '../../core/format.ts'
import type { Route, Tables } from '../api.ts'
import { present, refuseTaken } from '../reject.ts'
import type { Database, RouteRow, RouteTargetRow } from '../schema.ts'
import { readJson, writeJson } from '../sqlite/json-column.ts'

/**
 * `find` takes a route's id in any scope, but a model only in exactly the given one: null means the scope "all
 * environments".
 */
export function routesTable(db: Database): Tables['routes'] {
  const withId = (id: string) => db.selectFrom('routes').selectAll().where('id', '=', id).executeTakeFirst()
  const withModel = (scope: Pick<Route, 'projectId' | 'environmentId' | 'model'>) =>
    db
      .selectFrom('routes')
      .selectAll()
      .where('project_id', '=', scope.projectId)
      .where('environment_id', scope.environmentId === null ? 'is' : '=', scope.environmentId)
      .where('model', '=', scope.model)
      .executeTakeFirst()
  return {
    list: (projectId) => listRoutes(db, projectId),
    async find(projectId, environmentId, modelOrId) {
      const row = (await withId(modelOrId)) ?? (await withModel({ projectId, environmentId, model: modelOrId }))
      return row ? toRoute(row, await readTargets(db, [row.id])) : null
    },
    async insert(route) {
      refuseTaken(await withModel(route), 'route', route.model, route.id)
      await db.insertInto('routes').values(toRow(route)).execute()
      await writeTargets(db, route)
      return route
    },
    async update(id, change) {
      const row = present(await withId(id), 'route', id)
      const route = { ...toRoute(row, await readTargets(db, [id])), ...change }
      refuseTaken(await withModel(route), 'route', route.model, id)
      await db.updateTable('routes').set(toRow(route)).where('id', '=', id).execute()
      await db.deleteFrom('route_targets').where('route_id', '=', id).execute()
      await writeTargets(db, route)
      return route
    },
    async remove(id) {
      await db.deleteFrom('routes').where('id', '=', id).execute()
    },
  }
}

export async function listRoutes(db: Database, projectId: string | null): Promise<Route[]> {
  let query = db.selectFrom('routes').selectAll().orderBy('model').orderBy('id')
  if (projectId !== null) query = query.where('project_id', '=', projectId)
  const rows = await query.execute()
  const targets = Map.groupBy(await readTargets(db, null), (target) => target.route_id)
  return rows.map((row) => toRoute(row, targets.get(row.id) ?? []))
}

async function readTargets(db: Database, routes: readonly string[] | null): Promise<RouteTargetRow[]> {
  let query = db.selectFrom('route_targets').selectAll().orderBy('position')
  if (routes !== null) query = query.where('route_id', 'in', routes)
  return await query.execute()
}

async function writeTargets(db: Database, route: Route): Promise<void> {
  const rows = route.targets.map((target, position) => ({
    route_id: route.id,
    position,
    provider_id: target.providerId,
    upstream_model: target.upstreamModel,
    weight: target.weight,
    priority: target.priority,
    format: target.format,
  }))
  if (rows.length > 0) await db.insertInto('route_targets').values(rows).execute()
}

function toRow(route: Route): RouteRow {
  return {
    id: route.id,
    project_id: route.projectId,
    environment_id: route.environmentId,
    model: route.model,
    enabled: Number(route.enabled),
    strategy: route.strategy,
    retries: route.retries,
    fallback_on_json: writeJson(route.fallbackOn),
    timeouts_json: writeJson(route.timeouts),
    strict: Number(route.strict),
    options_json: writeJson(writeOptions(route)),
    created_at: route.createdAt,
  }
}

function toRoute(row: RouteRow, targets: readonly RouteTargetRow[]): Route {
  return {
    id: row.id,
    projectId: row.project_id,
    environmentId: row.environment_id,
    model: row.model,
    enabled: row.enabled === 1,
    strategy: row.strategy as Route['strategy'],
    targets: targets.map((target) => ({
      providerId: target.provider_id,
      upstreamModel: target.upstream_model,
      weight: target.weight,
      priority: target.priority,
      format: isFormatName(target.format) ? target.format : null,
    })),
    retries: row.retries,
    fallbackOn: readJson(row.fallback_on_json),
    timeouts: readJson(row.timeouts_json),
    strict: row.strict === 1,
    ...readOptions(readJson(row.options_json)),
    createdAt: row.created_at,
  }
}

/** The options as a row holds them: only those that differ from the default. */
interface OptionsJson {
  echo_model?: true
  reasoning_text?: false
  fetch_media?: true
  sticky?: true
  hedge?: NonNullable<Route['hedge']>
  shadow?: { provider_id: string; upstream_model: string | null }
  cache_ms?: number
  keep_responses_ms?: number
}

function writeOptions(route: Route): OptionsJson {
  const { echoModel, reasoningText, fetchMedia, sticky, hedge, shadow, cacheMs, keepResponsesMs } = route
  return {
    ...(echoModel ? { echo_model: true } : {}),
    ...(reasoningText ? {} : { reasoning_text: false }),
    ...(fetchMedia ? { fetch_media: true } : {}),
    ...(sticky ? { sticky: true } : {}),
    ...(hedge ? { hedge } : {}),
    ...(shadow ? { shadow: { provider_id: shadow.providerId, upstream_model: shadow.upstreamModel } } : {}),
    ...(cacheMs ? { cache_ms: cacheMs } : {}),
    ...(keepResponsesMs ? { keep_responses_ms: keepResponsesMs } : {}),
  }
}

function readOptions({ shadow, ...from }: OptionsJson) {
  return {
    echoModel: from.echo_model === true,
    reasoningText: from.reasoning_text !== false,
    fetchMedia: from.fetch_media === true,
    sticky: from.sticky === true,
    hedge: from.hedge ?? null,
    shadow: shadow ? { providerId: shadow.provider_id, upstreamModel: shadow.upstream_model } : null,
    cacheMs: from.cache_ms ?? null,
    keepResponsesMs: from.keep_responses_ms ?? null,
  }
}
