import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { appRoute } from '../../shell/app-route.ts'

const list = createRoute({
  getParentRoute: () => appRoute,
  path: '/routing',
  component: lazyRouteComponent(() => import('./routing-page.tsx'), 'RoutingPage'),
})

const detail = createRoute({
  getParentRoute: () => appRoute,
  path: '/routing/$route',
  component: lazyRouteComponent(() => import('./route-page.tsx'), 'RoutePage'),
})

export const routingRoutes = [list, detail] as const
