import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { escapeControls } from '../../../../admin/contract/show-value.ts'
import { orpc } from '../../client/admin.ts'
import {
  AddButton,
  DataTable,
  Empty,
  isLongTable,
  Missing,
  QueryFault,
  StateBadge,
  type TableColumn,
  Time,
  toast,
  UntrustedName,
} from '../../parts/index.ts'
import { stateLabel } from '../../parts/labels.ts'
import { inScope, useScope } from '../../session/scope.ts'
import { useMay } from '../../session/session.ts'
import { keepScope } from '../../shell/keys.ts'
import { Loading, Page } from '../../shell/page.tsx'
import { ScopeNote } from '../../shell/scope-note.tsx'
import { useListFilter } from '../list-filter.tsx'
import { NoProject } from '../no-project.tsx'
import type { Provider, Route } from '../outputs.ts'
import { ScopeLine, sharedNames } from '../scope-line.tsx'
import { shellQuote } from '../shell-quote.ts'
import { useDefaultScope } from '../use-default-scope.ts'
import { describeStrategy } from './route-drawing.tsx'
import { RouteForm } from './route-form.tsx'
import { RouteHour, type RouteHours, useRouteHours } from './route-hour.tsx'
import { stateOfTarget, type TargetState } from './target-state.ts'

export function RoutingPage() {
  const { add } = useSearch({ from: '/app/routing' })
  const may = useMay('routes.add')
  return add === undefined || !may ? <RouteList /> : <AddRoute provider={add} />
}

function RouteList() {
  const scope = useScope()
  const navigate = useNavigate()
  const may = useMay('routes.add')
  const routes = useQuery(orpc.routes.list.queryOptions({ input: scope.listInput }))
  const all = useQuery(orpc.routes.list.queryOptions({ input: { all: true } }))
  const providers = useQuery(orpc.providers.list.queryOptions({ input: {} }))
  const rows = (routes.data ?? []).filter((route) => inScope(scope, route))
  const filter = useListFilter(rows, 'routes', ({ model, project, environment, targets, enabled }) => [
    model,
    `${project}/${environment ?? 'all'}`,
    enabled ? 'enabled' : 'disabled',
    ...targets.map(nameOf),
  ])
  const hours = useRouteHours(rows, all.data)
  const isLong = isLongTable(rows)
  const add = may ? (
    <AddButton
      onClick={() => void navigate({ to: '/routing', search: (before) => ({ ...keepScope(before), add: 'choose' }) })}
    >
      Add route
    </AddButton>
  ) : null
  return (
    <Page
      fill={isLong}
      title="Routing"
      beside={<ScopeNote />}
      actions={
        <>
          <Link to="/routing/translation" search={keepScope}>
            What translation loses
          </Link>
          {rows.length === 0 ? null : add}
        </>
      }
    >
      {routes.isPending ? <Loading /> : null}
      <QueryFault of={routes} />
      {routes.data === undefined ? null : (
        <DataTable
          fill={isLong}
          name="routes"
          label="Routes"
          rows={filter.shown}
          columns={columnsFor(rows, providers.data ?? [], hours)}
          {...(filter.field === null ? {} : { tools: filter.field })}
          rowKey={({ id }) => id}
          onOpen={({ id }) => void navigate({ to: '/routing/$route', params: { route: id }, search: keepScope })}
          empty={
            filter.none ?? (
              <NoProject list="/routing">
                <NoRoute action={add} provider={providers.data?.[0]} />
              </NoProject>
            )
          }
        />
      )}
    </Page>
  )
}

function NoRoute({ action, provider }: { action: ReactNode; provider: Provider | undefined }) {
  const model = provider?.models[0]?.name ?? 'gpt-4o-mini'
  return (
    <Empty
      title="No routes yet"
      action={action}
      command={`spgw routes add ${shellQuote(model)} --provider ${provider?.name ?? 'openai'}`}
    >
      A route sends requests for a model, or for all models that match a pattern, to one or more providers.
    </Empty>
  )
}

const otherColumns = (hours: RouteHours): TableColumn<Route>[] => [
  {
    id: 'requests',
    title: 'Requests, 1 h',
    number: true,
    width: '118px',
    roomyOnly: true,
    cell: (route) => <RouteHour of={hours(route)} figure="requests" />,
  },
  {
    id: 'errors',
    title: 'Errors',
    number: true,
    width: '80px',
    wideOnly: true,
    cell: (route) => <RouteHour of={hours(route)} figure="errors" />,
  },
  {
    id: 'p95',
    title: 'p95',
    number: true,
    width: '88px',
    roomyOnly: true,
    cell: (route) => <RouteHour of={hours(route)} figure="p95" />,
  },
  {
    id: 'strategy',
    title: 'Strategy',
    width: '180px',
    cell: (route) => <span className="truncate">{describeStrategy(route)}</span>,
    wideOnly: true,
    optional: true,
  },
  {
    id: 'scope',
    title: 'Scope',
    width: '160px',
    middleWidth: '158px',
    wideOnly: true,
    sort: ({ project, environment }) => `${project}/${environment ?? ''}`,
    cell: ({ project, environment }) => (
      <span className="truncate">
        {project}/{environment ?? 'all'}
      </span>
    ),
  },
  {
    id: 'enabled',
    title: 'State',
    width: '110px',
    wideOnly: true,
    cell: ({ enabled }) => <StateBadge state={enabled ? 'enabled' : 'disabled'} />,
  },
  {
    id: 'created',
    title: 'Added',
    width: '110px',
    optional: true,
    cell: ({ created_at }) => <Time at={created_at} />,
  },
]

function columnsFor(rows: readonly Route[], providers: readonly Provider[], hours: RouteHours): TableColumn<Route>[] {
  const shared = sharedNames(rows.map(({ model }) => model))
  return [
    {
      id: 'model',
      title: 'Model',
      width: '22%',
      middleWidth: '25%',
      sort: ({ model }) => model,
      narrowWidth: '38%',
      cell: ({ id, model, enabled, project, environment }) => (
        <>
          <Link
            to="/routing/$route"
            params={{ route: id }}
            search={keepScope}
            className="whole-name"
            title={escapeControls(model)}
          >
            <UntrustedName text={model} />
          </Link>
          {shared.has(model) ? <ScopeLine project={project} environment={environment} /> : null}
          {enabled ? null : (
            <span className="second-line">
              <StateBadge state="disabled" />
            </span>
          )}
        </>
      ),
    },
    { id: 'targets', title: 'Targets', cell: (route) => <Targets route={route} providers={providers} /> },
    ...otherColumns(hours),
  ]
}

/** In the order in which they are tried, each with its state. */
function Targets({ route, providers }: { route: Route; providers: readonly Provider[] }) {
  if (route.targets.length === 0) return <Missing />
  const keyed = route.targets.map((target, index) => ({ target, key: `${index}-${target.provider}` }))
  return (
    <span className="row target-list">
      {keyed.map(({ target, key }, index) => {
        const state = stateOfTarget(
          target,
          route.model,
          providers.find(({ name }) => name === target.provider),
          undefined,
        )
        return (
          <span key={key} className="target-chip">
            {index === 0 ? null : <span className="quiet">{route.strategy === 'priority' ? 'then' : '+'} </span>}
            <span className={`target-state target-${state.tone}`} title={titleOf(state)}>
              {providers.length === 0 ? null : <StateBadge state={state.word} tone={state.tone} bare />}
              <UntrustedName text={nameOf(target)} />
            </span>
          </span>
        )
      })}
    </span>
  )
}

function nameOf({ provider, upstream_model: upstream }: Route['targets'][number]): string {
  return upstream === null ? provider : `${provider}:${upstream}`
}

function titleOf({ word, reason }: TargetState): string {
  return reason === null ? stateLabel(word) : `${stateLabel(word)}: ${reason}`
}

function AddRoute({ provider }: { provider: string }) {
  const defaultScope = useDefaultScope('routes.add')
  const navigate = useNavigate()
  const providers = useQuery(orpc.providers.list.queryOptions({ input: {} }))
  const above = (
    <Link to="/routing" search={keepScope}>
      Routing
    </Link>
  )
  return (
    <Page title="Add route" above={above}>
      <QueryFault of={providers} />
      {providers.data?.length === 0 ? (
        <Empty
          title="Add a provider first"
          action={
            <Link to="/providers" search={(before) => ({ ...keepScope(before), add: 'choose' })}>
              Add provider
            </Link>
          }
          command="spgw providers add openai --kind openai --credential-stdin"
        />
      ) : null}
      {providers.data === undefined || providers.data.length === 0 ? null : (
        <RouteForm
          providers={providers.data}
          route={null}
          provider={provider}
          defaultScope={defaultScope}
          onCancel={() => void navigate({ to: '/routing', search: keepScope })}
          onDone={(route) => {
            toast({ tone: 'good', title: `Route "${route.model}" added` })
            void navigate({ to: '/routing/$route', params: { route: route.id }, search: keepScope })
          }}
        />
      )}
    </Page>
  )
}
