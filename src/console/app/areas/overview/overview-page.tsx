import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { CircleAlert } from 'lucide-react'
import { useState } from 'react'
import { escapeControls } from '../../../../admin/contract/show-value.ts'
import { orpc } from '../../client/admin.ts'
import { readSeries, seriesKey } from '../../client/series.ts'
import { useLive } from '../../live/live.ts'
import { useTraffic } from '../../live/traffic.ts'
import { QueryFault, Since } from '../../parts/index.ts'
import { useScope } from '../../session/scope.ts'
import { Loading, Page } from '../../shell/page.tsx'
import { ScopeNote } from '../../shell/scope-note.tsx'
import { FirstRun } from '../first-run/first-run.tsx'
import { useSetUp } from '../first-run/use-set-up.ts'
import { useUsualSpan } from '../use-usual-span.ts'
import { GroupTable } from './group-table.tsx'
import { NeedsAttention } from './needs-attention.tsx'
import { OverviewBudgets } from './overview-budgets.tsx'
import { OverviewCharts } from './overview-charts.tsx'
import { OverviewFigures } from './overview-figures.tsx'
import type { OverviewSearch } from './overview-search.ts'
import { OverviewTools } from './overview-tools.tsx'

const route = getRouteApi('/app/')

/** What goes on: first the way to the first request, then the traffic. */
export function OverviewPage() {
  const setUp = useSetUp()
  const search = route.useSearch()
  // Once it has been on the page it stays until one leaves: ticking off the last step must not take it away.
  const [begun, setBegun] = useState(false)
  if (setUp !== null && setUp.next !== null && !begun) setBegun(true)
  const { filter } = useScope()
  const usual = useUsualSpan(filter)
  if (setUp === null || usual === null) return <Page title="Overview">{<Loading />}</Page>
  const showTraffic = setUp.requestId !== null
  return (
    <Page
      title="Overview"
      beside={<ScopeNote />}
      actions={showTraffic ? <OverviewTools search={search} usual={usual} /> : null}
    >
      <PartsNotice />
      {begun ? <FirstRun setUp={setUp} /> : null}
      {showTraffic ? (
        <>
          <NeedsAttention />
          <Traffic search={search} usual={usual} />
        </>
      ) : null}
    </Page>
  )
}

function Traffic({ search, usual }: { search: OverviewSearch; usual: string }) {
  const { filter } = useScope()
  const { since = usual, until, by } = search
  const range = { since, ...(until === undefined ? {} : { until }) }
  const window = { ...filter, ...(since === 'all' ? {} : { since }), ...(until === undefined ? {} : { until }) }
  const shown = { placeholderData: keepPreviousData }
  const total = useQuery({ ...orpc.requests.stats.queryOptions({ input: { ...window, by: 'total' } }), ...shown })
  const grouping = by ?? 'model'
  const groups = useQuery({ ...orpc.requests.stats.queryOptions({ input: { ...window, by: grouping } }), ...shown })
  const series = useSeries({ ...window, step: 'auto', by: by ?? 'total' })
  const outcomes = useSeries({ ...window, step: 'auto', by: 'status' })
  useTraffic(() => {
    if (until !== undefined) return
    for (const reading of [total, groups, series, outcomes]) void reading.refetch()
  })
  const failed = [total, groups, series].find(({ error, data }) => error !== null && data === undefined)
  if (failed !== undefined) return <QueryFault of={failed} />
  return (
    <>
      <OverviewFigures sum={total.data?.[0]} isLoaded={total.data !== undefined} window={range} />
      <OverviewBudgets />
      {/* Nothing is put above what is there already. */}
      {series.data === undefined || outcomes.data === undefined ? null : (
        <>
          <OverviewCharts series={series.data} outcomes={by === undefined ? outcomes.data : null} />
          <GroupTable by={grouping} rows={groups.data ?? []} window={{ since, until }} />
        </>
      )}
    </>
  )
}

function useSeries(input: object) {
  return useQuery({
    queryKey: seriesKey(input),
    queryFn: ({ signal }) => readSeries(input, signal),
    placeholderData: keepPreviousData,
  })
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
            <span className="notice-title">Degraded: {part}</span>, <Since at={since} />: {escapeControls(reason)}
          </li>
        ))}
      </ul>
    </div>
  )
}
