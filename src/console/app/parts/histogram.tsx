import { type PointerEvent, useRef, useState } from 'react'
import type { HistogramStep } from './histogram-step.ts'

export interface HistogramProps {
  steps: readonly HistogramStep[]
  stepMs: number
  /** What it shows, for those who do not see it. */
  label: string
  /** A stretch was drawn with the pointer, or one step pressed. */
  onSelect(since: number, until: number): void
}

const height = 48

/** Requests over time, as broad as the page; a stretch drawn over it is chosen. */
export function Histogram({ steps, stepMs, label, onSelect }: HistogramProps) {
  const frame = useRef<HTMLDivElement>(null)
  const [drawn, setDrawn] = useState<{ from: number; to: number } | null>(null)
  const [pointed, setPointed] = useState<number | null>(null)
  const top = Math.max(1, ...steps.map(({ good, warning, bad }) => good + warning + bad))
  const stepAt = ({ clientX }: PointerEvent) => {
    const box = frame.current?.getBoundingClientRect()
    if (box === undefined || box.width === 0) return 0
    return Math.min(steps.length - 1, Math.max(0, Math.floor(((clientX - box.left) / box.width) * steps.length)))
  }
  const end = () => {
    if (drawn === null) return
    const first = steps[Math.min(drawn.from, drawn.to)]
    const last = steps[Math.max(drawn.from, drawn.to)]
    setDrawn(null)
    if (first !== undefined && last !== undefined) onSelect(first.time, last.time + stepMs)
  }
  const shown = pointed === null ? undefined : steps[pointed]
  return (
    <div
      ref={frame}
      className="histogram"
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId)
        const at = stepAt(event)
        setDrawn({ from: at, to: at })
      }}
      onPointerMove={(event) => {
        const at = stepAt(event)
        setPointed(at)
        setDrawn((before) => (before === null ? null : { ...before, to: at }))
      }}
      onPointerUp={end}
      onPointerCancel={() => setDrawn(null)}
      onPointerLeave={() => setPointed(null)}
    >
      <svg viewBox={`0 0 ${steps.length} ${height}`} preserveAspectRatio="none" role="img" aria-label={label}>
        {steps.map((step, index) => (
          <Bar key={step.time} step={step} index={index} top={top} />
        ))}
        {drawn === null ? null : (
          <rect
            className="histogram-drawn"
            x={Math.min(drawn.from, drawn.to)}
            y="0"
            width={Math.abs(drawn.to - drawn.from) + 1}
            height={height}
          />
        )}
      </svg>
      <div className="row spread small quiet histogram-foot" aria-hidden="true">
        <span className="number">{steps[0] === undefined ? '' : writeMoment(steps[0].time)}</span>
        <span className="number">
          {shown === undefined ? 'Drag to choose a time range' : describeStep(shown, stepMs)}
        </span>
        <span className="number">{writeMoment((steps.at(-1)?.time ?? 0) + stepMs)}</span>
      </div>
    </div>
  )
}

function Bar({ step: { good, warning, bad }, index, top }: { step: HistogramStep; index: number; top: number }) {
  const sum = good + warning + bad
  if (sum === 0) return <rect className="histogram-none" x={index + 0.1} y={height - 1} width={0.8} height={1} />
  const total = Math.max(2, (sum / top) * height)
  const parts = [
    { name: 'bad', value: bad },
    { name: 'warning', value: warning },
    { name: 'good', value: good },
  ]
  let below = 0
  return (
    <>
      {parts.map(({ name, value }) => {
        const size = (value / sum) * total
        below += size
        return value === 0 ? null : (
          <rect
            key={name}
            className={`histogram-${name}`}
            x={index + 0.1}
            y={height - below}
            width={0.8}
            height={size}
          />
        )
      })}
    </>
  )
}

function writeMoment(time: number): string {
  const moment = new Date(time)
  return `${moment.getDate()} ${moment.toLocaleString('en-GB', { month: 'short', hour: '2-digit', minute: '2-digit' })}`
}

function describeStep({ time, good, warning, bad }: HistogramStep, stepMs: number): string {
  const clock = new Date(time).toLocaleTimeString(
    'en-GB',
    stepMs < 60_000 ? {} : { hour: '2-digit', minute: '2-digit' },
  )
  return `${clock}: ${good} succeeded, ${warning} 4xx, ${bad} failed`
}
