import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { formatMilliseconds, formatMoney, formatShare } from '../../../../admin/contract/show-value.ts'
import { orpc } from '../../client/admin.ts'
import { readSeries, seriesKey } from '../../client/series.ts'
import { findOperation } from '../../contract/operations.ts'
import { useLive } from '../../live/live.ts'
import { useTraffic } from '../../live/traffic.ts'
import { Sparkline } from '../../parts/index.ts'
import type { ListInput } from './request-feed.ts'

/** What the list adds up to, in one line. */
export function RequestSummary({ input }: { input: ListInput }) {
  const inFlight = useLive().status?.in_flight ?? 0
  const stats = useQuery({
    ...orpc.requests.stats.queryOptions({ input: { ...input, by: 'total' } }),
    placeholderData: keepPreviousData,
  })
  const hasSeries = findOperation('requests.series') !== undefined
  const series = useQuery({
    queryKey: seriesKey(input),
    queryFn: ({ signal }) => readSeries(input, signal),
    enabled: hasSeries,
    placeholderData: keepPreviousData,
  })
  useTraffic(() => {
    void stats.refetch()
    if (hasSeries) void series.refetch()
  })
  const sum = stats.data?.[0]
  const bars = series.data?.groups[0]?.points.map(({ requests }) => requests) ?? []
  const count = sum?.requests ?? 0
  const share = count === 0 ? 0 : (sum?.errors ?? 0) / count
  // Nothing is shown that would move a moment later.
  if (stats.isPending || (hasSeries && series.isPending)) return <div className="summary-line" />
  return (
    <div className="summary-line row" role="status" aria-label="Summary">
      {bars.length === 0 ? null : <Sparkline points={bars} label="Requests over time" width={160} />}
      <Sum text={count.toLocaleString('en-US')} unit={count === 1 ? 'request' : 'requests'} />
      <Sum text={formatShare(share)} unit="errors" tone={share >= 0.05 ? 'bad' : ''} />
      <Sum text={duration(sum?.duration_p50_ms)} unit="p50" />
      <Sum text={duration(sum?.duration_p95_ms)} unit="p95" />
      {sum === undefined || sum.usd === null ? null : <Sum text={formatMoney(sum.usd)} unit="spent" />}
      {inFlight === 0 ? null : <Sum text={inFlight.toLocaleString('en-US')} unit="in progress" />}
    </div>
  )
}

function duration(milliseconds: number | null | undefined): string {
  return milliseconds === null || milliseconds === undefined ? '–' : formatMilliseconds(milliseconds)
}

function Sum({ text, unit, tone = '' }: { text: string; unit: string; tone?: string }) {
  return (
    <span className="nowrap">
      <b className={`number ${tone === 'bad' ? 'state-bad' : ''}`}>{text}</b> <span className="quiet">{unit}</span>
    </span>
  )
}
