import { useNavigate } from '@tanstack/react-router'
import { ZoomOut } from 'lucide-react'
import { useLive } from '../../live/live.ts'
import { Button } from '../../parts/index.ts'
import { TimeRangeSelect } from '../time-range-select.tsx'
import { groupings, type OverviewSearch } from './overview-search.ts'

const spans = [
  { since: '15m', title: 'Last 15 minutes' },
  { since: '1h', title: 'Last hour' },
  { since: '24h', title: 'Last 24 hours' },
  { since: '7d', title: 'Last 7 days' },
  { since: '30d', title: 'Last 30 days' },
  { since: '90d', title: 'Last 90 days' },
]

/** Time range and grouping, kept in the address. */
export function OverviewTools({ search, usual }: { search: OverviewSearch; usual: string }) {
  const navigate = useNavigate()
  const change = (words: { [Name in keyof OverviewSearch]?: OverviewSearch[Name] | undefined }) =>
    void navigate({ to: '/', search: (before) => ({ ...before, ...words }) as OverviewSearch })
  const { since = usual, until, by } = search
  // A gateway that reads its own records alone has one group of them.
  const { status } = useLive()
  const offered = groupings.filter((word) => word !== 'node' || word === by || status?.cluster?.records === 'shared')
  const zoomed = until !== undefined || !spans.some((span) => span.since === since)
  return (
    <div className="row overview-tools">
      {zoomed ? (
        <Button
          icon={<ZoomOut size={14} aria-hidden="true" />}
          onClick={() => change({ since: undefined, until: undefined })}
        >
          Zoom out
        </Button>
      ) : null}
      <select
        className="input"
        aria-label="Group by"
        value={by ?? ''}
        onChange={(event) => change({ by: groupings.find((word) => word === event.target.value) })}
      >
        <option value="">No grouping</option>
        {offered.map((word) => (
          <option key={word} value={word}>
            By {word === 'error' ? 'error code' : word}
          </option>
        ))}
      </select>
      <TimeRangeSelect since={since} until={until} spans={spans} onChange={change} />
    </div>
  )
}
