import { createRoute } from '@tanstack/react-router'
import { appRoute } from '../../shell/app-route.ts'
import { lazyPage } from '../../shell/lazy-page.ts'
import { readOverviewSearch } from './overview-search.ts'

const page = createRoute({
  getParentRoute: () => appRoute,
  path: '/',
  validateSearch: readOverviewSearch,
  component: lazyPage(() => import('./overview-page.tsx'), 'OverviewPage'),
})

export const overviewRoutes = [page] as const
