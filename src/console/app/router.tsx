import { createRoute, createRouter } from '@tanstack/react-router'
import { accountRoutes } from './areas/account/routes.ts'
import { keysRoutes } from './areas/keys/routes.ts'
import { operationsRoutes } from './areas/operations/routes.ts'
import { overviewRoutes } from './areas/overview/routes.ts'
import { playgroundRoutes } from './areas/playground/routes.ts'
import { providersRoutes } from './areas/providers/routes.ts'
import { requestsRoutes } from './areas/requests/routes.ts'
import { routingRoutes } from './areas/routing/routes.ts'
import { settingsRoutes } from './areas/settings/routes.ts'
import { signInRoutes } from './areas/sign-in/routes.ts'
import { parseSearch, writeSearch } from './shell/address.ts'
import { appRoute, rootRoute } from './shell/app-route.ts'
import { NotFoundPage } from './shell/not-found.tsx'
import { Loading } from './shell/page.tsx'
import { PageFault } from './shell/page-fault.tsx'

/** Whatever no other route has: within the app, so that rail and header stay. */
const notFound = createRoute({ getParentRoute: () => appRoute, path: '$', component: NotFoundPage })

const tree = rootRoute.addChildren([
  ...signInRoutes,
  appRoute.addChildren([
    ...overviewRoutes,
    ...providersRoutes,
    ...routingRoutes,
    ...keysRoutes,
    ...requestsRoutes,
    ...playgroundRoutes,
    ...operationsRoutes,
    ...settingsRoutes,
    ...accountRoutes,
    notFound,
  ]),
])

export const router = createRouter({
  routeTree: tree,
  parseSearch,
  stringifySearch: writeSearch,
  defaultPreload: 'intent',
  scrollRestoration: true,
  defaultPendingComponent: () => (
    <div className="page">
      <Loading />
    </div>
  ),
  defaultErrorComponent: PageFault,
  defaultNotFoundComponent: NotFoundPage,
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
