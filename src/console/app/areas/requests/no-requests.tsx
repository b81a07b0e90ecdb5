import { Link } from '@tanstack/react-router'
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
        title="No request matches."
        action={<Button onClick={clear}>Show all requests</Button>}
        command="spgw requests list"
      >
        Loosen the filters, or widen the span of time.
      </Empty>
    )
  return (
    <Empty
      title="No request in the last 24 hours."
      action={
        <>
          <Link className="button button-primary" to="/" search={keepScope}>
            Send the first one
          </Link>
          <Button onClick={() => change({ since: 'all' })}>Show all requests</Button>
        </>
      }
      command="spgw requests tail"
    >
      Requests to {status?.gateway_url ?? 'the gateway'} show up here as they come, refused ones too.
    </Empty>
  )
}
