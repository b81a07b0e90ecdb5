import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { appRoute } from '../../shell/app-route.ts'

const list = createRoute({
  getParentRoute: () => appRoute,
  path: '/settings/operations',
  component: lazyRouteComponent(() => import('./operations-page.tsx'), 'OperationsPage'),
})

const one = createRoute({
  getParentRoute: () => appRoute,
  path: '/settings/operations/$operation',
  component: lazyRouteComponent(() => import('./operation-page.tsx'), 'OperationPage'),
})

export const operationsRoutes = [list, one] as const
