import { createRoute } from '@tanstack/react-router'
import { textIn } from '../../shell/address.ts'
import { rootRoute } from '../../shell/app-route.ts'
import { lazyPage } from '../../shell/lazy-page.ts'

export interface SignInSearch {
  /** Where to go afterwards. */
  next?: string
  /** Why the way through another service failed. */
  error?: string
  /** The session ended while a page stood open. */
  ended?: true
}

const signIn = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sign-in',
  validateSearch: (search: Record<string, unknown>): SignInSearch => ({
    ...textIn(search, 'next'),
    ...textIn(search, 'error'),
    ...(search.ended === true ? { ended: true } : {}),
  }),
  component: lazyPage(() => import('./sign-in-page.tsx'), 'SignInPage'),
})

const link = createRoute({
  getParentRoute: () => rootRoute,
  path: '/link/$token',
  component: lazyPage(() => import('./link-page.tsx'), 'LinkPage'),
})

export const signInRoutes = [signIn, link] as const
