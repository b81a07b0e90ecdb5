import { escapeControls, formatMilliseconds } from '../../src/admin/contract/show-value.ts'
import type { AttemptRecord, RequestRecord, TimelineEntry } from '../../src/core/record.ts'
import { alignText, cut } from './table.ts'
import type { View } from './view.ts'

interface TimelineRow {
  label: string
  startMs: number
  /** null: a moment, not a span. */
  endMs: number | null
  /** Within a span: when the first byte came. */
  firstByteMs: number | null
}

const labels: Record<TimelineEntry['event'], string> = {
  received: 'received',
  admitted: 'admitted',
  attempt: 'attempt',
  connected: 'connected',
  first_byte: 'first byte',
  content: 'first content',
  last_byte: 'last byte',
  done: 'done',
}

const labelWidth = 24
const timeWidth = 17

/** To scale: a moment is `│`; an attempt waits with `·` until its first byte and then answers with `━`. */
export function renderTimeline(
  record: Pick<RequestRecord, 'timeline' | 'attempts' | 'duration_ms'>,
  view: View,
): string[] {
  const rows = [...momentsOf(record), ...record.attempts.map(spanOf)].sort((one, other) => one.startMs - other.startMs)
  const total = Math.max(record.duration_ms ?? 0, ...rows.map((row) => row.endMs ?? row.startMs))
  const room = Math.min(view.width ?? 100, 120) - labelWidth - timeWidth - 6
  return rows.map((row) => {
    const time =
      row.endMs === null
        ? formatMilliseconds(row.startMs)
        : `${formatMilliseconds(row.startMs)} – ${formatMilliseconds(row.endMs)}`
    const head = `${alignText(cut(row.label, labelWidth), labelWidth, false)}  ${alignText(time, timeWidth, true)}`
    return room < 10 ? head : `${head}  ${view.paint('quiet', drawBar(row, total, room))}`
  })
}

/** The attempts draw their own connecting and answering. */
function momentsOf(record: Pick<RequestRecord, 'timeline' | 'attempts'>): TimelineRow[] {
  const own = record.attempts.length === 0 ? [] : ['attempt', 'connected', 'first_byte', 'last_byte']
  return record.timeline
    .filter((entry) => !own.includes(entry.event))
    .map((entry) => ({ label: labels[entry.event], startMs: entry.at_ms, endMs: null, firstByteMs: null }))
}

function spanOf(attempt: AttemptRecord): TimelineRow {
  return {
    label: escapeControls(`${attempt.provider}: ${attempt.status ?? attempt.outcome}`),
    startMs: attempt.started_ms,
    endMs: attempt.ended_ms,
    firstByteMs: attempt.first_byte_ms,
  }
}

function drawBar(row: TimelineRow, totalMs: number, room: number): string {
  const place = (ms: number) => (totalMs === 0 ? 0 : Math.min(room - 1, Math.floor((ms / totalMs) * room)))
  const start = place(row.startMs)
  if (row.endMs === null) return `${' '.repeat(start)}│`
  const length = Math.max(1, place(row.endMs) - start + 1)
  const waiting = row.firstByteMs === null ? length : Math.min(length - 1, place(row.firstByteMs) - start)
  return ' '.repeat(start) + '·'.repeat(waiting) + '━'.repeat(length - waiting)
}
