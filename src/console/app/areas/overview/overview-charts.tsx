import { useNavigate } from '@tanstack/react-router'
import { memo, useMemo } from 'react'
import { formatMilliseconds, formatMoney } from '../../../../admin/contract/show-value.ts'
import { type Series, type SeriesPoint, stepTimes } from '../../client/series-shape.ts'
import { Chart, ChartLegend, type ChartSeries } from '../../parts/index.ts'
import { compactNumber } from './compact-number.ts'
import { outcomeSeries } from './outcome-series.ts'
import type { OverviewSearch } from './overview-search.ts'

type ReadPoint = (point: SeriesPoint) => number | null

const count = (value: number | null) => (value === null ? '–' : compactNumber(value))
const time = (value: number | null) => (value === null ? '–' : formatMilliseconds(value))
const money = (value: number | null) => (value === null ? '–' : formatMoney(value))

interface OverviewChartsProps {
  /** All together, or by what the page is grouped by. */
  series: Series
  /** By status; null where the page is grouped by something else. */
  outcomes: Series | null
}

/** Redrawn only when the data changes, not whenever the page is. */
export const OverviewCharts = memo(Charts)

/** Several drawings over one span; a stretch drawn in any of them becomes the span of all. */
function Charts({ series, outcomes }: OverviewChartsProps) {
  const navigate = useNavigate()
  const times = useMemo(() => stepTimes(series), [series])
  const zoom = (since: number, until: number) => {
    const words = { since: new Date(since).toISOString(), until: new Date(until).toISOString() }
    void navigate({ to: '/', search: (before) => ({ ...before, ...words }) as OverviewSearch })
  }
  const lines = (read: ReadPoint): ChartSeries[] =>
    series.groups.map(({ group, points }) => ({ name: group, values: points.map(read) }))
  const common = { times, onZoom: zoom, legend: outcomes !== null }
  const hasPrices = series.groups.some(({ points }) => points.some(({ usd }) => usd !== null && usd > 0))
  return (
    <div className="stack-tight">
      {outcomes === null ? <ChartLegend series={lines(() => null)} /> : null}
      <div className="charts">
        <Chart
          {...common}
          {...(outcomes === null ? {} : { times: stepTimes(outcomes) })}
          title="Requests"
          variant="bars"
          series={outcomes === null ? lines(({ requests }) => requests) : outcomeSeries(outcomes)}
          write={count}
        />
        {outcomes === null ? (
          <Chart {...common} title="Errors" variant="bars" series={lines(({ errors }) => errors)} write={count} />
        ) : null}
        <Chart
          {...common}
          title={outcomes === null ? 'Latency p95' : 'Latency'}
          series={outcomes === null ? lines(({ duration_p95_ms }) => duration_p95_ms) : pick(series, latency)}
          write={time}
        />
        <Chart
          {...common}
          title="Tokens"
          variant="bars"
          series={outcomes === null ? lines(({ input, output }) => input + output) : pick(series, tokens)}
          write={count}
        />
        {hasPrices ? (
          <Chart
            {...common}
            title="Spend"
            variant="bars"
            series={outcomes === null ? lines(({ usd }) => usd) : pick(series, spend)}
            write={money}
          />
        ) : null}
      </div>
    </div>
  )
}

const latency: Record<string, ReadPoint> = {
  p50: ({ duration_p50_ms }) => duration_p50_ms,
  p95: ({ duration_p95_ms }) => duration_p95_ms,
}
const spend: Record<string, ReadPoint> = { Spend: (point) => point.usd }
const tokens: Record<string, ReadPoint> = { Input: ({ input }) => input, Output: ({ output }) => output }

function pick({ groups }: Series, reads: Record<string, ReadPoint>): ChartSeries[] {
  const points = groups[0]?.points ?? []
  return Object.entries(reads).map(([name, read]) => ({ name, values: points.map(read) }))
}
