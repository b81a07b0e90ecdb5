import { useQuery } from '@tanstack/react-query'
import { orpc } from '../client/admin.ts'
import { type Scope, useScope } from '../session/scope.ts'
import { useMayCall } from '../session/session.ts'

/** Where the operation makes something new: the scope of the address as far as one may, else the first place where one may. */
export function useHome(operation: string): Scope['home'] {
  const { home } = useScope()
  const may = useMayCall()
  const { data = [] } = useQuery(orpc.projects.list.queryOptions({ input: {} }))
  const able = data.filter(({ name }) => may(operation, name))
  const project = able.find(({ name }) => name === home.project) ?? able[0]
  if (project === undefined) return home
  const { name, environments } = project
  const keeps = environments.includes(home.environment)
  return { project: name, environment: keeps ? home.environment : (environments[0] ?? home.environment) }
}
