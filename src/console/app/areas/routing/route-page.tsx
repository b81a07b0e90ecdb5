import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { FlaskConical, Lightbulb, Pencil, Power, PowerOff, Trash2 } from 'lucide-react'
import type { ReactNode } from 'react'
import { formatMilliseconds } from '../../../../admin/contract/show-value.ts'
import { orpc } from '../../client/admin.ts'
import {
  Button,
  Dialog,
  Drawer,
  Empty,
  OperationButton,
  QueryFault,
  RecordView,
  StateBadge,
  Time,
  toast,
} from '../../parts/index.ts'
import { useScope } from '../../session/scope.ts'
import { useMay } from '../../session/session.ts'
import { keepScope } from '../../shell/keys.ts'
import { Loading, Page } from '../../shell/page.tsx'
import { usePanel } from '../../shell/use-panel.ts'
import { findResources } from '../find-resources.ts'
import { sampleModel } from '../lane-models.ts'
import { ManagedNotice } from '../managed-notice.tsx'
import type { Provider, Route } from '../outputs.ts'
import { describeTimeouts } from '../providers/provider-settings.tsx'
import { ResourceChoice } from '../resource-choice.tsx'
import { Section } from '../section.tsx'
import { ExplainRoute } from './explain-route.tsx'
import { RouteDrawing } from './route-drawing.tsx'
import { RouteForm, referenceTo } from './route-form.tsx'
import { RoutePrices } from './route-prices.tsx'
import { TryRoute } from './try-route.tsx'

export function RoutePage() {
  const { route: reference } = useParams({ from: '/app/routing/$route' })
  const scope = useScope()
  const routes = useQuery(orpc.routes.list.queryOptions({ input: { all: true } }))
  const providers = useQuery(orpc.providers.list.queryOptions({ input: {} }))
  const found = findResources(routes.data ?? [], reference, ({ model }) => model, scope)
  const [route] = found
  const above = (
    <Link to="/routing" search={keepScope}>
      Routing
    </Link>
  )
  if (route !== undefined && found.length === 1)
    return <RouteView key={route.id} route={route} providers={providers.data ?? []} above={above} />
  return (
    <Page title={reference} above={above}>
      {routes.isPending ? <Loading /> : null}
      <QueryFault of={routes} />
      {found.length > 1 ? (
        <ResourceChoice
          noun="route"
          name={reference}
          rows={found}
          rowKey={({ id }) => id}
          link={({ id, project, environment }) => (
            <Link to="/routing/$route" params={{ route: id }} search={keepScope} className="grow">
              {project}/{environment ?? 'all environments'}
            </Link>
          )}
        />
      ) : null}
      {routes.data !== undefined && found.length === 0 ? (
        <Empty title={`No route is for ${reference}`} action={above} command="spgw routes list --all">
          The model name may be misspelled, or the route has been removed.
        </Empty>
      ) : null}
    </Page>
  )
}

const panels = ['edit', 'test', 'explain'] as const
type Panel = (typeof panels)[number] | null

function RouteView({ route, providers, above }: { route: Route; providers: readonly Provider[]; above: ReactNode }) {
  const [panel, setPanel] = usePanel(panels)
  const traffic = useQuery({
    ...orpc.routes.traffic.queryOptions({ input: referenceTo(route) }),
    refetchInterval: 30_000,
  })
  const model = sampleModel(route, providers)
  const explained = useQuery({
    ...orpc.routes.explain.queryOptions({
      input: {
        model,
        project: route.project,
        ...(route.environment === null ? {} : { environment: route.environment }),
      },
    }),
    enabled: route.enabled,
    refetchInterval: 15_000,
  })
  const isThis = explained.data?.route?.id === route.id
  const close = () => setPanel(null)
  return (
    <Page
      title={route.model}
      above={above}
      beside={<StateBadge state={route.enabled ? 'enabled' : 'disabled'} />}
      actions={<Actions route={route} onPanel={setPanel} />}
    >
      {explained.data !== undefined && !isThis && explained.data.route !== null ? (
        <p className="notice notice-warning">
          Requests for {model} use the more specific route {explained.data.route.model} instead.
        </p>
      ) : null}
      <ManagedNotice owned={route.owned} />
      <RouteDrawing
        route={route}
        providers={providers}
        explanation={isThis ? explained.data : undefined}
        traffic={traffic.data ?? []}
      />
      <RouteSettings route={route} />
      <Dialog open={panel === 'edit'} title={`Edit route ${route.model}`} onClose={close}>
        <RouteForm
          providers={providers}
          route={route}
          defaultScope={{ project: route.project, environment: route.environment }}
          onCancel={close}
          onDone={() => {
            toast({ tone: 'good', title: 'Route updated' })
            close()
          }}
        />
      </Dialog>
      <Dialog open={panel === 'test'} title="Test route" onClose={close}>
        <TryRoute route={route} model={model} />
      </Dialog>
      <Drawer open={panel === 'explain'} title="Explain routing" onClose={close}>
        <ExplainRoute route={route} model={model} />
      </Drawer>
    </Page>
  )
}

function Actions({ route, onPanel }: { route: Route; onPanel(panel: Panel): void }) {
  const navigate = useNavigate()
  const mayEdit = useMay('routes.edit', route.project)
  const reference = referenceTo(route)
  return (
    <>
      <Button icon={<Lightbulb size={16} aria-hidden="true" />} onClick={() => onPanel('explain')}>
        Explain
      </Button>
      {mayEdit ? (
        <>
          <Button icon={<FlaskConical size={16} aria-hidden="true" />} onClick={() => onPanel('test')}>
            Test
          </Button>
          <Button icon={<Pencil size={16} aria-hidden="true" />} onClick={() => onPanel('edit')}>
            Edit
          </Button>
          <OperationButton
            // The question about the one ends with it, and does not become a question about the other.
            key={route.enabled ? 'disable' : 'enable'}
            operation={route.enabled ? 'routes.disable' : 'routes.enable'}
            input={reference}
            name={route.model}
            icon={route.enabled ? <PowerOff size={16} aria-hidden="true" /> : <Power size={16} aria-hidden="true" />}
            done={route.enabled ? `Route "${route.model}" disabled` : `Route "${route.model}" enabled`}
            {...(route.enabled
              ? {
                  consequence: <DisableConsequence route={route} />,
                  undo: { operation: 'routes.enable', input: reference, done: `Route "${route.model}" enabled again` },
                }
              : {})}
          >
            {route.enabled ? 'Disable' : 'Enable'}
          </OperationButton>
          <OperationButton
            operation="routes.remove"
            owned={route.owned}
            input={reference}
            name={route.model}
            icon={<Trash2 size={16} aria-hidden="true" />}
            done={`Route "${route.model}" removed`}
            onDone={() => void navigate({ to: '/routing', search: keepScope })}
            consequence={<RemovalConsequence route={route} />}
          >
            Remove
          </OperationButton>
        </>
      ) : null}
    </>
  )
}

function DisableConsequence({ route }: { route: Route }) {
  return (
    <p>
      Requests for <b>{route.model}</b> that no other route matches are rejected with <code>model_not_found</code> until
      the route is enabled again. Its settings are kept.
    </p>
  )
}

function RemovalConsequence({ route }: { route: Route }) {
  const where =
    route.environment === null ? `all environments of ${route.project}` : `${route.project}/${route.environment}`
  return (
    <p>
      Removes the route <b>{route.model}</b> in {where} with{' '}
      {route.targets.length === 1 ? 'its target' : `its ${route.targets.length} targets`}. The providers are kept.
    </p>
  )
}

function describeHedge({ hedge }: Route): string {
  if (hedge === null) return 'None'
  const silent = hedge.after === 'p95' ? 'longer than 95% of requests take (p95)' : hedge.after
  return `Asks a second target if the first is silent for ${silent}; at most ${hedge.share}% of requests`
}

function describeShadow({ shadow }: Route): string {
  return shadow === null ? 'None' : `${shadow} gets answered requests once more, as far as there is room`
}

/** The settings that the drawing does not show. */
export function RouteSettings({ route }: { route: Route }) {
  const {
    retries,
    fallback_on,
    timeouts,
    strict,
    echo_model,
    sticky,
    reasoning_text,
    fetch_media,
    cache_ms,
    keep_responses_ms,
    created_at,
    strategy,
  } = route
  return (
    <Section title="Settings">
      <RecordView
        entries={[
          { label: 'Strategy', value: strategy },
          { label: 'Retries', value: `${retries} per target` },
          {
            label: 'Fallback on',
            value: fallback_on.length === 0 ? 'Default: 408, 425, 429, 5xx, no response' : fallback_on.join(', '),
          },
          { label: 'Timeouts', value: describeTimeouts(timeouts) },
          {
            label: 'Strict',
            value: strict ? 'Yes, requests that would lose something in translation are rejected' : 'No',
          },
          { label: 'Model in answers', value: echo_model ? 'As the client asked for it' : 'As the provider says' },
          {
            label: 'Sticky',
            value: sticky ? 'Yes, prompts of 1,024 tokens or more go to the target that has them in its cache' : 'No',
          },
          { label: 'Hedging', value: describeHedge(route) },
          { label: 'Shadow', value: describeShadow(route) },
          { label: 'Reasoning in translated chat answers', value: reasoning_text ? 'Shown' : 'Hidden' },
          { label: 'Images by address', value: fetch_media ? 'Fetched for providers that do not' : 'Not fetched' },
          {
            label: 'Cache',
            value:
              cache_ms === null ? 'Off' : `The same request gets the same answer for ${formatMilliseconds(cache_ms)}`,
          },
          {
            label: 'Translated Responses',
            value: keep_responses_ms === null ? 'Not kept' : `Kept for ${formatMilliseconds(keep_responses_ms)}`,
          },
          { label: 'Price', value: <RoutePrices route={route} /> },
          { label: 'Added', value: <Time at={created_at} /> },
        ]}
      />
    </Section>
  )
}
