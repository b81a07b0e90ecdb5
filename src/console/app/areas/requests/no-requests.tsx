import { Link } from '@tanstack/react-router'
import { CircleAlert } from 'lucide-react'
import { describeMissing } from '../../../../core/degraded.ts'
import { useLive } from '../../live/live.ts'
import { Button, Empty } from '../../parts/index.ts'
import { keepScope } from '../../shell/keys.ts'
import { useFilterChange } from './filter-chips.tsx'
import { filterNames, type RequestsSearch } from './requests-search.ts'

export function NoRequests({ search }: { search: RequestsSearch }) {
  const change = useFilterChange()
  const { status } = useLive()
  const filtered = filterNames.some((name) => search[name] !== undefined)
  const clear = () =>
    change({ ...Object.fromEntries(filterNames.map((name) => [name, undefined])), since: 'all' } as RequestsSearch)
  if (filtered)
    return (
      <Empty
        title="No matching requests"
        action={<Button onClick={clear}>Show all requests</Button>}
        command="spgw requests list"
      >
        Remove a filter or choose a longer time range.
      </Empty>
    )
  return (
    <Empty
      title="No requests in the last 24 hours"
      action={
        <>
          <Link className="button button-primary" to="/" search={keepScope}>
            Send your first request
          </Link>
          <Button onClick={() => change({ since: 'all' })}>Show all requests</Button>
        </>
      }
      command="spgw requests tail"
    >
      Requests to {status?.gateway_url ?? 'the gateway'} appear here as they arrive, including rejected ones.
    </Empty>
  )
}

/** Only while it is so: the list looks whole without what waits. */
export function MissingRecords() {
  const { status } = useLive()
  const missing = describeMissing(status?.degraded ?? [])
  if (missing === null) return null
  return (
    <div className="notice notice-warning" role="alert">
      <CircleAlert size={16} aria-hidden="true" />
      <p>{missing}</p>
    </div>
  )
}
