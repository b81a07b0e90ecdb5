import { createRoute } from '@tanstack/react-router'
import { appRoute } from '../../shell/app-route.ts'
import { lazyPage } from '../../shell/lazy-page.ts'
import { readPanel } from '../../shell/use-panel.ts'

/** `add`: something is being added; its value is the kind, or `kind/preset`, that was chosen (`choose`: none yet). */
export interface ProvidersSearch {
  add?: string
}

const list = createRoute({
  getParentRoute: () => appRoute,
  path: '/providers',
  validateSearch: ({ add }: Record<string, unknown>): ProvidersSearch =>
    add === undefined ? {} : { add: String(add) },
  component: lazyPage(() => import('./providers-page.tsx'), 'ProvidersPage'),
})

const detail = createRoute({
  getParentRoute: () => appRoute,
  path: '/providers/$name',
  validateSearch: readPanel,
  component: lazyPage(() => import('./provider-page.tsx'), 'ProviderPage'),
})

export const providersRoutes = [list, detail] as const
