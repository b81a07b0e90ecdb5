import type { Series } from '../../client/series-shape.ts'
import type { ChartSeries } from '../../parts/chart-series.ts'

const outcomes: { name: string; colour: string; has(group: string): boolean }[] = [
  { name: '2xx', colour: '--good', has: (group) => /^[123]xx$/.test(group) },
  { name: '4xx', colour: '--warning', has: (group) => group === '4xx' },
  { name: '5xx', colour: '--bad', has: (group) => group === '5xx' },
  { name: 'Broke off', colour: '--chart-6', has: (group) => group.endsWith('_error') || group === 'interrupted' },
]

/** Requests by how they ended, in the colours of a status; only what occurs, but successes always. */
export function outcomeSeries({ groups }: Series): ChartSeries[] {
  const length = groups[0]?.points.length ?? 0
  return outcomes.flatMap(({ name, colour, has }, index) => {
    const own = groups.filter(({ group }) => has(group))
    if (own.length === 0 && index > 0) return []
    const values = Array.from({ length }, (_, at) =>
      own.reduce((sum, { points }) => sum + (points[at]?.requests ?? 0), 0),
    )
    return [{ name, colour, values }]
  })
}
