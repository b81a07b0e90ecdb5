import { formatMilliseconds } from '../../../admin/contract/show-value.ts'
import { parseDuration } from '../../../core/units.ts'

/** `Last 2 min`, `20 Nov, 10:00 – 21 Nov, 12:30` */
export function describeTimeRange(since: string, until: string | undefined): string {
  const duration = parseDuration(since)
  const length = duration === null ? null : formatMilliseconds(duration)
  if (until === undefined) return length === null ? `Since ${formatMoment(since)}` : `Last ${length}`
  return `${length === null ? formatMoment(since) : `${length} ago`} – ${formatMoment(until)}`
}

function formatMoment(time: string): string {
  const moment = Date.parse(time)
  if (Number.isNaN(moment)) return time
  return new Date(moment).toLocaleString('en-GB', {
    day: 'numeric',
    month: 'short',
    hour: '2-digit',
    minute: '2-digit',
  })
}
