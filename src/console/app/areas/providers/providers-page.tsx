import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { orpc } from '../../client/admin.ts'
import { AddButton, Empty, QueryFault } from '../../parts/index.ts'
import { useMay } from '../../session/session.ts'
import { keepScope } from '../../shell/keys.ts'
import { Loading, Page } from '../../shell/page.tsx'
import { useListFilter } from '../list-filter.tsx'
import type { Provider, Route } from '../outputs.ts'
import { AddProvider } from './add-provider.tsx'
import { ProviderCard, useProviderTraffic } from './provider-card.tsx'

export function ProvidersPage() {
  const { add } = useSearch({ from: '/app/providers' })
  const may = useMay('providers.add')
  return add === undefined || !may ? <ProviderList /> : <AddProvider chosen={add} />
}

function ProviderList() {
  const providers = useQuery(orpc.providers.list.queryOptions({ input: {} }))
  const may = useMay('providers.add')
  const navigate = useNavigate()
  const add = () => void navigate({ to: '/providers', search: (before) => ({ ...keepScope(before), add: 'choose' }) })
  const action = may ? <AddButton onClick={add}>Add provider</AddButton> : null
  return (
    <Page title="Providers" actions={providers.data?.length === 0 ? null : action}>
      {providers.isPending ? <Loading /> : null}
      <QueryFault of={providers} />
      {providers.data === undefined ? null : providers.data.length === 0 ? (
        <NoProvider action={action} />
      ) : (
        <Cards providers={providers.data} />
      )}
    </Page>
  )
}

function NoProvider({ action }: { action: ReactNode }) {
  return (
    <Empty
      title="No providers yet"
      action={action}
      command="spgw providers add openai --kind openai --credential-stdin"
    >
      A provider is where requests are sent: OpenAI, Anthropic, Gemini, any OpenAI-compatible server, or the built-in
      demo, which needs no account.
    </Empty>
  )
}

function Cards({ providers }: { providers: readonly Provider[] }) {
  const kinds = useQuery(orpc.providers.kinds.queryOptions({ input: {} }))
  const routes = useQuery(orpc.routes.list.queryOptions({ input: { all: true } }))
  const traffic = useProviderTraffic()
  const filter = useListFilter(providers, 'providers', ({ name, kind, base_url, state }) => [
    name,
    kind,
    base_url,
    state,
  ])
  return (
    <>
      {filter.field}
      {filter.shown.length === 0 ? filter.none : null}
      <ul className="cards">
        {filter.shown.map((provider) => (
          <ProviderCard
            key={provider.id}
            provider={provider}
            kindTitle={kinds.data?.find(({ kind }) => kind === provider.kind)?.title ?? provider.kind}
            traffic={traffic.get(provider.name)}
            routes={routes.data === undefined ? null : modelsTo(provider.name, routes.data)}
          />
        ))}
      </ul>
    </>
  )
}

export function modelsTo(name: string, routes: readonly Route[]): string[] {
  return routes.filter(({ targets }) => targets.some(({ provider }) => provider === name)).map(({ model }) => model)
}
