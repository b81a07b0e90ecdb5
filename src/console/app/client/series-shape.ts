import type { AdminClient } from '../../../admin/client-link.ts'

/** Figures by time, one line a group. Apart from the call, so that what only computes with them needs no browser. */
export type Series = Awaited<ReturnType<AdminClient['requests']['series']>>
export type SeriesPoint = Series['groups'][number]['points'][number]
