import { useQuery } from '@tanstack/react-query'
import { callOperation } from '../../client/admin.ts'
import { findOperation } from '../../contract/operations.ts'

interface SeriesPoint {
  requests: number
  errors: number
}
interface Series {
  groups: { group: string; points: SeriesPoint[] }[]
}

export interface Traffic {
  requests: number[]
  errors: number
}

/** Requests of the last hour by provider, minute by minute; empty while the gateway cannot tell. */
export function useTraffic(): ReadonlyMap<string, Traffic> {
  const { data } = useQuery({
    queryKey: ['traffic-by-provider'],
    queryFn: ({ signal }) => readTraffic(signal),
    enabled: findOperation('requests.series') !== undefined,
    refetchInterval: 60_000,
  })
  return data ?? none
}

const none: ReadonlyMap<string, Traffic> = new Map()

async function readTraffic(signal: AbortSignal): Promise<ReadonlyMap<string, Traffic>> {
  const input = { since: '1h', step: '1m', by: 'provider' }
  const series = (await callOperation(['requests', 'series'], input, signal)) as Series
  return new Map(
    series.groups.map(({ group, points }) => [
      group,
      {
        requests: points.map(({ requests }) => requests),
        errors: points.reduce((sum, { errors }) => sum + errors, 0),
      },
    ]),
  )
}
