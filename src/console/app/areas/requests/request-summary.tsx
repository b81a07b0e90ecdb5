import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { formatMilliseconds, formatMoney, formatShare } from '../../../../admin/contract/show-value.ts'
import { orpc } from '../../client/admin.ts'
import { readSeries, seriesKey } from '../../client/series.ts'
import { useLive } from '../../live/live.ts'
import { useTraffic } from '../../live/traffic.ts'
import { Histogram } from '../../parts/index.ts'
import { histogramSteps } from './histogram-steps.ts'
import type { ListInput } from './request-rows.ts'

interface RequestSummaryProps {
  input: ListInput
  onSelect(since: number, until: number): void
}

/** What the list adds up to, in one line, and how it is spread over time. */
export function RequestSummary({ input, onSelect }: RequestSummaryProps) {
  const inFlight = useLive().status?.in_flight ?? 0
  const stats = useQuery({
    ...orpc.requests.stats.queryOptions({ input: { ...input, by: 'total' } }),
    placeholderData: keepPreviousData,
  })
  const question = { ...input, by: 'status' }
  const series = useQuery({
    queryKey: seriesKey(question),
    queryFn: ({ signal }) => readSeries(question, signal),
    placeholderData: keepPreviousData,
  })
  useTraffic(() => {
    void stats.refetch()
    void series.refetch()
  })
  const sum = stats.data?.[0]
  const count = sum?.requests ?? 0
  const share = count === 0 ? 0 : (sum?.errors ?? 0) / count
  // Nothing is shown that would move a moment later.
  if (stats.isPending || series.isPending)
    return (
      <div className="summary">
        <p className="quiet" role="status">
          Counting requests…
        </p>
      </div>
    )
  return (
    <div className="summary">
      <div className="summary-line row" role="status" aria-label="Summary">
        <Sum text={count.toLocaleString('en-US')} unit={count === 1 ? 'request' : 'requests'} />
        <Sum text={count === 0 ? '–' : formatShare(share)} unit="errors" tone={share >= 0.05 ? 'bad' : ''} />
        <Sum text={duration(sum?.duration_p50_ms)} unit="p50" />
        <Sum text={duration(sum?.duration_p95_ms)} unit="p95" />
        {sum === undefined || sum.usd === null ? null : <Sum text={formatMoney(sum.usd)} unit="spent" />}
        {inFlight === 0 ? null : <Sum text={inFlight.toLocaleString('en-US')} unit="in progress" />}
      </div>
      {series.data === undefined ? null : (
        <Histogram
          steps={histogramSteps(series.data)}
          stepMs={series.data.step_ms}
          label={`${count} requests over time, ${sum?.errors ?? 0} of them errors`}
          onSelect={onSelect}
        />
      )}
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
