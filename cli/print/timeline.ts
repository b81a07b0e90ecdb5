import { listSteps, nameTarget, type RequestStep } from '../../src/admin/contract/requests/request-steps.ts'
import { escapeControls, formatMilliseconds } from '../../src/admin/contract/show-value.ts'
import type { RequestRecord, TimelineEntry } from '../../src/core/record.ts'
import { cut } from './cut.ts'
import { alignText } from './table.ts'
import { textWidth } from './text-width.ts'
import type { View } from './view.ts'

interface TimelineRow {
  label: string
  /** What became of it, after the label: a long label makes room for it. */
  end?: string
  /** A moment, an attempt, a wait before the next one, or a target that was not tried. */
  kind: 'moment' | 'attempt' | 'failed' | 'wait' | 'skipped'
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

/** A label takes no more. */
const widestLabel = 30

/**
 * To scale: a moment is `│`; an attempt waits with `·` until its first byte and then answers with `━`, one that failed
 * ends in `×`; `┄` is a wait before the next one.
 */
export function renderTimeline(record: RequestRecord, view: View): string[] {
  const rows = [...momentsOf(record), ...listSteps(record).map((step) => rowOf(step, record))].sort(
    (one, other) => one.startMs - other.startMs,
  )
  const total = Math.max(record.duration_ms ?? 0, ...rows.map((row) => row.endMs ?? row.startMs))
  const labelWidth = Math.min(widestLabel, Math.max(0, ...rows.map((row) => textWidth(labelOf(row)))))
  const times = rows.map(describeTime)
  const timeWidth = Math.max(0, ...times.map((time) => textWidth(time)))
  const room = Math.min(view.width ?? 100, 120) - labelWidth - timeWidth - 6
  return rows.map((row, index) => {
    const time = alignText(times[index] ?? '', timeWidth, true)
    const head = `${alignText(labelOf(row, labelWidth), labelWidth, false)}  ${time}`
    return room < 10 ? head : `${head}  ${view.paint('quiet', drawBar(row, total, room))}`
  })
}

function labelOf({ label, end = '' }: TimelineRow, room = Number.POSITIVE_INFINITY): string {
  const own = Math.max(1, room - textWidth(end))
  return cut((textWidth(label) > own ? cut(label, own) : label) + end, room)
}

function describeTime({ kind, startMs, endMs }: TimelineRow): string {
  if (kind === 'skipped') return ''
  const start = formatMilliseconds(startMs)
  return endMs === null ? start : `${start} – ${formatMilliseconds(endMs)}`
}

function momentsOf({ timeline }: RequestRecord): TimelineRow[] {
  return timeline.flatMap(({ event, at_ms }) => {
    const label = labels[event]
    return label === undefined ? [] : [{ label, kind: 'moment', startMs: at_ms, endMs: null, firstByteMs: null }]
  })
}

function rowOf(step: RequestStep, { model }: RequestRecord): TimelineRow {
  const { startMs } = step
  if (step.kind === 'wait') return { label: 'wait', kind: 'wait', startMs, endMs: step.endMs, firstByteMs: null }
  if (step.kind === 'skip') {
    return {
      label: escapeControls(step.target),
      end: ': skipped',
      kind: 'skipped',
      startMs,
      endMs: null,
      firstByteMs: null,
    }
  }
  const label = escapeControls(nameTarget(step.attempt, model))
  const end = escapeControls(`: ${step.end}`)
  const { outcome, first_byte_ms: firstByteMs } = step.attempt
  const isGood = ['answered', 'started', 'passed'].includes(outcome) && !step.end.endsWith('broke off')
  return { label, end, kind: isGood ? 'attempt' : 'failed', startMs, endMs: step.endMs, firstByteMs }
}

function drawBar(row: TimelineRow, totalMs: number, room: number): string {
  const place = (ms: number) => (totalMs === 0 ? 0 : Math.min(room - 1, Math.floor((ms / totalMs) * room)))
  const start = place(row.startMs)
  if (row.endMs === null) return ' '.repeat(start) + (row.kind === 'skipped' ? '×' : '│')
  const length = Math.max(1, place(row.endMs) - start + 1)
  if (row.kind === 'wait') return ' '.repeat(start) + '┄'.repeat(length)
  const waiting = row.firstByteMs === null ? length : Math.min(length - 1, place(row.firstByteMs) - start)
  const bar = '·'.repeat(waiting) + '━'.repeat(length - waiting)
  return ' '.repeat(start) + (row.kind === 'failed' ? `${bar.slice(0, -1)}×` : bar)
}
