import { createRoute } from '@tanstack/react-router'
import { appRoute } from '../../shell/app-route.ts'
import { lazyPage } from '../../shell/lazy-page.ts'
import { readRequestsSearch } from './requests-search.ts'

const list = createRoute({
  getParentRoute: () => appRoute,
  path: '/requests',
  validateSearch: readRequestsSearch,
  component: lazyPage(() => import('./requests-page.tsx'), 'RequestsPage'),
})

const record = createRoute({
  getParentRoute: () => appRoute,
  path: '/requests/$id',
  component: lazyPage(() => import('./record-page.tsx'), 'RecordPage'),
})

export const requestsRoutes = [list, record] as const
