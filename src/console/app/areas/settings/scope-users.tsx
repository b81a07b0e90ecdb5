import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { orpc } from '../../client/admin.ts'
import type { Key, Route } from '../outputs.ts'
import { pluralize } from '../units.ts'

export interface ScopeUsers {
  keys: readonly Key[]
  routes: readonly Route[]
}

/** What keeps a project, or one of its environments, from being removed. */
export function useScopeUsers(project: string, environment: string | null, enabled: boolean): ScopeUsers {
  const keys = useQuery({ ...orpc.keys.list.queryOptions({ input: { all: true } }), enabled })
  const routes = useQuery({ ...orpc.routes.list.queryOptions({ input: { all: true } }), enabled })
  const isHere = (row: { project: string; environment: string | null }) =>
    row.project === project && (environment === null || row.environment === environment)
  return {
    keys: (keys.data ?? []).filter((key) => isHere(key) && key.state !== 'revoked'),
    routes: (routes.data ?? []).filter(isHere),
  }
}

export function hasUsers({ keys, routes }: ScopeUsers): boolean {
  return keys.length + routes.length > 0
}

interface ScopeRefusalProps {
  /** `project search` */
  subject: string
  users: ScopeUsers
  scope: { project: string; environment?: string }
}

export function ScopeRefusal({ subject, users: { keys, routes }, scope }: ScopeRefusalProps) {
  return (
    <div className="stack-tight">
      <p>The {subject} cannot be removed while it has keys or routes. Revoke or remove them first:</p>
      <ul className="bullets">
        {keys.length === 0 ? null : (
          <li>
            <Link to="/keys" search={scope}>
              {pluralize(keys.length, 'key')}
            </Link>
            : {keys.map(({ name }) => name).join(', ')}
          </li>
        )}
        {routes.length === 0 ? null : (
          <li>
            <Link to="/routing" search={scope}>
              {pluralize(routes.length, 'route')}
            </Link>
            : {routes.map(({ model }) => model).join(', ')}
          </li>
        )}
      </ul>
    </div>
  )
}
