import { createRootRoute, createRoute, redirect } from '@tanstack/react-router'
import { queries } from '../client/queries.ts'
import type { ScopeSearch } from '../session/scope.ts'
import { sessionQuery } from '../session/session.ts'
import { textIn } from './address.ts'
import { Layout } from './layout.tsx'

export const rootRoute = createRootRoute()

/** The parent of all routes that require a session. */
export const appRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'app',
  component: Layout,
  validateSearch: readScope,
  async beforeLoad({ location }) {
    const { operator } = await queries.ensureQueryData(sessionQuery)
    if (operator !== null) return
    const next = location.href
    throw redirect({ to: '/sign-in', search: next === '/' ? {} : { next } })
  },
})

function readScope(search: Record<string, unknown>): ScopeSearch {
  return { ...textIn(search, 'project'), ...textIn(search, 'environment') }
}
