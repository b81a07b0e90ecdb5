import { type UseInfiniteQueryResult, useInfiniteQuery } from '@tanstack/react-query'
import { useCallback, useEffect, useMemo, useReducer, useRef } from 'react'
import { admin, orpc } from '../../client/admin.ts'
import { followWhileVisible } from '../../client/visible-stream.ts'
import type { RequestRow } from '../../live/status-output.ts'
import {
  freshOf,
  isTooMuch,
  joinRows,
  type ListInput,
  type PushAction,
  type Pushed,
  push,
  tailOf,
} from './request-rows.ts'

type RequestPage = Awaited<ReturnType<typeof admin.requests.search>>

const pageSize = 100
const retryMs = 1000

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
  /** How far back the search has come, where it is not over. */
  searchedUntil: string | null
  loadMore(): void
  release(): void
  retry(): void
}

/**
 * The newest requests first: read in pages back through time, and pushed at the head as they begin. `held()` says whether
 * new rows must wait, so that nothing moves under the pointer.
 */
export function useRequestFeed(input: ListInput, live: boolean, held: () => boolean): RequestFeed {
  const [pushed, dispatch] = useReducer(push, { shown: [], waiting: [] })
  const key = JSON.stringify(input)
  const pages = useInfiniteQuery(
    orpc.requests.search.infiniteOptions({
      input: (before: string | undefined) => ({
        ...input,
        limit: pageSize,
        ...(before === undefined ? {} : { before }),
      }),
      initialPageParam: undefined,
      getNextPageParam: (page: RequestPage) => page.before ?? undefined,
      staleTime: Number.POSITIVE_INFINITY,
    }),
  )
  const { fetchNextPage, hasNextPage, isFetching, isFetchingNextPage } = pages
  // biome-ignore lint/correctness/useExhaustiveDependencies: another question is another list.
  useEffect(() => dispatch('forget'), [key])
  const read = useMemo(() => pages.data?.pages.map(({ requests }) => requests), [pages.data])
  const searchedUntil = pages.data?.pages.at(-1)?.searched_until ?? null
  const listed = useMemo(() => new Set(read?.flat().map(({ id }) => id)), [read])
  const reread = useReread(pages, pushed, dispatch)
  const full = isTooMuch(pushed)
  useEffect(() => {
    if (full) reread()
  }, [full, reread])
  useTail(
    key,
    live && pages.isSuccess,
    (rows) => dispatch({ rows, held: held(), isListed: (id) => listed.has(id) }),
    reread,
  )
  const rows = useMemo(() => joinRows(pushed.shown, read ?? []), [pushed.shown, read])
  const fresh = useMemo(() => freshOf(pushed.shown, listed), [pushed.shown, listed])
  const count = read?.reduce((sum, page) => sum + page.length, 0) ?? 0
  const wanted = useRef(pageSize)
  const loadMore = useCallback(() => {
    wanted.current = Math.max(wanted.current, count + pageSize)
    if (hasNextPage && !isFetching) void fetchNextPage()
  }, [count, hasNextPage, isFetching, fetchNextPage])
  // biome-ignore lint/correctness/useExhaustiveDependencies: another question begins with one page.
  useEffect(() => {
    wanted.current = pageSize
  }, [key])
  // A page that ended before it was full says how far it came, and the search goes on from there.
  useEffect(() => {
    if (searchedUntil !== null && count < wanted.current && hasNextPage && !isFetching) void fetchNextPage()
  }, [searchedUntil, count, hasNextPage, isFetching, fetchNextPage])
  return {
    rows,
    fresh,
    waiting: pushed.waiting.length,
    pending: pages.isPending,
    error: pages.error,
    hasMore: hasNextPage,
    loadingMore: isFetchingNextPage,
    searchedUntil,
    loadMore,
    release: () => dispatch('release'),
    retry: reread,
  }
}

type Pages = Pick<UseInfiniteQueryResult<{ pages: RequestPage[] }>, 'data' | 'refetch'>

/** Reads the list again. It then contains the rows pushed before, in their places, so those are dropped. */
function useReread(pages: Pages, pushed: Pushed, dispatch: (action: PushAction) => void): () => void {
  const now = useRef({ pages, pushed })
  now.current = { pages, pushed }
  return useCallback(async () => {
    const before = now.current
    const { data } = await before.pages.refetch()
    // One that was broken off, by the next, gives what was there.
    if (data?.pages[0] !== before.pages.data?.pages[0]) dispatch({ reread: before.pushed })
  }, [dispatch])
}

/** Rows that come within one frame are given on together: a burst is drawn once. */
function useTail(key: string, enabled: boolean, onRows: (rows: RequestRow[]) => void, reread: () => void): void {
  const now = useRef({ onRows, reread })
  now.current = { onRows, reread }
  useEffect(() => {
    if (!enabled) return
    let left = false
    let gathered: RequestRow[] = []
    const collect = (row: RequestRow) => {
      gathered.push(row)
      if (gathered.length > 1) return
      requestAnimationFrame(() => {
        const rows = gathered
        gathered = []
        if (!left) now.current.onRows(rows)
      })
    }
    const filters = tailOf(JSON.parse(key))
    const stop = followWhileVisible({
      name: `tail ${JSON.stringify(filters)}`,
      kind: 'events',
      open: (signal) => admin.requests.tail(filters, { signal }),
      onItem: collect,
      // The live indicator shows that the gateway is away; here the stream is only reopened.
      onGap: () => now.current.reread(),
      retryMs,
    })
    return () => {
      left = true
      stop()
    }
  }, [key, enabled])
}
