import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { orpc } from '../../client/admin.ts'
import { readSeries, seriesKey } from '../../client/series.ts'
import type { SeriesPoint } from '../../client/series-shape.ts'
import { useTraffic } from '../../live/traffic.ts'
import { Missing, Sparkline } from '../../parts/index.ts'
import type { KeyDays } from './day-requests.ts'

const day = { since: '24h' } as const

/** What every key of the scope did in the last day; null while nothing has been read. */
export function useKeyDays(filter: { project?: string; environment?: string }): KeyDays | null {
  const { data, refetch } = useQuery({
    ...orpc.requests.stats.queryOptions({ input: { ...filter, ...day, by: 'key' } }),
    placeholderData: keepPreviousData,
  })
  useTraffic(() => void refetch())
  return data === undefined ? null : new Map(data.map((row) => [row.id, row]))
}

/** Its requests of the last day by the half hour; read only for the rows that are on the page. */
export function KeySparkline({ id, requests }: { id: string; requests: number }) {
  const input = { ...day, key: id, step: '30m' }
  const { data } = useQuery({
    queryKey: seriesKey(input),
    queryFn: ({ signal }) => readSeries(input, signal),
    enabled: requests > 0,
    staleTime: 60_000,
  })
  if (requests === 0) return <Missing meaning="no requests" />
  const points: readonly SeriesPoint[] = data?.groups[0]?.points ?? []
  return (
    <Sparkline points={points.map((point) => point.requests)} width={64} height={20} label="Requests by half hour" />
  )
}
