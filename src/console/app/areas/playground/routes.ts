import { createRoute } from '@tanstack/react-router'
import { appRoute } from '../../shell/app-route.ts'
import { lazyPage } from '../../shell/lazy-page.ts'

const page = createRoute({
  getParentRoute: () => appRoute,
  path: '/playground',
  component: lazyPage(() => import('./playground-page.tsx'), 'PlaygroundPage'),
})

export const playgroundRoutes = [page] as const
