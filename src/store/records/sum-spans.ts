import { type SumSpan, spansOf } from './record-sum-keys.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs

/** Part of a span of time: read from the records themselves, or from their sums. Milliseconds, `to` exclusive. */
export interface SpanPart {
  from: number
  to: number
  by: 'record' | SumSpan
}

/** As what a filter asks for. */
export function spanOf({ from, to }: Pick<SpanPart, 'from' | 'to'>): { since?: string; until?: string } {
  return {
    ...(Number.isFinite(from) ? { since: new Date(from).toISOString() } : {}),
    ...(Number.isFinite(to) ? { until: new Date(to).toISOString() } : {}),
  }
}

/** Longest first. */
const spans: readonly SumSpan[] = ['week', 'day', 'hour']
const lengths: Readonly<Record<SumSpan, number>> = { week: 7 * dayMs, day: dayMs, hour: hourMs }

/**
 * Which sums tell of a span of time, newest first: whole weeks, the days and hours around them, and the records of hours that are not
 * whole. `summedFrom`: since when there are sums. `longest`, `shortest`: of the sums that may be taken; `ever`: any.
 */
export function partsOf(
  span: { from: number; to: number },
  summedFrom: number,
  longest: SumSpan | 'ever',
  shortest: SumSpan = 'hour',
): SpanPart[] {
  const { from, to } = span
  const first = Math.min(to, Math.max(from, roundUp(summedFrom, hourMs)))
  const unsummed: SpanPart[] = from < first ? [{ from, to: first, by: 'record' }] : []
  const levels = spans.slice(longest === 'ever' ? 0 : spans.indexOf(longest), spans.indexOf(shortest) + 1)
  return [...cover(first, to, levels), ...unsummed]
}

function cover(from: number, to: number, levels: readonly SumSpan[]): SpanPart[] {
  if (from >= to) return []
  const [level, ...finer] = levels
  if (level === undefined) return [{ from, to, by: 'record' }]
  const first = roundUp(from, lengths[level])
  const last = roundDown(to, lengths[level])
  if (first >= last) return cover(from, to, finer)
  return [...cover(last, to, finer), { from: first, to: last, by: level }, ...cover(from, first, finer)]
}

/** The longest span that every step of a chart is whole of; null: there is none. */
export function longestWithin(from: number, stepMs: number): SumSpan | null {
  return spans.find((span) => from % lengths[span] === 0 && stepMs % lengths[span] === 0) ?? null
}

/** How a row of sums names its beginning. */
export function startOf(moment: number, by: SumSpan): string {
  if (moment === Number.POSITIVE_INFINITY) return '~'
  return moment === Number.NEGATIVE_INFINITY ? '' : spansOf(new Date(moment).toISOString())[by]
}

/** When an hour or a day begins, as a row of sums names it: milliseconds since the epoch. */
export function momentOf(start: string): number {
  return Date.parse(start.includes('T') ? `${start}:00Z` : start)
}

const roundUp = (moment: number, length: number) =>
  Number.isFinite(moment) ? Math.ceil(moment / length) * length : moment
const roundDown = (moment: number, length: number) =>
  Number.isFinite(moment) ? Math.floor(moment / length) * length : moment
