import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { ArrowUp, Pause, Play } from 'lucide-react'
import { useEffect, useMemo, useRef, useState, useSyncExternalStore } from 'react'
import { readLive, subscribeLive } from '../../live/live.ts'
import type { RequestRow } from '../../live/status-output.ts'
import { Button, DataTable, FaultNotice, type TableHandle } from '../../parts/index.ts'
import { useScope } from '../../session/scope.ts'
import { isTyping, keepScope } from '../../shell/keys.ts'
import { Loading, Page } from '../../shell/page.tsx'
import { ScopeNote } from '../../shell/scope-note.tsx'
import { TimeRangeSelect } from '../time-range-select.tsx'
import { useUsualSpan } from '../use-usual-span.ts'
import { ExportMenu } from './export-menu.tsx'
import { FilterChips, useFilterChange } from './filter-chips.tsx'
import { MissingRecords, NoRequests } from './no-requests.tsx'
import { requestColumns } from './request-cells.tsx'
import { type RequestFeed, useRequestFeed } from './request-feed.ts'
import type { ListInput } from './request-rows.ts'
import { RequestSummary } from './request-summary.tsx'
import type { RequestsSearch } from './requests-search.ts'

const route = getRouteApi('/app/requests')
const spans = [
  { since: '15m', title: 'Last 15 minutes' },
  { since: '1h', title: 'Last hour' },
  { since: '24h', title: 'Last 24 hours' },
  { since: '7d', title: 'Last 7 days' },
  { since: '30d', title: 'Last 30 days' },
  { since: 'all', title: 'All time' },
] as const

/** Every request, newest first, and new ones as they begin and end. */
export function RequestsPage() {
  const scope = useScope()
  const usual = useUsualSpan(scope.filter)
  if (usual === null) return <Page title="Requests">{<Loading what="Loading requests" />}</Page>
  return <Requests usual={usual} />
}

function Requests({ usual }: { usual: string }) {
  const search = route.useSearch()
  const scope = useScope()
  const change = useFilterChange()
  const { project, environment } = scope.filter
  const input = useMemo(
    () => inputOf(search, { ...(project && { project }), ...(environment && { environment }) }, usual),
    [search, project, environment, usual],
  )
  const [paused, setPaused] = useState(false)
  usePauseKey(() => setPaused((before) => !before))
  const table = useRef<TableHandle>(null)
  const pointed = useRef(false)
  const held = () => paused || pointed.current || (table.current?.scrolled() ?? 0) > 0
  const feed = useRequestFeed(input, search.until === undefined, held)
  return (
    <Page
      fill
      title="Requests"
      beside={<ScopeNote />}
      actions={
        <>
          <ExportMenu input={input} />
          <PauseButton paused={paused} onToggle={() => setPaused(!paused)} />
          <TimeRangeSelect since={search.since ?? usual} until={search.until} spans={spans} onChange={change} />
        </>
      }
    >
      <MissingRecords />
      <RequestSummary
        input={input}
        onSelect={(since, until) =>
          change({ since: new Date(since).toISOString(), until: new Date(until).toISOString() })
        }
      />
      <div
        className="requests-list"
        onPointerEnter={() => {
          pointed.current = true
        }}
        onPointerLeave={() => {
          pointed.current = false
        }}
      >
        <Waiting feed={feed} toTop={() => table.current?.toTop()} />
        <List feed={feed} table={table} search={search} />
      </div>
    </Page>
  )
}

function inputOf(search: RequestsSearch, scope: { project?: string; environment?: string }, usual: string): ListInput {
  const { since = usual, tag, errors, fellBack, ...rest } = search
  const words = {
    ...rest,
    ...(since === 'all' ? {} : { since }),
    ...(errors === 'true' ? { errors: true } : {}),
    ...(fellBack === 'true' ? { fellBack: true } : {}),
    ...(tag === undefined ? {} : { tags: [tag] }),
  }
  // The gateway rejects unknown values in the address.
  return { ...scope, ...words } as ListInput
}

const isOfNodes = () => readLive().status?.cluster?.records === 'shared'

interface ListProps {
  feed: RequestFeed
  table: React.RefObject<TableHandle | null>
  search: RequestsSearch
}

function List({ feed, table, search }: ListProps) {
  const navigate = useNavigate()
  const change = useFilterChange()
  const ofNodes = useSyncExternalStore(subscribeLive, isOfNodes)
  const columns = useMemo(() => requestColumns(change, ofNodes), [change, ofNodes])
  if (feed.error !== null && feed.rows.length === 0) return <FaultNotice error={feed.error} onRetry={feed.retry} />
  const open = (row: RequestRow) => void navigate({ to: '/requests/$id', params: { id: row.id }, search: keepScope })
  return (
    <DataTable
      fill
      name="requests"
      label="Requests, newest first"
      handle={table}
      rows={feed.rows}
      columns={columns}
      divider={dividerOf}
      rowKey={({ id }) => id}
      rowClass={({ id }) => (feed.fresh.has(id) ? 'row-fresh' : '')}
      onOpen={open}
      onEnd={feed.loadMore}
      tools={<FilterChips search={search} />}
      empty={
        feed.pending ? (
          <Loading what="Loading requests" />
        ) : feed.searchedUntil === null ? (
          <NoRequests search={search} />
        ) : (
          <Loading what={`Nothing found yet. ${searchedBack(feed.searchedUntil)}`} />
        )
      }
      foot={footOf(feed)}
    />
  )
}

function footOf({ searchedUntil, loadingMore, hasMore }: RequestFeed): string | undefined {
  if (searchedUntil !== null) return searchedBack(searchedUntil)
  if (loadingMore) return 'Loading older requests'
  return hasMore ? undefined : 'End of list'
}

function searchedBack(until: string): string {
  const time = new Date(until).toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'short' })
  return `Searched back to ${time}. Scroll down or wait for older requests.`
}

/** Where a new day begins, seen from the newest; today needs no word. */
function dividerOf({ time }: RequestRow, before: RequestRow | undefined): string | null {
  const day = new Date(time).toDateString()
  const last = before === undefined ? new Date().toDateString() : new Date(before.time).toDateString()
  if (day === last) return null
  return new Date(time).toLocaleDateString('en-GB', { weekday: 'long', day: 'numeric', month: 'long' })
}

/** New rows while the list is held, shown on request. */
function Waiting({ feed, toTop }: { feed: RequestFeed; toTop(): void }) {
  if (feed.waiting === 0) return null
  const show = () => {
    feed.release()
    toTop()
  }
  return (
    <Button
      small
      variant="primary"
      className="requests-waiting"
      icon={<ArrowUp size={14} aria-hidden="true" />}
      onClick={show}
    >
      {feed.waiting.toLocaleString('en-US')} new
    </Button>
  )
}

function PauseButton({ paused, onToggle }: { paused: boolean; onToggle(): void }) {
  return (
    <Button
      aria-pressed={paused}
      icon={paused ? <Play size={14} aria-hidden="true" /> : <Pause size={14} aria-hidden="true" />}
      onClick={onToggle}
    >
      {paused ? 'Resume' : 'Pause'}
    </Button>
  )
}

function usePauseKey(toggle: () => void): void {
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.key === 'p' && !isTyping(event) && document.querySelector('dialog[open]') === null) toggle()
    }
    document.addEventListener('keyup', press)
    return () => document.removeEventListener('keyup', press)
  })
}
