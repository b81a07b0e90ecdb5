import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { appRoute } from '../../shell/app-route.ts'

const page = createRoute({
  getParentRoute: () => appRoute,
  path: '/playground',
  component: lazyRouteComponent(() => import('./playground-page.tsx'), 'PlaygroundPage'),
})

export const playgroundRoutes = [page] as const
