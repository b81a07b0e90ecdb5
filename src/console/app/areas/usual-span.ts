import { parseDuration } from '../../../core/units.ts'
import type { Series } from '../client/series-shape.ts'

/** From short to long. */
const spans = ['15m', '1h', '24h', '7d', '30d'] as const
export type UsualSpan = (typeof spans)[number]

/** The shortest span that has everything of the last day; without anything there, the shortest that has the newest. */
export function chooseSpan(firstOfDay: number | null, newest: number | null, now: number): UsualSpan {
  const reach = firstOfDay ?? newest ?? now
  const found = spans.find((span) => now - reach <= (parseDuration(span) ?? 0))
  if (found === undefined) return '30d'
  return firstOfDay === null && newest === null ? '24h' : found
}

/** When the first step with a request began; null: none has one. */
export function firstTraffic(series: Series): number | null {
  const times = series.groups.flatMap(({ points }) => points.filter(({ requests }) => requests > 0).slice(0, 1))
  return times.length === 0 ? null : Math.min(...times.map(({ time }) => Date.parse(time)))
}
