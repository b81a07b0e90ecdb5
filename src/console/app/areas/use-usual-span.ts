import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { orpc } from '../client/admin.ts'
import { readSeries, seriesKey } from '../client/series.ts'
import { chooseSpan, firstTraffic, type UsualSpan } from './usual-span.ts'

/** An hour's step that began no longer ago may have its first request within the last hour. */
const recentMs = 2 * 3_600_000

/** Where a page's data is; null while that is not known. Once chosen it stays until the page is left. */
export function useUsualSpan(scope: { project?: string; environment?: string }): UsualSpan | null {
  const [chosen, setChosen] = useState<UsualSpan | null>(null)
  // Of hours there are sums; steps of minutes are counted record by record, and are asked for only where they decide.
  const day = useSteps(scope, '24h', '1h', chosen === null)
  const firstHour = day.data === undefined ? null : firstTraffic(day.data)
  const isRecent = firstHour !== null && Date.now() - firstHour <= recentMs
  const recent = useSteps(scope, '2h', '5m', chosen === null && isRecent)
  const latest = useQuery({
    ...orpc.requests.list.queryOptions({ input: { ...scope, limit: 1 } }),
    enabled: chosen === null,
  })
  if (chosen !== null) return chosen
  if (day.isError || latest.isError || recent.isError) return '24h'
  if (day.data === undefined || latest.data === undefined || (isRecent && recent.data === undefined)) return null
  const [newest] = latest.data
  const first = (recent.data === undefined ? null : firstTraffic(recent.data)) ?? firstHour
  const span = chooseSpan(first, newest === undefined ? null : Date.parse(newest.time), Date.now())
  setChosen(span)
  return span
}

function useSteps(scope: object, since: string, step: string, enabled: boolean) {
  const input = { ...scope, since, step }
  return useQuery({ queryKey: seriesKey(input), queryFn: ({ signal }) => readSeries(input, signal), enabled })
}
