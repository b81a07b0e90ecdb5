import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { nameHours } from '../../../../admin/contract/show-hours.ts'
import { orpc } from '../../client/admin.ts'
import { Count, Empty, Money, RecordView, StateBadge, Time, UntrustedText } from '../../parts/index.ts'
import { keepScope } from '../../shell/keys.ts'
import type { Key, StatsRow } from '../outputs.ts'
import { Section } from '../section.tsx'
import { useUsageOf } from './key-usage.ts'
import { LimitBarList, noLimits } from './limit-bars.tsx'
import { UncountedBudgets } from './uncounted-budgets.tsx'
import { allLimits, type KeyUsage } from './used-limits.ts'

/** What it did in the last day; null while it is not known. */
export function useLastDay({ id }: Key): StatsRow | null {
  const { data } = useQuery(orpc.requests.stats.queryOptions({ input: { key: id, since: '24h' } }))
  return data?.[0] ?? null
}

/** How it is used: the last day, its limits, its last requests. */
export function KeyActivity({ shown: key }: { shown: Key }) {
  const day = useLastDay(key)
  const usage = useUsageOf(key)
  const limits = allLimits(usage)
  return (
    <Section title="Usage" actions={<span className="quiet">Last 24 hours</span>}>
      <RecordView
        entries={[
          { label: 'Requests', value: <Count value={day?.requests ?? 0} /> },
          { label: 'Errors', value: <Count value={day?.errors ?? 0} /> },
          {
            label: 'Tokens',
            value: (
              <>
                <Count value={day?.input ?? 0} /> input, <Count value={day?.output ?? 0} /> output
              </>
            ),
          },
          { label: 'Spend', value: <Money usd={day?.usd ?? null} /> },
          { label: 'Today', value: <Used sum={usage?.today ?? null} /> },
          { label: 'This month', value: <Used sum={usage?.month ?? null} /> },
        ]}
      />
      <h3 className="sub-head">Limits</h3>
      {limits.length > 0 ? (
        <>
          <UncountedBudgets budgets={usage?.periods ?? []} />
          <LimitBarList limits={limits} detailed label="Limits" />
        </>
      ) : (
        <p className="quiet">{usage === null ? '…' : `${noLimits(key.policy)}.`}</p>
      )}
      {usage === null || usage.hours.length === 0 ? null : <AllowedHours hours={usage.hours} />}
      <h3 className="sub-head">Recent requests</h3>
      <LastRequests shown={key} />
    </Section>
  )
}

/** When the policies of the key allow requests, and whether they do now. */
function AllowedHours({ hours }: Pick<KeyUsage, 'hours'>) {
  return (
    <>
      <h3 className="sub-head">Allowed hours</h3>
      <ul className="limit-bars limit-bars-detailed" aria-label="Allowed hours">
        {hours.map((row) => {
          const changes = row.open ? row.closes_at : row.opens_at
          return (
            <li key={row.policy} className="limit-bar">
              <span className="row">
                <StateBadge state={row.open ? 'open' : 'closed'} tone={row.open ? 'good' : 'bad'} />
                {changes === null ? null : (
                  <span>
                    {row.open ? 'Closes' : 'Opens'} <Time at={changes} />
                  </span>
                )}
              </span>
              <span className="small quiet breakable">
                <UntrustedText text={`${nameHours(row)}, policy ${row.policy}`} />
              </span>
            </li>
          )
        })}
      </ul>
    </>
  )
}

/** Of a day or a month of the workspace's time zone. */
function Used({ sum }: { sum: KeyUsage['today'] | null }) {
  if (sum === null) return <span className="quiet">…</span>
  return (
    <>
      <Count value={sum.requests} unit={sum.requests === 1 ? 'request' : 'requests'} />,{' '}
      <Count value={sum.tokens} unit={sum.tokens === 1 ? 'token' : 'tokens'} />
      {sum.usd === null ? null : (
        <>
          , <Money usd={sum.usd} />
        </>
      )}
    </>
  )
}

function LastRequests({ shown: key }: { shown: Key }) {
  const { data } = useQuery(orpc.requests.list.queryOptions({ input: { key: key.id, limit: 6 } }))
  if (data === undefined) return null
  if (data.length === 0) return <Empty title="Not used yet">Requests with this key appear here when they finish.</Empty>
  return (
    <>
      <ul className="list">
        {data.map(({ id, time, status, state, model, error }) => (
          <li key={id} className="list-row">
            <StateBadge state={status ?? state} />
            <span className="grow model-and-error">
              <Link to="/requests/$id" params={{ id }} search={keepScope} className="truncate">
                <UntrustedText text={model ?? id} />
              </Link>
              {error === null ? null : <code className="small">{error.code}</code>}
            </span>
            <span className="small quiet">
              <Time at={time} />
            </span>
          </li>
        ))}
      </ul>
      <p className="below">
        <Link to="/requests" search={(before) => ({ ...keepScope(before), key: key.id })}>
          View all requests
        </Link>
      </p>
    </>
  )
}
