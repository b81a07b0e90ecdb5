import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { formatShare } from '../../../../admin/contract/show-value.ts'
import { orpc } from '../../client/admin.ts'
import { consoleWords } from '../../client/console-words.ts'
import { Count, Duration, Missing, Since, Sparkline, StateBadge, UntrustedText } from '../../parts/index.ts'
import { stateLabel } from '../../parts/labels.ts'
import { useMay } from '../../session/session.ts'
import { keepScope } from '../../shell/keys.ts'
import type { Provider } from '../outputs.ts'

/** Attempts minute by minute. */
export interface ProviderTraffic {
  tried: readonly number[]
  failed: readonly number[]
}

const quietHour: ProviderTraffic = { tried: Array.from({ length: 60 }, () => 0), failed: [] }

export interface ProviderCardProps {
  provider: Provider
  kindTitle: string
  traffic: ProviderTraffic | undefined
  /** Models of the routes that use it; null: not known yet. */
  routes: readonly string[] | null
}

export function ProviderCard({ provider, kindTitle, traffic = quietHour, routes }: ProviderCardProps) {
  const { name, last_hour: hour } = provider
  return (
    <li className="card provider-card">
      <div className="row spread card-title">
        <h2 className="truncate">
          <Link to="/providers/$name" params={{ name }} search={keepScope} className="card-link">
            <UntrustedText text={name} />
          </Link>
        </h2>
        <ProviderState provider={provider} />
      </div>
      <p className="quiet truncate">
        {kindTitle}
        {provider.base_url === null || provider.kind === 'demo' ? null : ` · ${hostOf(provider.base_url)}`}
      </p>
      {provider.state_reason !== null && provider.active ? (
        <p className="provider-reason small">
          <UntrustedText text={consoleWords(provider.state_reason)} />
        </p>
      ) : (
        <FailingTargets provider={provider} />
      )}
      <Sparkline
        points={traffic.tried}
        failed={traffic.failed}
        width={260}
        height={28}
        label={trafficLabel(provider)}
      />
      <dl className="provider-figures">
        <Figure title="Attempts, 1 h">
          <Count value={hour.tried} />
        </Figure>
        <Figure title="Succeeded">
          <Succeeded tried={hour.tried} failed={hour.failed} />
        </Figure>
        <Figure title="p95">
          <Duration ms={hour.duration_p95_ms} />
        </Figure>
      </dl>
      <p className="small quiet provider-foot">
        <span>Revision {provider.revision}</span>
        <span>{describeRoutes(routes)}</span>
        <span>
          {stateLabel(provider.state)} <Since at={provider.state_since ?? provider.created_at} />
        </span>
      </p>
    </li>
  )
}

/** One model may fail at a provider that is well otherwise. */
function FailingTargets({ provider: { active, targets, calls_without_model: others } }: { provider: Provider }) {
  const failing = targets.filter(({ state }) => state === 'failing').map((target) => target.upstream_model)
  if (others?.state === 'failing') failing.push(others.concerns)
  if (!active || failing.length === 0) return null
  return (
    <p className="provider-reason small truncate">
      Failing: <UntrustedText text={failing.join(', ')} />
    </p>
  )
}

const highShare = 0.05

function Succeeded({ tried, failed }: { tried: number; failed: number }) {
  if (tried === 0) return <Missing meaning="no attempts" />
  return (
    <span className={failed / tried >= highShare ? 'number state-bad' : 'number'}>
      {formatShare((tried - failed) / tried)}
    </span>
  )
}

function Figure({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div>
      <dt className="small quiet">{title}</dt>
      <dd>{children}</dd>
    </div>
  )
}

function trafficLabel({ name, last_hour: { tried, failed } }: Provider): string {
  return `Attempts at ${name} in the last hour: ${tried} attempts, ${failed} failed`
}

export function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host || url : url
}

function describeRoutes(models: readonly string[] | null): string {
  if (models === null) return '… routes'
  if (models.length === 0) return 'No routes'
  return models.length === 1 ? '1 route' : `${models.length} routes`
}

type ProviderStatus = Pick<Provider, 'active' | 'state' | 'state_reason'>

/** A deactivated provider is inactive, whatever its health. */
export function ProviderState({ provider, reason = false }: { provider: ProviderStatus; reason?: boolean }) {
  if (!provider.active) return <StateBadge state="inactive" />
  return <StateBadge state={provider.state} reason={reason ? provider.state_reason : null} />
}

const input = { since: '1h', step: '1m' } as const

/** Attempts of the last hour by provider, minute by minute; none for somebody who may not see the workspace's. */
export function useProviderTraffic(): ReadonlyMap<string, ProviderTraffic> {
  const enabled = useMay('providers.attempts')
  const { data } = useQuery({ ...orpc.providers.attempts.queryOptions({ input }), enabled, refetchInterval: 60_000 })
  return new Map(
    (data?.providers ?? []).map(({ provider, points }) => [
      provider,
      { tried: points.map(({ tried }) => tried), failed: points.map(({ failed }) => failed) },
    ]),
  )
}
