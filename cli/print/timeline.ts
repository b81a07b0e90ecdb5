import { listSteps, nameTarget, type RequestStep } from '../../src/admin/contract/requests/request-steps.ts'
import { escapeControls, formatMilliseconds } from '../../src/admin/contract/show-value.ts'
import type { RequestRecord, TimelineEntry } from '../../src/core/record.ts'
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

/** The events that no step draws. */
const labels: Partial<Record<TimelineEntry['event'], string>> = {
  received: 'received',
  admitted: 'admitted',
  content: 'first content',
  done: 'done',
}

const labelWidth = 30
const timeWidth = 17

/** To scale: a moment is `│`; an attempt waits with `·` until its first byte and then answers with `━`. */
export function renderTimeline(record: RequestRecord, view: View): string[] {
  const rows = [...momentsOf(record), ...listSteps(record).map((step) => rowOf(step, record))].sort(
    (one, other) => one.startMs - other.startMs,
  )
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

function momentsOf({ timeline }: RequestRecord): TimelineRow[] {
  return timeline.flatMap(({ event, at_ms }) => {
    const label = labels[event]
    return label === undefined ? [] : [{ label, startMs: at_ms, endMs: null, firstByteMs: null }]
  })
}

function rowOf(step: RequestStep, { model }: RequestRecord): TimelineRow {
  const { startMs } = step
  if (step.kind === 'wait') return { label: 'wait', startMs, endMs: step.endMs, firstByteMs: null }
  if (step.kind === 'skip') {
    return { label: escapeControls(`${step.target}: skipped`), startMs, endMs: null, firstByteMs: null }
  }
  const label = escapeControls(`${nameTarget(step.attempt, model)}: ${step.end}`)
  return { label, startMs, endMs: step.endMs, firstByteMs: step.attempt.first_byte_ms }
}

function drawBar(row: TimelineRow, totalMs: number, room: number): string {
  const place = (ms: number) => (totalMs === 0 ? 0 : Math.min(room - 1, Math.floor((ms / totalMs) * room)))
  const start = place(row.startMs)
  if (row.endMs === null) return `${' '.repeat(start)}│`
  const length = Math.max(1, place(row.endMs) - start + 1)
  const waiting = row.firstByteMs === null ? length : Math.min(length - 1, place(row.firstByteMs) - start)
  return ' '.repeat(start) + '·'.repeat(waiting) + '━'.repeat(length - waiting)
}
