import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { Pencil, Power, PowerOff, RefreshCw, Trash2 } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { orpc } from '../../client/admin.ts'
import { Button, Dialog, FaultNotice, OperationButton, useOperation } from '../../parts/index.ts'
import { useMay } from '../../session/session.ts'
import { keepScope } from '../../shell/keys.ts'
import { Loading, Page } from '../../shell/page.tsx'
import { ManagedNotice } from '../managed-notice.tsx'
import type { Check, Provider, Route } from '../outputs.ts'
import { pluralize } from '../units.ts'
import { CheckList, PoolCheck } from './check-list.tsx'
import { EditProvider } from './edit-provider.tsx'
import { ProviderState } from './provider-card.tsx'
import { ProviderCredentials } from './provider-credentials.tsx'
import { ProviderHealth } from './provider-health.tsx'
import { ProviderModels } from './provider-models.tsx'
import { ProviderRevisions } from './provider-revisions.tsx'
import { ProviderRoutes } from './provider-routes.tsx'
import { ProviderSettings } from './provider-settings.tsx'

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
        {provider.error ? <FaultNotice error={provider.error} onRetry={() => void provider.refetch()} /> : <Loading />}
      </Page>
    )
  const leading = (routes.data ?? []).filter(({ targets }) =>
    targets.some((target) => target.provider === provider.data.name),
  )
  return <ProviderView provider={provider.data} routes={leading} above={above} />
}

function ProviderView({ provider, routes, above }: { provider: Provider; routes: readonly Route[]; above: ReactNode }) {
  const [editing, setEditing] = useState(false)
  const navigate = useNavigate()
  const toList = () => void navigate({ to: '/providers', search: keepScope })
  return (
    <Page
      title={provider.name}
      above={above}
      beside={<ProviderState provider={provider} />}
      actions={<Actions provider={provider} routes={routes} onEdit={() => setEditing(true)} onRemoved={toList} />}
    >
      {provider.active && provider.state === 'failing' ? <Failing provider={provider} /> : null}
      <ManagedNotice owned={provider.owned} />
      <div className="sections">
        <ProviderSettings provider={provider} />
        <ProviderHealth provider={provider} />
        {provider.kind === 'demo' || provider.base_url === null ? null : <ProviderCredentials provider={provider} />}
        <ProviderRoutes provider={provider} routes={routes} />
        {provider.base_url === null ? null : <ProviderRevisions provider={provider} />}
        <ProviderModels provider={provider} />
      </div>
      <Dialog open={editing} title={`Edit ${provider.name}`} onClose={() => setEditing(false)}>
        <EditProvider
          provider={provider}
          onDone={(name) => {
            setEditing(false)
            if (name !== provider.name) void navigate({ to: '/providers/$name', params: { name }, search: keepScope })
          }}
          onCancel={() => setEditing(false)}
        />
      </Dialog>
    </Page>
  )
}

function Failing({ provider }: { provider: Provider }) {
  return (
    <div className="notice notice-bad" role="alert">
      <div className="grow">
        <p className="notice-title">Failing: no requests are sent to this provider.</p>
        <p>{provider.state_reason}</p>
        <p className="small">The gateway checks it again every 30 s to 5 min until it recovers.</p>
      </div>
    </div>
  )
}

interface ActionsProps {
  provider: Provider
  routes: readonly Route[]
  onEdit(): void
  onRemoved(): void
}

function Actions({ provider, routes, onEdit, onRemoved }: ActionsProps) {
  const may = useMay('providers.edit')
  const { name, active } = provider
  if (!may) return null
  return (
    <>
      <CheckNow provider={provider} />
      <Button icon={<Pencil size={16} aria-hidden="true" />} onClick={onEdit}>
        Edit
      </Button>
      <OperationButton
        operation={active ? 'providers.deactivate' : 'providers.activate'}
        input={{ name }}
        name={name}
        icon={active ? <PowerOff size={16} aria-hidden="true" /> : <Power size={16} aria-hidden="true" />}
        done={active ? `Provider "${name}" deactivated` : `Provider "${name}" activated`}
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
        consequence={<RemovalConsequence provider={provider} routes={routes} />}
      >
        Remove
      </OperationButton>
    </>
  )
}

function RemovalConsequence({ provider, routes }: { provider: Provider; routes: readonly Route[] }) {
  const { credentials, revision } = provider
  const lost = `This permanently deletes ${pluralize(credentials.length, 'credential')} and ${pluralize(revision, 'revision')}. Requests keep its name.`
  if (routes.length === 0) return <p>No route uses it. {lost}</p>
  return (
    <>
      <p className="notice notice-warning">
        Used by {pluralize(routes.length, 'route')}: {routes.map(({ model }) => model).join(', ')}. Remove it from{' '}
        {routes.length === 1 ? 'that route' : 'those routes'} first.
      </p>
      <p>{lost}</p>
    </>
  )
}

function CheckNow({ provider }: { provider: Provider }) {
  const [open, setOpen] = useState(false)
  const [check, setCheck] = useState<Check | null>(null)
  const { call, busy, fault } = useOperation('providers.check')
  const run = async () => {
    setOpen(true)
    setCheck(null)
    setCheck((await call({ name: provider.name })) as Check | null)
  }
  if (provider.kind === 'demo') return null
  const outcome = check === null ? null : { ...check, models: check.models.length }
  return (
    <>
      <Button icon={<RefreshCw size={16} aria-hidden="true" />} busy={busy} onClick={() => void run()}>
        Check now
      </Button>
      <Dialog open={open} title={`Check ${provider.name}`} onClose={() => setOpen(false)}>
        {fault === null ? (
          <>
            <CheckList outcome={outcome} />
            {check === null ? null : <PoolCheck credentials={check.credentials} />}
          </>
        ) : (
          <div className="notice notice-bad" role="alert">
            <p>
              {fault.message} {fault.hint}
            </p>
          </div>
        )}
      </Dialog>
    </>
  )
}
