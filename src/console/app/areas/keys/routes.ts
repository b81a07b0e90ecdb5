import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { appRoute } from '../../shell/app-route.ts'

const list = createRoute({
  getParentRoute: () => appRoute,
  path: '/keys',
  component: lazyRouteComponent(() => import('./keys-page.tsx'), 'KeysPage'),
})

const detail = createRoute({
  getParentRoute: () => appRoute,
  path: '/keys/$key',
  component: lazyRouteComponent(() => import('./key-page.tsx'), 'KeyPage'),
})

export const keysRoutes = [list, detail] as const
