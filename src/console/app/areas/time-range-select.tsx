import { type FormEvent, useId, useState } from 'react'
import { parseDuration } from '../../../core/units.ts'
import { Button, Dialog } from '../parts/index.ts'
import { describeTimeRange } from './time-range.ts'

export interface TimeRange {
  /** A duration back from now, a time, or a word of the list's own. */
  since: string
  /** A time; undefined: now. */
  until: string | undefined
}

interface TimeRangeSelectProps extends TimeRange {
  spans: readonly { since: string; title: string }[]
  onChange(span: TimeRange): void
}

/** Which time is shown: one of the usual spans, or any other. */
export function TimeRangeSelect({ since, until, spans, onChange }: TimeRangeSelectProps) {
  const [isOpen, setOpen] = useState(false)
  const isOwn = until !== undefined || !spans.some((span) => span.since === since)
  const choose = (value: string) => {
    if (value === 'other') setOpen(true)
    else if (value === 'today') onChange({ since: midnight(0), until: undefined })
    else if (value === 'yesterday') onChange({ since: midnight(-1), until: midnight(0) })
    else onChange({ since: value, until: undefined })
  }
  return (
    <>
      <select
        className="input span-choice"
        aria-label="Time range"
        value={isOwn ? 'own' : since}
        onChange={(event) => choose(event.target.value)}
      >
        {isOwn ? <option value="own">{describeTimeRange(since, until)}</option> : null}
        {spans.map((span) => (
          <option key={span.since} value={span.since}>
            {span.title}
          </option>
        ))}
        <option value="today">Today</option>
        <option value="yesterday">Yesterday</option>
        <option value="other">Custom range…</option>
      </select>
      <Dialog open={isOpen} title="Custom range" onClose={() => setOpen(false)}>
        <TimeRangeForm
          since={since}
          until={until}
          onChange={(span) => {
            setOpen(false)
            onChange(span)
          }}
        />
      </Dialog>
    </>
  )
}

/** When a day began where the browser is: today, or so many days from it. */
function midnight(days: number): string {
  const now = new Date()
  return new Date(now.getFullYear(), now.getMonth(), now.getDate() + days).toISOString()
}

/** Times are in the browser's time zone, like those below the charts. */
function TimeRangeForm({ since, until, onChange }: TimeRange & { onChange(span: TimeRange): void }) {
  const id = useId()
  const [from, setFrom] = useState(() => writeLocal(momentOf(since)))
  const [to, setTo] = useState(() => (until === undefined ? '' : writeLocal(Date.parse(until))))
  const isWrong = to !== '' && to <= from
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (from === '' || isWrong) return
    onChange({ since: new Date(from).toISOString(), until: to === '' ? undefined : new Date(to).toISOString() })
  }
  return (
    <form className="stack" noValidate onSubmit={submit}>
      <div className="field-pair">
        <div className="field">
          <label htmlFor={`${id}-from`}>From</label>
          <input
            id={`${id}-from`}
            className="input"
            type="datetime-local"
            value={from}
            onChange={(event) => setFrom(event.target.value)}
          />
        </div>
        <div className={isWrong ? 'field field-wrong' : 'field'}>
          <label htmlFor={`${id}-to`}>
            To<span className="quiet"> (empty for now)</span>
          </label>
          <input
            id={`${id}-to`}
            className="input"
            type="datetime-local"
            value={to}
            aria-describedby={`${id}-wrong`}
            onChange={(event) => setTo(event.target.value)}
          />
        </div>
      </div>
      <p id={`${id}-wrong`} className="field-error small" role={isWrong ? 'alert' : undefined}>
        {isWrong ? 'The end must be after the start.' : ''}
      </p>
      <div>
        <Button variant="primary" type="submit">
          Apply
        </Button>
      </div>
    </form>
  )
}

function momentOf(since: string): number {
  const duration = parseDuration(since)
  const moment = duration === null ? Date.parse(since) : Date.now() - duration
  return Number.isNaN(moment) ? Date.now() - 86_400_000 : moment
}

/** As such an input takes it: `2026-11-21T15:30`. */
function writeLocal(moment: number): string {
  return new Date(moment - new Date(moment).getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}
