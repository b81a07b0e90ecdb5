import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { orpc } from '../../client/admin.ts'
import { consoleWords } from '../../client/console-words.ts'
import { Duration, QueryFault, RecordView, Since, StateBadge, Time, UntrustedText } from '../../parts/index.ts'
import type { Provider } from '../outputs.ts'
import { Section } from '../section.tsx'
import { type HealthSpan, healthSpans, readyShare } from './health-strip.ts'

const hour = 3_600_000
const windows = [
  { since: '24h', title: '24 hours', length: 24 * hour },
  { since: '7d', title: '7 days', length: 7 * 24 * hour },
  { since: '30d', title: '30 days', length: 30 * 24 * hour },
] as const

export function ProviderHealth({ provider }: { provider: Provider }) {
  const { state, state_reason: reason, state_since, active, targets, calls_without_model: others } = provider
  return (
    <Section title="Health">
      <RecordView
        entries={[
          {
            label: 'State',
            value: (
              <span className="row">
                <StateBadge state={state} />
                <span className="quiet">
                  <Since at={state_since ?? provider.created_at} />
                  {active ? null : '. Inactive, so no requests are sent to it'}
                </span>
              </span>
            ),
          },
          ...(reason === null ? [] : [{ label: 'Reason', value: <UntrustedText text={consoleWords(reason)} /> }]),
          ...(targets.length === 0 ? [] : [{ label: 'Targets', value: <TargetStates targets={targets} /> }]),
          ...(others === null
            ? []
            : [
                {
                  label: 'Calls without a model',
                  value: <TargetStates targets={[{ ...others, upstream_model: others.concerns }]} />,
                },
              ]),
        ]}
      />
      {provider.base_url === null ? null : <HealthOverTime name={provider.name} />}
    </Section>
  )
}

/** Each model that is called there has a state of its own. */
function TargetStates({ targets }: { targets: Omit<Provider['targets'][number], 'provider'>[] }) {
  return (
    <ul className="stack-tight">
      {targets.map(({ upstream_model: model, state, state_reason: reason }) => (
        <li key={model}>
          <span className="row">
            <span className="breakable">
              <UntrustedText text={model} />
            </span>
            <StateBadge state={state} />
          </span>
          {reason === null ? null : (
            <p className="small quiet breakable">
              <UntrustedText text={consoleWords(reason)} />
            </p>
          )}
        </li>
      ))}
    </ul>
  )
}

function HealthOverTime({ name }: { name: string }) {
  const [since, setSince] = useState<(typeof windows)[number]['since']>('24h')
  const history = useQuery(orpc.providers.history.queryOptions({ input: { name, since } }))
  const length = windows.find((one) => one.since === since)?.length ?? 24 * hour
  const now = history.dataUpdatedAt
  const spans = healthSpans(history.data ?? [], now - length, now)
  const share = readyShare(spans)
  return (
    <div className="stack-tight below">
      <div className="row spread">
        <span>{history.isPending ? null : sayShare(share)}</span>
        <fieldset className="segments">
          <legend className="visually-hidden">Time range</legend>
          {windows.map((one) => (
            <label key={one.since} className="segment">
              <input type="radio" name="health" checked={one.since === since} onChange={() => setSince(one.since)} />
              <span>{one.title}</span>
            </label>
          ))}
        </fieldset>
      </div>
      <QueryFault of={history} />
      {history.data === undefined ? <div className="health-strip" /> : <Strip spans={spans} />}
      {history.isPending ? <div className="health-change">&nbsp;</div> : <Changes spans={spans} now={now} />}
    </div>
  )
}

function Strip({ spans }: { spans: readonly HealthSpan[] }) {
  return (
    <svg className="health-strip" viewBox="0 0 1000 24" preserveAspectRatio="none" aria-hidden="true">
      {spans.map(({ key, state, start, size }) => (
        <rect
          key={key}
          className={`health-${state}`}
          x={start * 1000}
          width={Math.max(1, size * 1000)}
          y="0"
          height="24"
        />
      ))}
    </svg>
  )
}

const shownChanges = 6

/** The strip in words, newest first: it is all that those who do not see it have. */
function Changes({ spans, now }: { spans: readonly HealthSpan[]; now: number }) {
  const known = spans.filter(({ state }) => state !== 'unknown').reverse()
  if (known.length === 0) return null
  return (
    <ul className="stack-tight">
      {known.slice(0, shownChanges).map(({ key, state, reason, since, until }) => (
        <li key={key} className="row health-change">
          <StateBadge state={state} />
          <span className="quiet">
            {until === now ? (
              <Since at={new Date(since).toISOString()} />
            ) : (
              <>
                <Time at={new Date(since).toISOString()} />, for <Duration ms={until - since} />
              </>
            )}
          </span>
          {reason === null ? null : (
            <span className="small breakable health-reason">
              <UntrustedText text={consoleWords(reason)} />
            </span>
          )}
        </li>
      ))}
    </ul>
  )
}

function sayShare(share: number | null): string {
  return share === null ? 'No checks in this time range' : `Ready ${percent(share)} of the time since its first check`
}

function percent(share: number): string {
  return share >= 0.99995 ? '100%' : `${(Math.floor(share * 1000) / 10).toFixed(1)}%`
}
