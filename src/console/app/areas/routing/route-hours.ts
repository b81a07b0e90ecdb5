import type { Route, StatsRow } from '../outputs.ts'

export type Hour = Pick<StatsRow, 'requests' | 'errors' | 'duration_p95_ms'>

interface HourQuestion {
  input: { by: string; project?: string; since: '1h' }
  routes: readonly Route[]
  /** Whether a row of the answer is about requests that the route took. */
  isOf(route: Route, row: StatsRow): boolean
}

const nameOf = ({ project, model }: Route) => `${project}\n${model}`

/** One call for all routes, and one more for each project in which several routes have one model. `all`: routes that `routes` leaves out, too. */
export function hourQuestions(routes: readonly Route[], all: readonly Route[]): HourQuestion[] {
  const same = Map.groupBy(all, nameOf)
  const isShared = (route: Route) => (same.get(nameOf(route))?.length ?? 0) > 1
  const alone = routes.filter((route) => !isShared(route))
  const shared = routes.filter(isShared)
  // An environment's own route stands before the project's.
  const takes = (route: Route, environment: string | undefined) =>
    route.environment === null
      ? same.get(nameOf(route))?.every((other) => other.environment !== environment)
      : route.environment === environment
  return [
    ...(alone.length === 0
      ? []
      : [
          {
            input: { by: 'project,route', since: '1h' as const },
            routes: alone,
            isOf: ({ project, model }: Route, { groups }: StatsRow) => groups[0] === project && groups[1] === model,
          },
        ]),
    ...[...Map.groupBy(shared, ({ project }) => project)].map(([project, routesOf]) => ({
      input: { by: 'environment,route', project, since: '1h' as const },
      routes: routesOf,
      isOf: (route: Route, { groups }: StatsRow) => groups[1] === route.model && takes(route, groups[0]) === true,
    })),
  ]
}

/** Of several environments together; undefined: there was nothing. */
export function sumHours(rows: readonly Hour[]): Hour | undefined {
  if (rows.length < 2) return rows[0]
  const slowest = rows.map(({ duration_p95_ms }) => duration_p95_ms).filter((value) => value !== null)
  return {
    requests: rows.reduce((sum, { requests }) => sum + requests, 0),
    errors: rows.reduce((sum, { errors }) => sum + errors, 0),
    // A p95 of several groups is not theirs put together: the worst of them is what one must reckon with.
    duration_p95_ms: slowest.length === 0 ? null : Math.max(...slowest),
  }
}
