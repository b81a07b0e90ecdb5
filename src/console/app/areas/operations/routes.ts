import { createRoute } from '@tanstack/react-router'
import { appRoute } from '../../shell/app-route.ts'
import { lazyPage } from '../../shell/lazy-page.ts'

const list = createRoute({
  getParentRoute: () => appRoute,
  path: '/settings/operations',
  component: lazyPage(() => import('./operations-page.tsx'), 'OperationsPage'),
})

const one = createRoute({
  getParentRoute: () => appRoute,
  path: '/settings/operations/$operation',
  component: lazyPage(() => import('./operation-page.tsx'), 'OperationPage'),
})

export const operationsRoutes = [list, one] as const
