import { createRoute } from '@tanstack/react-router'
import { type OidcFailure, oidcFailures } from '../../../../core/oidc-failure.ts'
import { textIn } from '../../shell/address.ts'
import { rootRoute } from '../../shell/app-route.ts'
import { lazyPage } from '../../shell/lazy-page.ts'

export interface SignInSearch {
  /** Where to go afterwards. */
  next?: string
  /** Why the way through another service failed. */
  error?: OidcFailure | undefined
  /** The session ended while a page stood open. */
  ended?: true
}

const signIn = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sign-in',
  validateSearch: (search: Record<string, unknown>): SignInSearch => ({
    ...textIn(search, 'next'),
    // Named even where there is none: what is left out stays as it stands in the address.
    error: oidcFailures.find((known) => known === search.error),
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
