import { Link } from '@tanstack/react-router'
import { Empty, StateBadge, UntrustedText } from '../../parts/index.ts'
import { keepScope } from '../../shell/keys.ts'
import type { Provider, Route } from '../outputs.ts'
import { Section } from '../section.tsx'
import { shellQuote } from '../shell-quote.ts'

export function ProviderRoutes({ provider, routes }: { provider: Provider; routes: readonly Route[] }) {
  const model = provider.models[0]?.name ?? 'MODEL'
  return (
    <Section title="Used by routes" actions={<span className="quiet number">{routes.length}</span>}>
      {routes.length === 0 ? (
        <Empty
          title="Not used by any route"
          action={
            <Link to="/routing" search={(before) => ({ ...keepScope(before), add: provider.name })}>
              Add route
            </Link>
          }
          command={`spgw routes add ${shellQuote(model)} --provider ${provider.name}`}
        >
          Requests reach a provider only through a route.
        </Empty>
      ) : (
        <ul className="list">
          {routes.map((route) => (
            <li key={route.id} className="list-row">
              <Link to="/routing/$route" params={{ route: route.id }} search={keepScope} className="grow truncate">
                <UntrustedText text={route.model} />
              </Link>
              <span className="small quiet">
                {route.project}/{route.environment ?? 'all'}
              </span>
              {route.enabled ? null : <StateBadge state="disabled" />}
            </li>
          ))}
        </ul>
      )}
    </Section>
  )
}
