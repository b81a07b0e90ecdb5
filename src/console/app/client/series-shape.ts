import type { AdminClient } from '../../../admin/client-link.ts'

/** Figures by time, one line a group. Apart from the call, so that what only computes with them needs no browser. */
export type Series = Awaited<ReturnType<AdminClient['requests']['series']>>
export type SeriesPoint = Series['groups'][number]['points'][number]

/** When each step begins. Without a request there is no group, and the time is still the one that was asked for. */
export function stepTimes({ since, until, step_ms, groups }: Series): number[] {
  const start = Date.parse(since)
  const length = groups[0]?.points.length ?? Math.max(1, Math.ceil((Date.parse(until) - start) / step_ms))
  return Array.from({ length }, (_, index) => start + index * step_ms)
}
