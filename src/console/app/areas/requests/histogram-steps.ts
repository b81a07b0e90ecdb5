import { type Series, stepTimes } from '../../client/series-shape.ts'
import type { HistogramStep } from '../../parts/histogram-step.ts'

/** A series by status, in the colours of a status: 4xx apart from what failed at the gateway or a provider. */
export function histogramSteps(series: Series): HistogramStep[] {
  return stepTimes(series).map((time, index) => {
    const step = { time, good: 0, warning: 0, bad: 0 }
    for (const { group, points } of series.groups) step[outcomeOf(group)] += points[index]?.requests ?? 0
    return step
  })
}

function outcomeOf(group: string): 'good' | 'warning' | 'bad' {
  if (group === '4xx') return 'warning'
  return group === '5xx' || group.endsWith('_error') || group === 'interrupted' ? 'bad' : 'good'
}
