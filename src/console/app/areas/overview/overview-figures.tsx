import type { ReactNode } from 'react'
import type { admin } from '../../client/admin.ts'
import type { Series } from '../../client/series.ts'
import { Count, Duration, Missing, Money, Sparkline } from '../../parts/index.ts'

type Sum = Awaited<ReturnType<typeof admin.requests.stats>>[number]

/** The whole span in a row of figures. */
export function OverviewFigures({ sum, points }: { sum: Sum | undefined; points: Series['groups'] | undefined }) {
  const requests = sum?.requests ?? 0
  const share = requests === 0 ? 0 : ((sum?.errors ?? 0) / requests) * 100
  const bars = sumByTime(points ?? [])
  const first: unknown = sum === undefined ? null : Reflect.get(sum, 'first_byte_p50_ms')
  return (
    <dl className="figures">
      <Figure
        title="Requests"
        note={bars.length > 0 ? <Sparkline points={bars} label="Requests over the span" height={16} /> : null}
      >
        <Count value={requests} />
      </Figure>
      <Figure title="Errors" note={`${(sum?.errors ?? 0).toLocaleString('en-US')} requests`}>
        {`${share === 0 ? '0' : share < 10 ? share.toFixed(1) : share.toFixed(0)} %`}
      </Figure>
      <Figure title="Latency p50" note={<Pair title="p95" ms={sum?.duration_p95_ms} />}>
        <Duration ms={sum?.duration_p50_ms} />
      </Figure>
      <Figure title="Latency p99" note="of the whole request">
        <Duration ms={sum?.duration_p99_ms} />
      </Figure>
      <Figure title="First token p50" note="streamed answers">
        {typeof first === 'number' ? <Duration ms={first} /> : <Missing meaning="not measured" />}
      </Figure>
      <Figure title="Tokens" note={<Tokens sum={sum} />}>
        <Count value={(sum?.input ?? 0) + (sum?.output ?? 0)} />
      </Figure>
      <Figure title="Spend" note="as priced when it was served">
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
      <Count value={sum?.input ?? 0} /> in · <Count value={sum?.output ?? 0} /> out
    </>
  )
}

function sumByTime(groups: Series['groups']): number[] {
  const first = groups[0]?.points ?? []
  return first.map((_, index) => groups.reduce((sum, { points }) => sum + (points[index]?.requests ?? 0), 0))
}
