import { useQuery } from '@tanstack/react-query'
import { orpc } from '../../client/admin.ts'

export interface Traffic {
  requests: number[]
  errors: number
}

const input = { since: '1h', step: '1m', by: 'provider' } as const

/** Requests of the last hour by provider, minute by minute. */
export function useTraffic(): ReadonlyMap<string, Traffic> {
  const { data } = useQuery({ ...orpc.requests.series.queryOptions({ input }), refetchInterval: 60_000 })
  return new Map(
    (data?.groups ?? []).map(({ group, points }) => [
      group,
      {
        requests: points.map(({ requests }) => requests),
        errors: points.reduce((sum, { errors }) => sum + errors, 0),
      },
    ]),
  )
}
