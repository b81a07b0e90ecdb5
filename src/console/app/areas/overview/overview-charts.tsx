import { useNavigate } from '@tanstack/react-router'
import { memo, useMemo } from 'react'
import { formatMilliseconds, formatMoney } from '../../../../admin/contract/show-value.ts'
import type { Series, SeriesPoint } from '../../client/series.ts'
import { Chart, type ChartSeries } from '../../parts/index.ts'
import { compactNumber } from './compact-number.ts'
import type { OverviewSearch } from './overview-search.ts'

type Read = (point: SeriesPoint) => number | null

const count = (value: number | null) => (value === null ? '–' : compactNumber(value))
const time = (value: number | null) => (value === null ? '–' : formatMilliseconds(value))
const money = (value: number | null) => (value === null ? '–' : formatMoney(value))

const tokens: Record<string, Read> = { Input: (point) => point.input, Output: (point) => point.output }

/** Redrawn only when the data changes, not whenever the page is. */
export const OverviewCharts = memo(Charts)

/** Six drawings over one span; a stretch drawn in any of them becomes the span of all. */
function Charts({ series }: { series: Series }) {
  const navigate = useNavigate()
  const times = useMemo(() => (series.groups[0]?.points ?? []).map((point) => Date.parse(point.time)), [series])
  const grouped = series.groups.length > 1
  const lines = (name: string, read: Read): ChartSeries[] =>
    series.groups.map(({ group, points }) => ({ name: grouped ? group : name, values: points.map(read) }))
  const several = (reads: Record<string, Read>): ChartSeries[] =>
    Object.entries(reads).flatMap(([name, read]) =>
      series.groups.map(({ group, points }) => ({
        name: grouped && Object.keys(reads).length > 1 ? `${group} ${name}` : grouped ? group : name,
        values: points.map(read),
      })),
    )
  const zoom = (since: number, until: number) => {
    const words = { since: new Date(since).toISOString(), until: new Date(until).toISOString() }
    void navigate({ to: '/', search: (before) => ({ ...before, ...words }) as OverviewSearch })
  }
  const errors = (point: SeriesPoint) => point.errors
  const latency: Record<string, Read> = grouped
    ? { p95: (point: SeriesPoint) => point.duration_p95_ms }
    : {
        p50: (point: SeriesPoint) => point.duration_p50_ms,
        p95: (point: SeriesPoint) => point.duration_p95_ms,
        p99: (point: SeriesPoint) => point.duration_p99_ms,
      }
  const common = { times, onZoom: zoom }
  return (
    <div className="charts">
      <Chart
        {...common}
        title="Requests"
        variant="bars"
        series={lines('Requests', (point) => point.requests)}
        write={count}
      />
      <Chart {...common} title="Errors" variant="bars" series={lines('Errors', errors)} write={count} />
      <Chart {...common} title={grouped ? 'Latency p95' : 'Latency'} series={several(latency)} write={time} />
      <Chart
        {...common}
        title="First byte, p50"
        series={lines('p50', (point) => point.first_byte_p50_ms)}
        write={time}
      />
      <Chart
        {...common}
        title="Tokens"
        series={grouped ? lines('Tokens', (point) => point.input + point.output) : several(tokens)}
        write={count}
      />
      <Chart {...common} title="Spend" variant="bars" series={lines('Spend', (point) => point.usd)} write={money} />
    </div>
  )
}
