import { useQuery } from '@tanstack/react-query'
import { type admin, orpc } from '../../client/admin.ts'
import { useTraffic } from '../../live/traffic.ts'

export type StepName = 'provider' | 'route' | 'key' | 'request' | 'see'

export interface SetUp {
  /** Signed in is the first of them, and done. */
  done: Record<StepName, boolean>
  /** What comes next; null: all is done. */
  next: StepName | null
  providers: Awaited<ReturnType<typeof admin.providers.list>>
  routes: Awaited<ReturnType<typeof admin.routes.list>>
  /** The first request that was seen. */
  requestId: string | null
}

const order: StepName[] = ['provider', 'route', 'key', 'request', 'see']

/** The progress of the setup; null: not known yet. It also follows steps done elsewhere. */
export function useSetUp(): SetUp | null {
  const providers = useQuery(orpc.providers.list.queryOptions({ input: {} }))
  const routes = useQuery(orpc.routes.list.queryOptions({ input: { all: true } }))
  const keys = useQuery(orpc.keys.list.queryOptions({ input: { all: true } }))
  const latest = useQuery(orpc.requests.list.queryOptions({ input: { limit: 1 } }))
  useTraffic(() => void latest.refetch())
  if (!providers.data || !routes.data || !keys.data || !latest.data) return null
  const requestId = latest.data[0]?.id ?? null
  const done = {
    provider: providers.data.length > 0,
    route: routes.data.length > 0,
    key: keys.data.some(({ state }) => state === 'active') || requestId !== null,
    request: requestId !== null,
    see: requestId !== null,
  }
  return {
    done,
    next: order.find((step) => !done[step]) ?? null,
    providers: providers.data,
    routes: routes.data,
    requestId,
  }
}
