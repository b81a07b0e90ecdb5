import { createRoute } from '@tanstack/react-router'
import { appRoute } from '../../shell/app-route.ts'
import { lazyPage } from '../../shell/lazy-page.ts'
import { readPanel } from '../../shell/use-panel.ts'
import { type FindSearch, readFind } from '../find-search.ts'

/** `create`: a key is being made. */
export interface KeysSearch extends FindSearch {
  create?: string
}

const list = createRoute({
  getParentRoute: () => appRoute,
  path: '/keys',
  validateSearch: (search: Record<string, unknown>): KeysSearch => ({
    ...(search.create === undefined ? {} : { create: 'new' }),
    ...readFind(search),
  }),
  component: lazyPage(() => import('./keys-page.tsx'), 'KeysPage'),
})

const detail = createRoute({
  getParentRoute: () => appRoute,
  path: '/keys/$key',
  validateSearch: readPanel,
  component: lazyPage(() => import('./key-page.tsx'), 'KeyPage'),
})

export const keysRoutes = [list, detail] as const
