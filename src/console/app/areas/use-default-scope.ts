import { useQuery } from '@tanstack/react-query'
import { orpc } from '../client/admin.ts'
import { type Scope, useScope } from '../session/scope.ts'
import { useMayCall } from '../session/session.ts'

/** Where the operation makes something new: the scope of the address as far as one may, else the first place where one may. */
export function useDefaultScope(operation: string): Scope['defaultScope'] {
  const { defaultScope } = useScope()
  const may = useMayCall()
  const { data = [] } = useQuery(orpc.projects.list.queryOptions({ input: {} }))
  const able = data.filter(({ name }) => may(operation, name))
  const project = able.find(({ name }) => name === defaultScope.project) ?? able[0]
  if (project === undefined) return defaultScope
  const { name, environments } = project
  const keeps = environments.includes(defaultScope.environment)
  return {
    project: name,
    environment: keeps ? defaultScope.environment : (environments[0] ?? defaultScope.environment),
  }
}
