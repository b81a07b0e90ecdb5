import { useQueries } from '@tanstack/react-query'
import { orpc } from '../../client/admin.ts'
import { Count, Duration, Missing } from '../../parts/index.ts'
import type { Route } from '../outputs.ts'
import { type Hour, hourQuestions, sumHours } from './route-hours.ts'

/** What a route did in the last hour; undefined: nothing. Null: it is not known yet. */
export type RouteHours = (route: Route) => Hour | undefined | null

/** `all`: every route, since one that is not shown may have the same model. */
export function useRouteHours(routes: readonly Route[], all: readonly Route[] | undefined): RouteHours {
  const questions = all === undefined ? [] : hourQuestions(routes, all)
  const answers = useQueries({
    queries: questions.map(({ input }) => ({
      ...orpc.requests.stats.queryOptions({ input }),
      staleTime: 30_000,
      refetchInterval: 60_000,
    })),
  })
  const found = new Map<Route, Hour | undefined>()
  for (const [place, { routes: asked, isOf }] of questions.entries()) {
    const rows = Map.groupBy(answers[place]?.data ?? [], ({ groups }) => groups[1])
    if (answers[place]?.data !== undefined)
      for (const route of asked)
        found.set(route, sumHours((rows.get(route.model) ?? []).filter((row) => isOf(route, row))))
  }
  return (route) => (found.has(route) ? found.get(route) : null)
}

interface RouteHourProps {
  /** Null: not known yet. */
  of: Hour | undefined | null
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
