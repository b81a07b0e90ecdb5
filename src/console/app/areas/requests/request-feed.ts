import { useInfiniteQuery } from '@tanstack/react-query'
import { useCallback, useEffect, useMemo, useReducer, useRef } from 'react'
import { admin, orpc } from '../../client/admin.ts'
import { keepStream } from '../../client/live-stream.ts'
import type { RequestRow } from '../../live/status-output.ts'

/** What `requests list` filters by. */
export type ListInput = Parameters<typeof admin.requests.list>[0]

const pageSize = 100
const mostWaiting = 1000
const firstPauseMs = 1000

export interface RequestFeed {
  rows: RequestRow[]
  /** Came while the list was held; shown by `release`. */
  waiting: number
  /** Ids of the rows that came while one looked on, for the eye. */
  fresh: ReadonlySet<string>
  pending: boolean
  error: unknown
  hasMore: boolean
  loadingMore: boolean
  loadMore(): void
  release(): void
  retry(): void
}

interface Pushed {
  shown: readonly RequestRow[]
  waiting: readonly RequestRow[]
}

type PushAction = { rows: readonly RequestRow[]; held: boolean } | 'release' | 'forget'

function reduce(state: Pushed, action: PushAction): Pushed {
  if (action === 'forget') return { shown: [], waiting: [] }
  if (action === 'release') return { shown: [...state.waiting, ...state.shown], waiting: [] }
  const rows = [...action.rows].reverse()
  if (action.held) return { ...state, waiting: [...rows, ...state.waiting].slice(0, mostWaiting) }
  return { shown: [...rows, ...state.waiting, ...state.shown], waiting: [] }
}

/**
 * The newest requests first: read in pages back through time, and pushed at the head as they end. `held()` says whether
 * new rows must wait, so that nothing moves under the pointer.
 */
export function useRequestFeed(input: ListInput, live: boolean, held: () => boolean): RequestFeed {
  const [pushed, dispatch] = useReducer(reduce, { shown: [], waiting: [] })
  const key = JSON.stringify(input)
  const pages = useInfiniteQuery(
    orpc.requests.list.infiniteOptions({
      input: (before: string | undefined) => ({
        ...input,
        limit: pageSize,
        ...(before === undefined ? {} : { before }),
      }),
      initialPageParam: undefined,
      getNextPageParam: (page: RequestRow[]) => (page.length < pageSize ? undefined : page.at(-1)?.id),
      staleTime: Number.POSITIVE_INFINITY,
      gcTime: 0,
    }),
  )
  const { fetchNextPage, hasNextPage, isFetchingNextPage, refetch } = pages
  // biome-ignore lint/correctness/useExhaustiveDependencies: another question is another list.
  useEffect(() => dispatch('forget'), [key])
  useTail(
    key,
    live && pages.isSuccess,
    (rows) => dispatch({ rows, held: held() }),
    () => void refetch(),
  )
  const read = pages.data?.pages
  const rows = useMemo(() => join(pushed.shown, read ?? []), [pushed.shown, read])
  const fresh = useMemo(() => new Set(pushed.shown.slice(0, 50).map(({ id }) => id)), [pushed.shown])
  const loadMore = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage()
  }, [hasNextPage, isFetchingNextPage, fetchNextPage])
  return {
    rows,
    fresh,
    waiting: pushed.waiting.length,
    pending: pages.isPending,
    error: pages.error,
    hasMore: hasNextPage,
    loadingMore: isFetchingNextPage,
    loadMore,
    release: () => dispatch('release'),
    retry: () => void refetch(),
  }
}

/** One row a request, its newest form: what was under way when it was read has ended since. */
function join(pushed: readonly RequestRow[], pages: readonly RequestRow[][]): RequestRow[] {
  const rows = new Map<string, RequestRow>()
  for (const row of pushed) if (!rows.has(row.id)) rows.set(row.id, row)
  for (const page of pages) for (const row of page) if (!rows.has(row.id)) rows.set(row.id, row)
  return [...rows.values()]
}

/** Rows that come within one frame are given on together: a burst is drawn once. */
function useTail(key: string, enabled: boolean, give: (rows: RequestRow[]) => void, reread: () => void): void {
  const now = useRef({ give, reread })
  now.current = { give, reread }
  useEffect(() => {
    if (!enabled) return
    let left = false
    let gathered: RequestRow[] = []
    const take = (row: RequestRow) => {
      gathered.push(row)
      if (gathered.length > 1) return
      requestAnimationFrame(() => {
        const rows = gathered
        gathered = []
        if (!left) now.current.give(rows)
      })
    }
    const filters = filtersOf(key)
    const stop = keepStream({
      name: `tail ${JSON.stringify(filters)}`,
      kind: 'events',
      open: (signal) => admin.requests.tail(filters, { signal }),
      hear: take,
      // The live light says that the gateway is away; here it is only asked again.
      returned: () => now.current.reread(),
      firstPauseMs,
    })
    return () => {
      left = true
      stop()
    }
  }, [key, enabled])
}

/** A tail has no past, so it knows no times. */
function filtersOf(key: string): Parameters<typeof admin.requests.tail>[0] {
  const { since: _since, until: _until, limit: _limit, before: _before, ...filters }: ListInput = JSON.parse(key)
  return filters
}
