import { createRoute } from '@tanstack/react-router'
import { appRoute } from '../../shell/app-route.ts'
import { lazyPage } from '../../shell/lazy-page.ts'
import { readPanel } from '../../shell/use-panel.ts'
import { type FindSearch, readFind } from '../find-search.ts'

/** `add`: something is being added; its value is the kind, or `kind/preset`, that was chosen (`choose`: none yet). */
export interface ProvidersSearch extends FindSearch {
  add?: string
}

const list = createRoute({
  getParentRoute: () => appRoute,
  path: '/providers',
  validateSearch: (search: Record<string, unknown>): ProvidersSearch => ({
    ...(search.add === undefined ? {} : { add: String(search.add) }),
    ...readFind(search),
  }),
  component: lazyPage(() => import('./providers-page.tsx'), 'ProvidersPage'),
})

const detail = createRoute({
  getParentRoute: () => appRoute,
  path: '/providers/$name',
  validateSearch: readPanel,
  component: lazyPage(() => import('./provider-page.tsx'), 'ProviderPage'),
})

export const providersRoutes = [list, detail] as const
