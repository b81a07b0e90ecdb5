import { useQueries } from '@tanstack/react-query'
import { orpc } from '../../client/admin.ts'
import { Count, Duration, Missing } from '../../parts/index.ts'
import type { Route, StatsRow } from '../outputs.ts'

/** What a route did in the last hour; undefined: nothing. Null: it is not known yet. */
export type RouteHours = (route: Route) => StatsRow | undefined | null

/**
 * One call for all routes, and one more for each project in which a model has several. `isScoped`: of the routes only those of an
 * environment are here, and others may have the same model.
 */
export function useRouteHours(routes: readonly Route[], isScoped: boolean): RouteHours {
  const questions = questionsOf(routes, isScoped)
  const answers = useQueries({
    queries: questions.map(({ input }) => ({
      ...orpc.requests.stats.queryOptions({ input }),
      staleTime: 30_000,
      refetchInterval: 60_000,
    })),
  })
  const found = new Map<Route, StatsRow | undefined>()
  for (const [place, { routes: asked, nameOf }] of questions.entries()) {
    const data = answers[place]?.data
    const rows = new Map(data?.map((row) => [row.groups.join('\n'), row]))
    if (data !== undefined) for (const route of asked) found.set(route, rows.get(`${nameOf(route)}\n${route.model}`))
  }
  return (route) => (found.has(route) ? found.get(route) : null)
}

function questionsOf(routes: readonly Route[], isScoped: boolean) {
  const same = Map.groupBy(routes, ({ project, model }) => `${project}\n${model}`)
  const isOne = ({ project, model, environment }: Route) =>
    environment === null || (!isScoped && same.get(`${project}\n${model}`)?.length === 1)
  const ones = routes.filter(isOne)
  const others = Map.groupBy(
    routes.filter((route) => !isOne(route)),
    ({ project }) => project,
  )
  const of = (asked: readonly Route[], input: { by: string; project?: string }, nameOf: (route: Route) => string) => ({
    routes: asked,
    input: { ...input, since: '1h' },
    nameOf,
  })
  return [
    ...(ones.length === 0 ? [] : [of(ones, { by: 'project,route' }, ({ project }) => project)]),
    ...[...others].map(([project, asked]) =>
      of(asked, { by: 'environment,route', project }, ({ environment }) => environment ?? ''),
    ),
  ]
}

interface RouteHourProps {
  /** Null: not known yet. */
  of: StatsRow | undefined | null
  figure: 'requests' | 'errors' | 'p95'
}

export function RouteHour({ of: hour, figure }: RouteHourProps) {
  if (hour === null) return <span className="quiet">…</span>
  if (figure === 'p95') return <Duration ms={hour?.duration_p95_ms} />
  if (figure === 'requests') return <Count value={hour?.requests ?? 0} />
  if (hour === undefined) return <Missing meaning="no requests" />
  return (
    <span className={hour.errors > 0 ? 'state-bad' : ''}>
      <Count value={hour.errors} />
    </span>
  )
}
