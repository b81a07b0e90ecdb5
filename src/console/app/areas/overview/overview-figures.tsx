import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { formatShare } from '../../../../admin/contract/show-value.ts'
import { Count, Duration, Missing, Money } from '../../parts/index.ts'
import { keepScope } from '../../shell/keys.ts'
import type { StatsRow } from '../outputs.ts'
import { compactNumber } from './compact-number.ts'

interface OverviewFiguresProps {
  /** Undefined: there were no requests, or it is not known yet. */
  sum: StatsRow | undefined
  isLoaded: boolean
  window: { since: string; until?: string }
}

const highShare = 0.05

/** The whole span in a row of figures; each opens the requests behind it. */
export function OverviewFigures({ sum, isLoaded, window }: OverviewFiguresProps) {
  // A zero says that there were none.
  const once = (figure: ReactNode) => (isLoaded ? figure : <Missing meaning="loading" />)
  const requests = sum?.requests ?? 0
  const errors = sum?.errors ?? 0
  const share = requests === 0 ? 0 : errors / requests
  const p95 = sum?.duration_p95_ms ?? null
  const slow: Record<string, string> = p95 === null ? {} : { slowerThan: `${Math.floor(p95)}ms` }
  return (
    <ul className="figures">
      <Figure title="Requests" search={window} note="View all requests">
        {once(<Count value={requests} />)}
      </Figure>
      <Figure
        title="Errors"
        search={{ ...window, errors: 'true' }}
        note={isLoaded ? `${errors.toLocaleString('en-US')} ${errors === 1 ? 'request' : 'requests'}` : '–'}
        bad={share >= highShare}
      >
        {once(formatShare(share))}
      </Figure>
      <Figure title="Latency p50" search={window} note={<Pair title="Stream first byte" ms={sum?.first_byte_p50_ms} />}>
        <Duration ms={sum?.duration_p50_ms} />
      </Figure>
      <Figure title="Latency p95" search={{ ...window, ...slow }} note={<Pair title="p99" ms={sum?.duration_p99_ms} />}>
        <Duration ms={p95} />
      </Figure>
      <Figure title="Tokens" search={window} note={isLoaded ? <Tokens sum={sum} /> : '–'}>
        {once(<Large value={(sum?.input ?? 0) + (sum?.output ?? 0)} />)}
      </Figure>
      {sum === undefined || sum.usd === null ? null : (
        <Figure title="Spend" search={window} note={<PerThousand usd={sum.usd} requests={requests} />}>
          <Money usd={sum.usd} />
        </Figure>
      )}
    </ul>
  )
}

interface FigureProps {
  title: string
  search: Record<string, string>
  note: ReactNode
  bad?: boolean
  children: ReactNode
}

function Figure({ title, search, note, bad = false, children }: FigureProps) {
  return (
    <li className="figure">
      <Link to="/requests" search={(before) => ({ ...keepScope(before), ...search })} className="figure-link">
        {title}
      </Link>
      <div className={bad ? 'figure-value state-bad' : 'figure-value'}>{children}</div>
      <div className="figure-note small quiet">{note}</div>
    </li>
  )
}

function Pair({ title, ms }: { title: string; ms: number | null | undefined }) {
  return (
    <>
      {title} <Duration ms={ms} />
    </>
  )
}

function Tokens({ sum }: { sum: StatsRow | undefined }) {
  return (
    <>
      <Large value={sum?.input ?? 0} /> in · <Large value={sum?.output ?? 0} /> out
    </>
  )
}

/** Shortened from a million on; whole on hover. */
function Large({ value }: { value: number }) {
  return value < 1e6 ? (
    <Count value={value} />
  ) : (
    <span title={value.toLocaleString('en-US')}>{compactNumber(value)}</span>
  )
}

function PerThousand({ usd, requests }: { usd: number; requests: number }) {
  if (requests === 0) return null
  return (
    <>
      <Money usd={(usd / requests) * 1000} /> per 1,000 requests
    </>
  )
}
