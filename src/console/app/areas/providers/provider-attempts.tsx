import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { formatMilliseconds, formatShare } from '../../../../admin/contract/show-value.ts'
import { orpc } from '../../client/admin.ts'
import { useTraffic } from '../../live/traffic.ts'
import { Chart, QueryFault } from '../../parts/index.ts'
import { Section } from '../section.tsx'

const spans = [
  { since: '1h', title: '1 hour' },
  { since: '24h', title: '24 hours' },
  { since: '7d', title: '7 days' },
] as const

const count = (value: number | null) => (value === null ? '–' : value.toLocaleString('en-US'))
const time = (value: number | null) => (value === null ? '–' : formatMilliseconds(value))

/** What was tried there and how it went: a request that is retried or falls back makes several attempts. */
export function ProviderAttempts({ name }: { name: string }) {
  const [since, setSince] = useState<(typeof spans)[number]['since']>('1h')
  const attempts = useQuery({
    ...orpc.providers.attempts.queryOptions({ input: { name, since } }),
    placeholderData: keepPreviousData,
  })
  useTraffic(() => void attempts.refetch())
  const points = attempts.data?.points ?? []
  const tried = points.reduce((sum, point) => sum + point.tried, 0)
  const failed = points.reduce((sum, point) => sum + point.failed, 0)
  const times = points.map((point) => Date.parse(point.time))
  return (
    <Section
      title="Attempts"
      actions={
        <fieldset className="segments">
          <legend className="visually-hidden">Time range of the attempts</legend>
          {spans.map((span) => (
            <label key={span.since} className="segment">
              <input
                type="radio"
                name="attempts"
                checked={span.since === since}
                onChange={() => setSince(span.since)}
              />
              <span>{span.title}</span>
            </label>
          ))}
        </fieldset>
      }
    >
      <QueryFault of={attempts} />
      <p className="row attempt-sums">
        {tried === 0 ? (
          <span className="quiet">{attempts.data === undefined ? '…' : 'No attempts in this time.'}</span>
        ) : (
          <>
            <b className={failed / tried >= highShare ? 'number state-bad' : 'number'}>
              {formatShare((tried - failed) / tried)} succeeded
            </b>
            <span className="quiet number">
              {failed.toLocaleString('en-US')} of {tried.toLocaleString('en-US')} attempts failed
            </span>
          </>
        )}
      </p>
      <div className="charts">
        <Chart
          title="Attempts"
          variant="bars"
          times={times}
          series={[
            { name: 'Succeeded', colour: '--good', values: points.map((point) => point.tried - point.failed) },
            { name: 'Failed', colour: '--bad', values: points.map((point) => point.failed) },
          ]}
          write={count}
        />
        <Chart
          title="Latency of attempts"
          times={times}
          series={[
            { name: 'p50', values: points.map((point) => point.duration_p50_ms) },
            { name: 'p95', values: points.map((point) => point.duration_p95_ms) },
          ]}
          write={time}
        />
      </div>
    </Section>
  )
}

const highShare = 0.05
