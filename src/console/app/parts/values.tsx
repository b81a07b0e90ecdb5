import { Fragment } from 'react'
import { formatRate, moneyDigits } from '../../../admin/contract/show-number.ts'
import {
  absent,
  escapeControls,
  formatBytes,
  formatMilliseconds,
  formatMoney,
  formatSince,
  formatValue,
} from '../../../admin/contract/show-value.ts'
import { useClock } from '../live/now.ts'
import { describeBrowser } from './browser.ts'

/** Text from outside, shown as it is and never obeyed: controls and turning marks are written out. */
export function UntrustedText({ text }: { text: string | null | undefined }) {
  return text === null || text === undefined || text === '' ? (
    <Missing />
  ) : (
    <bdi className="from-outside">{escapeControls(text)}</bdi>
  )
}

/** Where there is little room it goes on below between its words, not within one: browsers break a line after `-` only. */
export function UntrustedName({ text }: { text: string | null | undefined }) {
  if (!text) return <Missing />
  // Parts have no name but their place, and do not move.
  const parts = [...escapeControls(text).matchAll(/[^/.:_]+[/.:_]*|[/.:_]+/g)].map(([part], place) => ({
    key: `${place}`,
    part,
  }))
  const last = parts.at(-1)?.key
  return (
    <bdi className="from-outside">
      {parts.map(({ key, part }) => (
        <Fragment key={key}>
          {part}
          {key === last ? null : <wbr />}
        </Fragment>
      ))}
    </bdi>
  )
}

/** From its user agent, which is whole on hover. */
export function Browser({ userAgent }: { userAgent: string | null | undefined }) {
  if (!userAgent) return <Missing meaning="unknown" />
  return (
    <bdi className="from-outside" title={escapeControls(userAgent)}>
      {escapeControls(describeBrowser(userAgent))}
    </bdi>
  )
}

export function Missing({ meaning = 'none' }: { meaning?: string }) {
  return (
    <span className="quiet">
      <span aria-hidden="true">{absent}</span>
      <span className="visually-hidden">{meaning}</span>
    </span>
  )
}

interface TimeProps {
  at: string | null | undefined
  absolute?: boolean
  /** "1 min" in place of "1 min ago" where there is little room. */
  short?: boolean
}

const clockSlackMs = 5000

/** Tolerates a gateway clock that is slightly ahead: a recent event is not shown as future. */
function noEarlier(now: number, at: string): number {
  const moment = Date.parse(at)
  return moment > now && moment - now < clockSlackMs ? moment : now
}

/** How long ago, or in how long; the moment itself on hover. `at` is RFC 3339. */
export function Time({ at, absolute = false, short = false }: TimeProps) {
  const text = useClock((now) => (at ? formatValue(at, 'age', { now: noEarlier(now, at), utc: absolute }) : ''))
  if (!at) return <Missing meaning="never" />
  return (
    <time dateTime={at} title={new Date(at).toISOString()} className="number nowrap">
      {short ? text.replace(/ ago$/, '') : text}
      {short && text.endsWith(' ago') ? <span className="wide-only"> ago</span> : null}
    </time>
  )
}

/** `for 4 min`, of a state that goes on; the moment when it began on hover. */
export function Since({ at }: { at: string }) {
  const text = useClock((now) => formatSince(at, { now, utc: false }))
  return (
    <time dateTime={at} title={new Date(at).toISOString()} className="number nowrap">
      {text}
    </time>
  )
}

export function Money({ usd }: { usd: number | null | undefined }) {
  return usd === null || usd === undefined ? <Missing meaning="unknown" /> : <Figure text={formatMoney(usd)} />
}

/** For a column of amounts: digits behind the point. */
export function digitsOfMoney(usd: number | null | undefined): number | null {
  return usd === null || usd === undefined ? null : moneyDigits(usd)
}

/** USD per million of something. */
export function Rate({ usd }: { usd: number | null | undefined }) {
  return usd === null || usd === undefined ? <Missing meaning="unknown" /> : <Figure text={formatRate(usd)} />
}

export function Duration({ ms }: { ms: number | null | undefined }) {
  return ms === null || ms === undefined ? <Missing /> : <Figure text={formatMilliseconds(ms)} />
}

export function Bytes({ bytes }: { bytes: number | null | undefined }) {
  return bytes === null || bytes === undefined ? <Missing meaning="unknown" /> : <Figure text={formatBytes(bytes)} />
}

export function Count({ value, unit }: { value: number | null | undefined; unit?: string }) {
  if (value === null || value === undefined) return <Missing meaning="unknown" />
  const text = formatValue(value, 'number', { now: 0, utc: false })
  return <Figure text={unit === undefined ? text : `${text} ${unit}`} />
}

function Figure({ text }: { text: string }) {
  return <span className="number nowrap">{text}</span>
}

/** An id: shortened in the middle, whole on hover and when it is copied. */
export function Id({ id }: { id: string | null | undefined }) {
  if (!id) return <Missing />
  const short = id.length > 16 ? `${id.slice(0, 8)}…${id.slice(-5)}` : id
  return (
    <code className="nowrap" title={id}>
      {escapeControls(short)}
    </code>
  )
}
