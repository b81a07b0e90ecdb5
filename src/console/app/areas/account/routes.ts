import { createRoute } from '@tanstack/react-router'
import { appRoute } from '../../shell/app-route.ts'
import { lazyPage } from '../../shell/lazy-page.ts'

const page = createRoute({
  getParentRoute: () => appRoute,
  path: '/account',
  component: lazyPage(() => import('./account-page.tsx'), 'AccountPage'),
})

export const accountRoutes = [page] as const
