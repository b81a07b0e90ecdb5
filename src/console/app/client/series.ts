import { callOperation } from './admin.ts'
import type { Series } from './series-shape.ts'

export function seriesKey(input: object): readonly unknown[] {
  return [['requests', 'series'], { input }]
}

export async function readSeries(input: object, signal: AbortSignal): Promise<Series> {
  return (await callOperation(['requests', 'series'], input, signal)) as Series
}
