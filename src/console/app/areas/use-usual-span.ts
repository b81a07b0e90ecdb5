import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { orpc } from '../client/admin.ts'
import { readSeries, seriesKey } from '../client/series.ts'
import { chooseSpan, firstTraffic, type UsualSpan } from './usual-span.ts'

/** Where a page's data is; null while that is not known. Once chosen it stays until the page is left. */
export function useUsualSpan(scope: { project?: string; environment?: string }): UsualSpan | null {
  const [chosen, setChosen] = useState<UsualSpan | null>(null)
  const input = { ...scope, since: '24h', step: '5m' }
  const day = useQuery({
    queryKey: seriesKey(input),
    queryFn: ({ signal }) => readSeries(input, signal),
    enabled: chosen === null,
  })
  const latest = useQuery({
    ...orpc.requests.list.queryOptions({ input: { ...scope, limit: 1 } }),
    enabled: chosen === null,
  })
  if (chosen !== null) return chosen
  if (day.isError || latest.isError) return '24h'
  if (day.data === undefined || latest.data === undefined) return null
  const [newest] = latest.data
  const span = chooseSpan(firstTraffic(day.data), newest === undefined ? null : Date.parse(newest.time), Date.now())
  setChosen(span)
  return span
}
