import { createRouter, Link } from '@tanstack/react-router'
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
import { Empty, FaultNotice } from './parts/index.ts'
import { parseSearch, writeSearch } from './shell/address.ts'
import { appRoute, rootRoute } from './shell/app-route.ts'
import { Loading } from './shell/page.tsx'

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
  ]),
])

export const router = createRouter({
  routeTree: tree,
  parseSearch,
  stringifySearch: writeSearch,
  defaultPreload: 'intent',
  scrollRestoration: true,
  defaultPendingComponent: () => <Loading />,
  defaultErrorComponent: ({ error, reset }) => (
    <div className="page">
      <FaultNotice error={error} onRetry={reset} />
    </div>
  ),
  defaultNotFoundComponent: () => (
    <div className="page">
      <Empty title="Page not found" action={<Link to="/">Go to Overview</Link>} />
    </div>
  ),
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
