import { createRoute } from '@tanstack/react-router'
import { appRoute } from '../../shell/app-route.ts'
import { lazyPage } from '../../shell/lazy-page.ts'

const page = createRoute({
  getParentRoute: () => appRoute,
  path: '/settings',
  component: lazyPage(() => import('./settings-page.tsx'), 'SettingsPage'),
})

const section = createRoute({
  getParentRoute: () => appRoute,
  path: '/settings/$section',
  component: lazyPage(() => import('./settings-page.tsx'), 'SettingsPage'),
})

export const settingsRoutes = [page, section] as const
