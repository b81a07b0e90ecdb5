import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { appRoute } from '../../shell/app-route.ts'

/** `create`: a key is being made. */
export interface KeysSearch {
  create?: string
}

const list = createRoute({
  getParentRoute: () => appRoute,
  path: '/keys',
  validateSearch: ({ create }: Record<string, unknown>): KeysSearch => (create === undefined ? {} : { create: 'new' }),
  component: lazyRouteComponent(() => import('./keys-page.tsx'), 'KeysPage'),
})

const detail = createRoute({
  getParentRoute: () => appRoute,
  path: '/keys/$key',
  component: lazyRouteComponent(() => import('./key-page.tsx'), 'KeyPage'),
})

export const keysRoutes = [list, detail] as const
