import type { Series } from '../../client/series-shape.ts'
import type { HistogramStep } from '../../parts/histogram-step.ts'

/** A series by status, in the colours of a status: 4xx apart from what failed at the gateway or a provider. */
export function histogramSteps({ since, until, step_ms, groups }: Series): HistogramStep[] {
  const start = Date.parse(since)
  // Without a request there is no group, and the time still ends where it was asked to end.
  const length = groups[0]?.points.length ?? Math.max(1, Math.ceil((Date.parse(until) - start) / step_ms))
  return Array.from({ length }, (_, index) => {
    const step = { time: start + index * step_ms, good: 0, warning: 0, bad: 0 }
    for (const { group, points } of groups) step[outcomeOf(group)] += points[index]?.requests ?? 0
    return step
  })
}

function outcomeOf(group: string): 'good' | 'warning' | 'bad' {
  if (group === '4xx') return 'warning'
  return group === '5xx' || group.endsWith('_error') || group === 'interrupted' ? 'bad' : 'good'
}
