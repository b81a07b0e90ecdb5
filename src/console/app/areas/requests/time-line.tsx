import { escapeControls, formatMilliseconds } from '../../../../admin/contract/show-value.ts'
import type { RequestRow } from '../../live/status-output.ts'
import { drawTimeLine, type TimeLineLane, type TimeLineSpan, ticksOf } from './time-line-spans.ts'

/** The request to scale: the gateway, each attempt with its parts, and the answer to the client. */
export function TimeLine({ record }: { record: RequestRow }) {
  const { totalMs, lanes } = drawTimeLine(record)
  if (totalMs <= 0) return <p className="quiet">Too short to measure.</p>
  return (
    <div className="time-line">
      <Axis totalMs={totalMs} />
      <ul className="time-lanes">
        {lanes.map((lane) => (
          <LaneRow key={lane.key} lane={lane} totalMs={totalMs} />
        ))}
      </ul>
      <Legend lanes={lanes} />
    </div>
  )
}

/** Short requests show fractions of a millisecond. */
function formatShort(ms: number, totalMs: number): string {
  return totalMs < 4 ? `${ms.toFixed(totalMs < 0.4 ? 2 : 1)} ms` : formatMilliseconds(ms)
}

function Axis({ totalMs }: { totalMs: number }) {
  return (
    <div className="time-axis small quiet" aria-hidden="true">
      <span />
      <div className="time-ticks">
        {ticksOf(totalMs).map((ms) => (
          <span key={ms} className="number" style={{ left: `${(ms / totalMs) * 100}%` }}>
            {ms === 0 ? '0' : formatShort(ms, totalMs)}
          </span>
        ))}
      </div>
    </div>
  )
}

function LaneRow({ lane, totalMs }: { lane: TimeLineLane; totalMs: number }) {
  return (
    <li className="time-lane">
      <div className="time-name">
        <p className="truncate">
          <bdi title={escapeControls(lane.name)}>{escapeControls(lane.name)}</bdi>
        </p>
        {lane.note === '' ? null : <p className="small quiet truncate">{escapeControls(lane.note)}</p>}
      </div>
      <div
        className="time-track"
        style={{ backgroundSize: `${((ticksOf(totalMs)[1] ?? totalMs) / totalMs) * 100}% 100%` }}
      >
        {lane.spans.map((span) => (
          <Bar key={`${span.part}-${span.fromMs}`} span={span} totalMs={totalMs} />
        ))}
      </div>
      <ul className="visually-hidden">
        {lane.spans.map((span) => (
          <li key={`${span.part}-${span.fromMs}`}>{describeSpan(span)}</li>
        ))}
      </ul>
    </li>
  )
}

/** A part too short to see still gets two pixels. */
function Bar({ span, totalMs }: { span: TimeLineSpan; totalMs: number }) {
  const left = `${(span.fromMs / totalMs) * 100}%`
  const width = `max(2px, ${((span.toMs - span.fromMs) / totalMs) * 100}%)`
  return (
    <span className={`time-bar time-${span.part}`} style={{ left, width }} title={describeSpan(span)}>
      {span.part === 'skip' ? null : (
        <span className="time-word small">{formatShort(span.toMs - span.fromMs, totalMs)}</span>
      )}
    </span>
  )
}

const words: Record<TimeLineSpan['part'], string> = {
  admit: 'Admission',
  pause: 'Waiting before the next attempt',
  skip: 'Skipped target',
  connect: 'Connecting',
  wait: 'Waiting for the first byte',
  content: 'Content',
  failed: 'Failed attempt',
  answer: 'Response to the client',
}

function describeSpan({ part, fromMs, toMs }: TimeLineSpan): string {
  if (part === 'skip') return `${words.skip}, at ${formatMilliseconds(fromMs)}`
  return `${words[part]}: ${formatMilliseconds(toMs - fromMs)}, from ${formatMilliseconds(fromMs)} to ${formatMilliseconds(toMs)}`
}

function Legend({ lanes }: { lanes: readonly TimeLineLane[] }) {
  const parts = [...new Set(lanes.flatMap(({ spans }) => spans.map(({ part }) => part)))]
  return (
    <ul className="row time-legend small quiet" aria-hidden="true">
      {parts.map((part) => (
        <li key={part} className="row">
          <span className={`time-swatch time-${part}`} />
          {words[part]}
        </li>
      ))}
    </ul>
  )
}
