import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { Pencil, Power, PowerOff, RefreshCw, Trash2 } from 'lucide-react'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { orpc } from '../../client/admin.ts'
import { faultOf } from '../../client/fault.ts'
import { Button, Dialog, Empty, OperationButton, QueryFault, Since, useOperation } from '../../parts/index.ts'
import { useMay } from '../../session/session.ts'
import { keepScope } from '../../shell/keys.ts'
import { Loading, Page } from '../../shell/page.tsx'
import { usePanel } from '../../shell/use-panel.ts'
import { ManagedNotice } from '../managed-notice.tsx'
import type { Check, Provider, Route } from '../outputs.ts'
import { isDefaultOf, usesProvider } from '../removal-refusal.ts'
import { pluralize } from '../units.ts'
import { AccountLimits } from './account-limits.tsx'
import { CheckList, PoolCheck } from './check-list.tsx'
import { describeLoss } from './describe-loss.ts'
import { EditProvider } from './edit-provider.tsx'
import { ProviderAttempts } from './provider-attempts.tsx'
import { ProviderState } from './provider-card.tsx'
import { ProviderCredentials } from './provider-credentials.tsx'
import { ProviderHealth } from './provider-health.tsx'
import { ProviderModels } from './provider-models.tsx'
import { ProviderRevisions } from './provider-revisions.tsx'
import { ProviderRoutes } from './provider-routes.tsx'
import { ProviderSettings } from './provider-settings.tsx'
import { RemovalRefusal } from './removal-refusal.tsx'

export function ProviderPage() {
  const { name } = useParams({ from: '/app/providers/$name' })
  const provider = useQuery(orpc.providers.show.queryOptions({ input: { name } }))
  const routes = useQuery(orpc.routes.list.queryOptions({ input: { all: true } }))
  const above = (
    <Link to="/providers" search={keepScope}>
      Providers
    </Link>
  )
  // Wait for the routes, so as not to claim that no route uses the provider.
  if (provider.data === undefined || routes.isPending)
    return (
      <Page title={name} above={above}>
        {provider.error ? null : <Loading />}
        {provider.error && faultOf(provider.error).code === 'not_found' ? (
          <Empty title={`No provider is named ${name}`} action={above} command="spgw providers list">
            The name may be misspelled, or the provider has been removed. Requests keep the name of a removed provider.
          </Empty>
        ) : (
          <QueryFault of={provider} />
        )}
      </Page>
    )
  const leading = (routes.data ?? []).filter((route) => usesProvider(route, provider.data.name))
  return <ProviderView provider={provider.data} routes={leading} above={above} />
}

function ProviderView({ provider, routes, above }: { provider: Provider; routes: readonly Route[]; above: ReactNode }) {
  const [panel, setPanel] = usePanel(['edit', 'check'])
  const close = () => setPanel(null)
  const navigate = useNavigate()
  const toList = () => void navigate({ to: '/providers', search: keepScope })
  return (
    <Page
      title={provider.name}
      above={above}
      beside={<ProviderState provider={provider} />}
      actions={<Actions provider={provider} routes={routes} onPanel={setPanel} onRemoved={toList} />}
    >
      {provider.active && (provider.state === 'failing' || provider.state === 'recovering') ? (
        <Failing provider={provider} />
      ) : null}
      <ManagedNotice owned={provider.owned} />
      {provider.base_url === null ? null : <ProviderAttempts name={provider.name} />}
      <div className="sections">
        <ProviderHealth provider={provider} />
        <AccountLimits provider={provider} />
        <ProviderRoutes provider={provider} routes={routes} />
        <ProviderSettings provider={provider} />
        {provider.kind === 'demo' || provider.base_url === null ? null : <ProviderCredentials provider={provider} />}
        {provider.base_url === null ? null : <ProviderRevisions provider={provider} />}
        <ProviderModels provider={provider} />
      </div>
      <CheckDialog provider={provider} open={panel === 'check'} onClose={close} />
      <Dialog open={panel === 'edit'} title={`Edit ${provider.name}`} onClose={close}>
        <EditProvider
          provider={provider}
          onDone={(name) => {
            close()
            if (name !== provider.name) void navigate({ to: '/providers/$name', params: { name }, search: keepScope })
          }}
          onCancel={close}
        />
      </Dialog>
    </Page>
  )
}

function Failing({ provider }: { provider: Provider }) {
  return (
    <div className={`notice notice-${provider.state === 'failing' ? 'bad' : 'warning'}`} role="alert">
      <div className="grow">
        <p className="notice-title">
          {provider.state === 'failing' ? 'Failing' : 'Recovering'}
          {provider.state_since === null ? null : (
            <>
              {' '}
              <Since at={provider.state_since} />
            </>
          )}
          {provider.state === 'failing' ? ': no requests are sent to this provider.' : ': trial requests are allowed.'}
        </p>
        <p>{provider.state_reason}</p>
        <p className="small">
          The gateway checks it again every 30 s to 5 min until it recovers.{' '}
          <Link
            to="/requests"
            search={(before) => ({ ...keepScope(before), provider: provider.name, errors: 'true', since: '1h' })}
          >
            Show the failed requests
          </Link>
        </p>
      </div>
    </div>
  )
}

interface ActionsProps {
  provider: Provider
  routes: readonly Route[]
  onPanel(panel: 'edit' | 'check'): void
  onRemoved(): void
}

function Actions({ provider, routes, onPanel, onRemoved }: ActionsProps) {
  const may = useMay('providers.edit')
  const { name, active } = provider
  const environments = useQuery({ ...orpc.environments.list.queryOptions({ input: { all: true } }), enabled: may })
  if (!may) return null
  const defaults = (environments.data ?? []).filter((environment) => isDefaultOf(environment, name))
  return (
    <>
      {provider.kind === 'demo' ? null : (
        <Button icon={<RefreshCw size={16} aria-hidden="true" />} onClick={() => onPanel('check')}>
          Check now
        </Button>
      )}
      <Button icon={<Pencil size={16} aria-hidden="true" />} onClick={() => onPanel('edit')}>
        Edit
      </Button>
      <OperationButton
        operation={active ? 'providers.deactivate' : 'providers.activate'}
        input={{ name }}
        name={name}
        icon={active ? <PowerOff size={16} aria-hidden="true" /> : <Power size={16} aria-hidden="true" />}
        done={active ? `Provider "${name}" deactivated` : `Provider "${name}" activated`}
        {...(active
          ? {
              consequence: <DeactivationConsequence name={name} routes={routes} />,
              undo: { operation: 'providers.activate', input: { name }, done: `Provider "${name}" is active again` },
            }
          : {})}
      >
        {active ? 'Deactivate' : 'Activate'}
      </OperationButton>
      <OperationButton
        operation="providers.remove"
        input={{ name }}
        name={name}
        icon={<Trash2 size={16} aria-hidden="true" />}
        done={`Provider "${name}" removed`}
        onDone={onRemoved}
        consequence={<RemovalConsequence provider={provider} />}
        owned={provider.owned}
        {...(routes.length + defaults.length === 0
          ? {}
          : { refusal: <RemovalRefusal name={name} routes={routes} defaults={defaults} /> })}
      >
        Remove
      </OperationButton>
    </>
  )
}

function DeactivationConsequence({ name, routes }: { name: string; routes: readonly Route[] }) {
  const used = routes.filter(({ enabled }) => enabled)
  if (used.length === 0) return <p>No enabled route uses it, so no requests are affected.</p>
  return (
    <div className="stack-tight">
      <p>No more requests are sent to it until it is activated again. Its settings are kept.</p>
      <ul className="bullets">
        {used.map((route) => (
          <li key={route.id}>
            <b>{route.model}</b> in {route.project}/{route.environment ?? 'all environments'}{' '}
            {describeLoss(route, name)}
          </li>
        ))}
      </ul>
    </div>
  )
}

function RemovalConsequence({ provider: { credentials, revision } }: { provider: Provider }) {
  return (
    <p>
      No route uses it. This permanently deletes {pluralize(credentials.length, 'credential')} and{' '}
      {pluralize(revision, 'revision')}. Requests keep its name.
    </p>
  )
}

/** Runs a check whenever it is opened. */
function CheckDialog({ provider, open, onClose }: { provider: Provider; open: boolean; onClose(): void }) {
  return (
    <Dialog open={open} title={`Check ${provider.name}`} onClose={onClose}>
      <RunningCheck name={provider.name} />
    </Dialog>
  )
}

function RunningCheck({ name }: { name: string }) {
  const [check, setCheck] = useState<Check | null>(null)
  const { call, fault } = useOperation('providers.check')
  const begun = useRef(false)
  useEffect(() => {
    if (begun.current) return
    begun.current = true
    void call({ name }).then((answer) => setCheck(answer as Check | null))
  }, [call, name])
  if (fault !== null)
    return (
      <div className="notice notice-bad" role="alert">
        <p>
          {fault.message} {fault.hint}
        </p>
      </div>
    )
  return (
    <>
      <CheckList outcome={check === null ? null : { ...check, models: check.models.length }} />
      {check === null ? null : <PoolCheck credentials={check.credentials} />}
    </>
  )
}
