import { useQuery } from '@tanstack/react-query'
import { orpc } from '../../client/admin.ts'
import { useTraffic } from '../../live/traffic.ts'
import { describeSetUp, type SetUp } from './set-up.ts'

/** The progress of the setup; null: not known yet. It also follows steps done elsewhere. */
export function useSetUp(): SetUp | null {
  const { data: providers } = useQuery(orpc.providers.list.queryOptions({ input: {} }))
  const { data: routes } = useQuery(orpc.routes.list.queryOptions({ input: { all: true } }))
  const { data: keys } = useQuery(orpc.keys.list.queryOptions({ input: { all: true } }))
  const { data: requests, refetch } = useQuery(orpc.requests.list.queryOptions({ input: { limit: 1 } }))
  useTraffic(() => void refetch())
  return providers && routes && keys && requests ? describeSetUp({ providers, routes, keys, requests }) : null
}
