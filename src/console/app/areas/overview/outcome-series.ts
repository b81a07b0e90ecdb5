import { type Series, stepTimes } from '../../client/series-shape.ts'
import type { ChartSeries } from '../../parts/chart-series.ts'

const outcomes: { name: string; colour: string; has(group: string): boolean }[] = [
  { name: '2xx', colour: '--good', has: (group) => /^[123]xx$/.test(group) },
  { name: '4xx', colour: '--warning', has: (group) => group === '4xx' },
  { name: '5xx', colour: '--bad', has: (group) => group === '5xx' },
  { name: 'Broke off', colour: '--chart-6', has: (group) => group.endsWith('_error') || group === 'interrupted' },
]

/** Requests by how they ended, in the colours of a status; only what occurs, but successes always. */
export function outcomeSeries(series: Series): ChartSeries[] {
  const { groups } = series
  const times = stepTimes(series)
  return outcomes.flatMap(({ name, colour, has }, index) => {
    const own = groups.filter(({ group }) => has(group))
    if (own.length === 0 && index > 0) return []
    const values = times.map((_, at) => own.reduce((sum, { points }) => sum + (points[at]?.requests ?? 0), 0))
    return [{ name, colour, values }]
  })
}
