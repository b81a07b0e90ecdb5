import { useQuery } from '@tanstack/react-query'
import { orpc } from '../../client/admin.ts'
import { type ModelsByLane, modelsByLane } from '../lane-models.ts'

/** The models a key of this scope can use; null while loading. */
export function useScopeModels(scope: { project: string; environment: string }): ModelsByLane | null {
  const routes = useQuery(orpc.routes.list.queryOptions({ input: { all: true } }))
  const providers = useQuery(orpc.providers.list.queryOptions({ input: {} }))
  const kinds = useQuery(orpc.providers.kinds.queryOptions({ input: {} }))
  if (!routes.data || !providers.data || !kinds.data) return null
  return modelsByLane(scope, routes.data, providers.data, kinds.data)
}
