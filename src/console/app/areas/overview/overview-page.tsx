import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { CircleAlert } from 'lucide-react'
import { useState } from 'react'
import { escapeControls } from '../../../../admin/contract/show-value.ts'
import { orpc } from '../../client/admin.ts'
import { readSeries, seriesKey } from '../../client/series.ts'
import { findOperation } from '../../contract/operations.ts'
import { useLive } from '../../live/live.ts'
import { useTraffic } from '../../live/traffic.ts'
import { FaultNotice, Time } from '../../parts/index.ts'
import { useScope } from '../../session/scope.ts'
import { Loading, Page } from '../../shell/page.tsx'
import { FirstRun } from '../first-run/first-run.tsx'
import { useSetUp } from '../first-run/steps.ts'
import { GroupTable } from './group-table.tsx'
import { OverviewCharts } from './overview-charts.tsx'
import { OverviewFigures } from './overview-figures.tsx'
import type { OverviewSearch } from './overview-search.ts'
import { OverviewTools } from './overview-tools.tsx'

const route = getRouteApi('/app/')
export const usualSpan = '24h'

/** What goes on: first the way to the first request, then the traffic. */
export function OverviewPage() {
  const setUp = useSetUp()
  const search = route.useSearch()
  // Once it has been on the page it stays until one leaves: ticking off the last step must not take it away.
  const [begun, setBegun] = useState(false)
  if (setUp !== null && setUp.next !== null && !begun) setBegun(true)
  if (setUp === null) return <Page title="Overview">{<Loading />}</Page>
  const showTraffic = setUp.requestId !== null
  return (
    <Page title="Overview" actions={showTraffic ? <OverviewTools search={search} /> : null}>
      <PartsNotice />
      {begun ? <FirstRun setUp={setUp} /> : null}
      {showTraffic ? <Traffic search={search} /> : null}
    </Page>
  )
}

function Traffic({ search }: { search: OverviewSearch }) {
  const { filter } = useScope()
  const { since = usualSpan, until, by } = search
  const window = { ...filter, ...(since === 'all' ? {} : { since }), ...(until === undefined ? {} : { until }) }
  const shown = { placeholderData: keepPreviousData }
  const total = useQuery({ ...orpc.requests.stats.queryOptions({ input: { ...window, by: 'total' } }), ...shown })
  const groups = useQuery({
    ...orpc.requests.stats.queryOptions({ input: { ...window, by: by ?? 'model' } }),
    ...shown,
  })
  const input = { ...window, step: 'auto', ...(by === undefined ? {} : { by }) }
  const hasSeries = findOperation('requests.series') !== undefined
  const series = useQuery({
    queryKey: seriesKey(input),
    queryFn: ({ signal }) => readSeries(input, signal),
    enabled: hasSeries,
    ...shown,
  })
  useTraffic(() => {
    if (until !== undefined) return
    void total.refetch()
    void groups.refetch()
    if (hasSeries) void series.refetch()
  })
  const error = total.error ?? groups.error ?? series.error
  if (error !== null) return <FaultNotice error={error} onRetry={() => void total.refetch()} />
  return (
    <>
      <OverviewFigures sum={total.data?.[0]} points={series.data?.groups} />
      {/* Nothing is put above what is there already. */}
      {series.data === undefined ? null : (
        <>
          <OverviewCharts series={series.data} />
          <GroupTable by={by ?? 'model'} rows={groups.data ?? []} window={{ since, until }} />
        </>
      )}
    </>
  )
}

/** What is not well with the gateway itself, before anything else. */
export function PartsNotice() {
  const { status } = useLive()
  if (status === null || status.degraded.length === 0) return null
  return (
    <div className="notice notice-warning" role="alert">
      <CircleAlert size={16} aria-hidden="true" />
      <ul className="stack-tight">
        {status.degraded.map(({ part, reason, since }) => (
          <li key={part}>
            <span className="notice-title">Degraded: {part}</span>, since <Time at={since} />: {escapeControls(reason)}
          </li>
        ))}
      </ul>
    </div>
  )
}
