import { formatLimitUsage, nameScope } from '../../../../admin/contract/show-limit.ts'
import { formatMilliseconds, formatMoney, formatShare, formatValue } from '../../../../admin/contract/show-value.ts'
import { clockRemedy, describeApart } from '../../../../core/clock-apart.ts'
import { nameDegraded } from '../../../../core/degraded.ts'
import { describeStanding } from '../../../../core/node-condition.ts'
import { useLive } from '../../live/live.ts'
import type { StatusOutput } from '../../live/status-output.ts'
import {
  Bytes,
  Count,
  DerivedValue,
  entriesOf,
  Missing,
  type RecordEntry,
  RecordView,
  Since,
  StateBadge,
  Time,
  UntrustedText,
} from '../../parts/index.ts'
import { Loading } from '../../shell/page.tsx'
import { Section } from '../section.tsx'

const inWords = [
  'traffic',
  'providers',
  'started_at',
  'in_flight',
  'held_bytes',
  'held_limit',
  'entries_lost',
  'budgets',
  'database_bytes',
  'database_limit_bytes',
  'journal_bytes',
  'long_turns',
  'cluster',
]

function statusEntries({ traffic, providers, ...status }: StatusOutput): RecordEntry[] {
  const states = Object.entries(providers).filter(([, number]) => number > 0)
  return [
    { label: 'Started', value: <Time at={status.started_at} /> },
    { label: 'Requests in progress', value: <Count value={status.in_flight} /> },
    {
      label: 'Bodies in memory',
      value: (
        <>
          <Bytes bytes={status.held_bytes} /> of <Bytes bytes={status.held_limit} />
        </>
      ),
    },
    { label: 'Last minute', value: traffic === null ? <Missing meaning="unknown" /> : describeTraffic(traffic) },
    ...(status.budgets.length === 0 ? [] : [{ label: 'Budgets', value: <Budgets budgets={status.budgets} /> }]),
    { label: 'Providers', value: states.map(([state, number]) => `${number} ${state}`).join(', ') || 'None' },
    {
      label: 'Database',
      value: (
        <>
          <Bytes bytes={status.database_bytes} />
          {status.database_limit_bytes === null ? null : (
            <>
              {' '}
              of at most <Bytes bytes={status.database_limit_bytes} />
            </>
          )}
        </>
      ),
    },
    { label: 'Journal', value: <Bytes bytes={status.journal_bytes} /> },
    { label: 'Journal entries lost', value: <Count value={status.entries_lost} /> },
    { label: 'Blocked threads', value: <BlockedThreads turns={status.long_turns} /> },
  ]
}

/** In the words of `spgw status`. */
function Budgets({ budgets }: Pick<StatusOutput, 'budgets'>) {
  return (
    <ul className="nested">
      {budgets.map((budget) => {
        const { policy, scope, kind, period, resets_at } = budget
        const words = `${nameScope(scope)}: ${formatLimitUsage(budget)} (policy ${policy})`
        return (
          <li key={`${policy} ${scope} ${kind} ${period}`} className="breakable">
            <UntrustedText text={words} />, resets <Time at={resets_at} />
          </li>
        )
      })}
    </ul>
  )
}

const notYet = 'none yet: spgw cluster init, or spgw cluster join TOKEN'

/** Nothing where the settings name none. */
function clusterEntries(cluster: StatusOutput['cluster']): RecordEntry[] {
  if (cluster === null) return []
  const { id, budgets, limits, valkey, records, outbox, nodes } = cluster
  const shares = `budgets ${budgets}, limits per minute ${limits}, records ${records}`
  return [
    { label: 'Cluster', value: id === null ? notYet : `${id}: ${shares}` },
    ...(valkey === null ? [] : [{ label: 'Valkey', value: <DerivedValue name="valkey" value={valkey} /> }]),
    ...(outbox === null ? [] : [{ label: 'Not shared yet', value: <DerivedValue name="outbox" value={outbox} /> }]),
    ...(nodes.length === 0 ? [] : [{ label: 'Nodes', value: <Nodes nodes={nodes} /> }]),
  ]
}

/** This one first: what of it is degraded stands above. */
function Nodes({ nodes }: Pick<NonNullable<StatusOutput['cluster']>, 'nodes'>) {
  return (
    <ul className="nested">
      {nodes.map(({ name, state, traffic, degraded, clock_ahead_ms, draining }, index) => (
        <li key={name}>
          {[
            index === 0 ? `${name} (this one)` : name,
            describeStanding(state) ?? (traffic === null ? null : describeTraffic(traffic)),
          ]
            .filter((words) => words !== null)
            .join(': ')}
          {draining === true ? '; out of service' : null}
          {(index === 0 ? [] : degraded).map(({ part, since }) => (
            <span key={part}>
              ; {nameDegraded(part)} <Since at={since} />
            </span>
          ))}
          {clock_ahead_ms === null ? null : (
            <p className="notice notice-warning">
              Its clock is {describeApart(clock_ahead_ms)} PostgreSQL’s. {clockRemedy}
            </p>
          )}
        </li>
      ))}
    </ul>
  )
}

/** In the words of `spgw status`. */
function BlockedThreads({ turns }: { turns: StatusOutput['long_turns'] }) {
  if (turns.length === 0) return 'None'
  return (
    <ul className="nested">
      {turns.map(({ thread, count, longest_ms, last_at, last_work }) => (
        <li key={thread}>
          {thread}: {count === 1 ? 'once' : `${count} times`}, at most {formatMilliseconds(longest_ms)}, last{' '}
          <Time at={last_at} />
          {last_work === null ? null : ` (${last_work})`}
        </li>
      ))}
    </ul>
  )
}

function describeTraffic(traffic: NonNullable<StatusOutput['traffic']>): string {
  const { requests_per_second, error_share, duration_p95_ms, usd_per_hour } = traffic
  return [
    `${formatValue(requests_per_second, 'number', { now: 0, utc: false })} requests per second`,
    ...(error_share === null ? [] : [`${formatShare(error_share)} errors`]),
    ...(duration_p95_ms === null ? [] : [`p95 ${formatMilliseconds(duration_p95_ms)}`]),
    ...(usd_per_hour === null ? [] : [`${formatMoney(usd_per_hour)} per hour`]),
  ].join(', ')
}

export function About() {
  const { status } = useLive()
  if (status === null) return <Loading />
  return (
    <>
      {status.degraded.map(({ part, reason }) => (
        <p key={part} className="notice notice-warning">
          <StateBadge state="degraded" /> {part}: {reason}
        </p>
      ))}
      <Section title={`spgw ${status.version}`}>
        <RecordView
          entries={[
            ...entriesOf(status, [...inWords, 'version', 'degraded', 'set_aside']),
            ...statusEntries(status),
            ...clusterEntries(status.cluster),
          ]}
        />
      </Section>
      <Section title="API">
        <RecordView
          entries={[
            { label: 'OpenAPI document', value: <a href="/api/openapi.json">/api/openapi.json</a> },
            { label: 'Metrics', value: <a href="/metrics">/metrics</a> },
          ]}
        />
      </Section>
    </>
  )
}
