import { useQuery } from '@tanstack/react-query'
import { admin } from '../../client/admin.ts'
import { matchesPattern } from '../lane-models.ts'
import type { Route, StatsRow } from '../outputs.ts'

export interface TargetTraffic {
  requests: number
  errors: number
  p95: number | null
}

/** Of a pattern, so many of the names that were asked for most are counted. */
const mostModels = 5

/** The last hour of a route, by provider; null while it is not known. */
export function useRouteTraffic(route: Route): ReadonlyMap<string, TargetTraffic> | null {
  const { data } = useQuery({
    queryKey: [['requests', 'stats'], 'route', route.id],
    queryFn: ({ signal }) => readTraffic(route, signal),
    refetchInterval: 30_000,
  })
  return data ?? null
}

async function readTraffic(route: Route, signal: AbortSignal): Promise<ReadonlyMap<string, TargetTraffic>> {
  const scope = {
    project: route.project,
    ...(route.environment === null ? {} : { environment: route.environment }),
    since: '1h',
  }
  const models = await modelsAskedFor(route, scope, signal)
  const answers = await Promise.all(
    models.map((model) => admin.requests.stats({ ...scope, model, by: 'provider' }, { signal })),
  )
  return sumByProvider(answers.flat())
}

async function modelsAskedFor(
  { model }: Route,
  scope: { project: string; environment?: string; since: string },
  signal: AbortSignal,
): Promise<string[]> {
  if (!model.includes('*')) return [model]
  const rows = await admin.requests.stats({ ...scope, by: 'model' }, { signal })
  return rows
    .filter(({ group }) => matchesPattern(model, group))
    .sort((left, right) => right.requests - left.requests)
    .slice(0, mostModels)
    .map(({ group }) => group)
}

/** A p95 of several groups is not theirs put together: the worst of them is what one must reckon with. */
export function sumByProvider(
  rows: readonly Pick<StatsRow, 'group' | 'requests' | 'errors' | 'duration_p95_ms'>[],
): Map<string, TargetTraffic> {
  const sums = new Map<string, TargetTraffic>()
  for (const { group, requests, errors, duration_p95_ms } of rows) {
    const before = sums.get(group)
    const worst = [before?.p95 ?? null, duration_p95_ms].filter((value) => value !== null)
    sums.set(group, {
      requests: (before?.requests ?? 0) + requests,
      errors: (before?.errors ?? 0) + errors,
      p95: worst.length === 0 ? null : Math.max(...worst),
    })
  }
  return sums
}
