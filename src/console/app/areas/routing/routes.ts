import { createRoute } from '@tanstack/react-router'
import { appRoute } from '../../shell/app-route.ts'
import { lazyPage } from '../../shell/lazy-page.ts'
import { readPanel } from '../../shell/use-panel.ts'
import { type FindSearch, readFind } from '../find-search.ts'
import { readFormats } from './formats.ts'

/** `add`: a route is being added; its value is the provider that it should lead to (`choose`: none yet). */
export interface RoutingSearch extends FindSearch {
  add?: string
}

const list = createRoute({
  getParentRoute: () => appRoute,
  path: '/routing',
  validateSearch: (search: Record<string, unknown>): RoutingSearch => ({
    ...(search.add === undefined ? {} : { add: String(search.add) }),
    ...readFind(search),
  }),
  component: lazyPage(() => import('./routing-page.tsx'), 'RoutingPage'),
})

const detail = createRoute({
  getParentRoute: () => appRoute,
  path: '/routing/$route',
  validateSearch: readPanel,
  component: lazyPage(() => import('./route-page.tsx'), 'RoutePage'),
})

/** `from`, `to`: the formats that are compared. */
const formats = createRoute({
  getParentRoute: () => appRoute,
  path: '/routing/translation',
  validateSearch: readFormats,
  component: lazyPage(() => import('./translation-page.tsx'), 'TranslationPage'),
})

export const routingRoutes = [list, detail, formats] as const
