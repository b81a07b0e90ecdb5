import type { ReactNode } from 'react'
import { formatShare } from '../../../../admin/contract/show-value.ts'
import type { admin } from '../../client/admin.ts'
import type { Series } from '../../client/series.ts'
import { Count, Duration, Missing, Money, Sparkline } from '../../parts/index.ts'
import { compactNumber } from './compact-number.ts'

type Sum = Awaited<ReturnType<typeof admin.requests.stats>>[number]

/** The whole span in a row of figures. */
export function OverviewFigures({ sum, points }: { sum: Sum | undefined; points: Series['groups'] | undefined }) {
  const requests = sum?.requests ?? 0
  const share = requests === 0 ? 0 : (sum?.errors ?? 0) / requests
  const bars = sumByTime(points ?? [])
  const first: unknown = sum === undefined ? null : Reflect.get(sum, 'first_byte_p50_ms')
  return (
    <dl className="figures">
      <Figure
        title="Requests"
        note={bars.length > 0 ? <Sparkline points={bars} label="Requests over time" height={16} /> : null}
      >
        <Count value={requests} />
      </Figure>
      <Figure
        title="Errors"
        note={`${(sum?.errors ?? 0).toLocaleString('en-US')} ${sum?.errors === 1 ? 'request' : 'requests'}`}
      >
        {formatShare(share)}
      </Figure>
      <Figure title="Latency p50" note={<Pair title="p95" ms={sum?.duration_p95_ms} />}>
        <Duration ms={sum?.duration_p50_ms} />
      </Figure>
      <Figure title="Latency p99" note="whole request">
        <Duration ms={sum?.duration_p99_ms} />
      </Figure>
      <Figure title="First byte p50" note="streams and whole responses">
        {typeof first === 'number' ? <Duration ms={first} /> : <Missing meaning="Not measured" />}
      </Figure>
      <Figure title="Tokens" note={<Tokens sum={sum} />}>
        <Large value={(sum?.input ?? 0) + (sum?.output ?? 0)} />
      </Figure>
      <Figure title="Spend" note={<PerThousand sum={sum} />}>
        <Money usd={sum?.usd} />
      </Figure>
    </dl>
  )
}

function Figure({ title, note, children }: { title: string; note: ReactNode; children: ReactNode }) {
  return (
    <div className="figure">
      <dt>{title}</dt>
      <dd>{children}</dd>
      <dd className="figure-note small quiet">{note}</dd>
    </div>
  )
}

function Pair({ title, ms }: { title: string; ms: number | null | undefined }) {
  return (
    <>
      {title} <Duration ms={ms} />
    </>
  )
}

function Tokens({ sum }: { sum: Sum | undefined }) {
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

function PerThousand({ sum }: { sum: Sum | undefined }) {
  if (sum === undefined || sum.usd === null || sum.requests === 0) return null
  return (
    <>
      <Money usd={(sum.usd / sum.requests) * 1000} /> per 1,000 requests
    </>
  )
}

function sumByTime(groups: Series['groups']): number[] {
  const first = groups[0]?.points ?? []
  return first.map((_, index) => groups.reduce((sum, { points }) => sum + (points[index]?.requests ?? 0), 0))
}
