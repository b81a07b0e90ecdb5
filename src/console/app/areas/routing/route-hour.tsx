import { useQuery } from '@tanstack/react-query'
import { orpc } from '../../client/admin.ts'
import { Count, Duration, Missing } from '../../parts/index.ts'
import { useSeen } from '../../parts/use-seen.ts'
import type { Route, StatsRow } from '../outputs.ts'

interface RouteHourProps {
  route: Route
  figure: 'requests' | 'errors' | 'p95'
}

/** What a route did in the last hour; the figures of one row share one reading. */
export function RouteHour({ route: { model, project, environment }, figure }: RouteHourProps) {
  const [element, isSeen] = useSeen()
  const input = { route: model, project, ...(environment === null ? {} : { environment }), since: '1h' }
  const { data } = useQuery({
    ...orpc.requests.stats.queryOptions({ input }),
    enabled: isSeen,
    staleTime: 30_000,
    refetchInterval: 60_000,
  })
  return (
    <span ref={element}>
      {data === undefined ? <span className="quiet">…</span> : <Hour of={data[0]} {...{ figure }} />}
    </span>
  )
}

function Hour({ of: hour, figure }: { of: StatsRow | undefined; figure: RouteHourProps['figure'] }) {
  if (figure === 'p95') return <Duration ms={hour?.duration_p95_ms} />
  if (figure === 'requests') return <Count value={hour?.requests ?? 0} />
  if (hour === undefined) return <Missing meaning="no requests" />
  return (
    <span className={hour.errors > 0 ? 'state-bad' : ''}>
      <Count value={hour.errors} />
    </span>
  )
}
