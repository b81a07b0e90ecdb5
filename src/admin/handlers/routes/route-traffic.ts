import type { TargetRow } from '../../../store/api.ts'
import type { AdminContext } from '../context.ts'
import { findRoute, type RouteReference } from '../find.ts'
import { readMoment } from '../moments.ts'
import { loadNames } from '../names.ts'

/** Busiest first, and every target of today with it, however little it got. */
export async function showRouteTraffic(context: AdminContext, input: RouteReference & { since: string }) {
  const route = await findRoute(context, input)
  const names = await loadNames(context)
  await context.runtime.ingest()
  const rows = await context.store.records.targets(
    {
      project: names.project(route.projectId),
      ...(route.environmentId === null ? {} : { environment: names.environment(route.environmentId) }),
      route: route.model,
      since: readMoment(input.since, 'back'),
      limit: 1,
    },
    await ownersElsewhere(context, route),
  )
  const sent = rows.reduce((sum, row) => sum + row.tried, 0)
  const targets = route.targets.map(({ providerId, upstreamModel }) => ({
    provider: names.provider(providerId),
    upstream: upstreamModel,
  }))
  const isTarget = (row: Pick<TargetRow, 'provider' | 'upstream_model'>) =>
    targets.some(
      ({ provider, upstream }) =>
        provider === row.provider && (upstream === null || upstream.includes('*') || upstream === row.upstream_model),
    )
  const idle = targets
    .filter(({ provider }) => !rows.some((row) => row.provider === provider && isTarget(row)))
    .map(({ provider, upstream }) => ({
      provider,
      upstream_model: upstream ?? route.model,
      target: true,
      requests: 0,
      errors: 0,
      tried: 0,
      failed: 0,
      fell_back: 0,
      share: 0,
      duration_p95_ms: null,
      first_byte_p50_ms: null,
    }))
  const busy = rows.map((row) => ({
    provider: row.provider,
    upstream_model: row.upstream_model,
    target: isTarget(row),
    requests: row.tried,
    errors: row.failed,
    tried: row.tried,
    failed: row.failed,
    fell_back: row.fell_back,
    share: sent === 0 ? 0 : Math.round((row.tried / sent) * 10_000) / 10_000,
    duration_p95_ms: row.duration_p95_ms,
    first_byte_p50_ms: row.first_byte_p50_ms,
  }))
  return [...busy, ...idle]
}

/** Environments whose own route of that name stands before the project's: what it did there was another route's doing. */
async function ownersElsewhere(
  { store }: AdminContext,
  route: { projectId: string; environmentId: string | null; model: string },
): Promise<string[]> {
  if (route.environmentId !== null) return []
  const routes = await store.routes.list(route.projectId)
  const owners = routes.filter(({ model, environmentId }) => model === route.model && environmentId !== null)
  const environments = await store.environments.list(route.projectId)
  return environments.filter(({ id }) => owners.some((owner) => owner.environmentId === id)).map(({ name }) => name)
}
