import { describeMissing } from '../../../core/degraded.ts'
import { findRequestId } from '../../../core/ids.ts'
import type { RequestRecord } from '../../../core/record.ts'
import type { StatsRow } from '../../../store/api.ts'
import { limitGroups } from '../../contract/requests/limit-groups.ts'
import { readWays, type statsOrders } from '../../contract/requests/requests.ts'
import { bodiesUntil } from '../../contract/requests/why-no-bodies.ts'
import { operations } from '../base.ts'
import { cancelledBy } from '../cancellation.ts'
import type { AdminContext } from '../context.ts'
import { notFound } from '../fault.ts'
import { type FilterInput, matchesFilter, needOtherNodes, readFilter } from './record-filter.ts'
import { readSeries } from './request-series.ts'

/** A search answers within 300 ms; what is left of them is for the last look, and for the way. */
const searchMs = 200

const sorters: Record<(typeof statsOrders)[number], (row: StatsRow) => number> = {
  requests: ({ requests }) => requests,
  errors: ({ errors }) => errors,
  tokens: ({ input, output }) => input + output,
  // What nobody knows the cost of comes last.
  cost: ({ usd }) => usd ?? -1,
}

/** Every reading ingests first, so that whoever has an answer finds its record. */
export const requests = {
  list: operations.requests.list.handler(async ({ context, input, signal }) => {
    await context.runtime.ingest()
    return cancelledBy(context, signal).store.records.list(await readFilter(context, input))
  }),
  search: operations.requests.search.handler(async ({ context, input, signal }) => {
    await context.runtime.ingest()
    const { store } = cancelledBy(context, signal)
    const { records, before, searchedUntil } = await store.records.search(await readFilter(context, input), searchMs)
    return { requests: records, before, searched_until: searchedUntil }
  }),
  purge: operations.requests.purge.handler(async function* ({ context, input, signal }) {
    const { purgeRequests } = await import('./purge-requests.ts')
    const { closing } = context
    yield* purgeRequests(context, input, signal === undefined ? closing : AbortSignal.any([signal, closing]))
  }),
  show: operations.requests.show.handler(async ({ context, input }) => {
    const unread = await context.runtime.ingest().then(
      () => null,
      (error: unknown) => error,
    )
    const record = await context.store.records.get(findRequestId(input.id) ?? input.id)
    // A record that has ended changes no more, also while the store is unhealthy.
    if (unread !== null && (record === null || record.state === 'admitted')) throw unread
    if (record === null) {
      const missing = describeMissing(context.runtime.degraded())
      const usual = 'The header x-sp-request-id has the id. List them: spgw requests list'
      throw notFound('request', input.id, missing ?? usual)
    }
    const { bodiesKeptMs, cluster } = context.runtime
    if (!input.bodies) {
      // Another node has settings of its own.
      const isOwn = cluster === null || record.node === null || record.node === cluster.name
      return isOwn ? { ...record, ...untilOf(record, bodiesKeptMs()) } : record
    }
    const { readBodies } = await import('./open-bodies.ts')
    const { bodies, missing, keptMs } = await readBodies(context, record)
    const until = bodies === null ? {} : untilOf(record, keptMs ?? bodiesKeptMs())
    return { ...record, bodies, ...(missing !== null && { bodies_missing: missing }), ...until }
  }),
  tail: operations.requests.tail.handler(({ context, input, signal }) => followRequests(context, input, signal)),
  stats: operations.requests.stats.handler(async ({ context, input, signal }) => {
    await context.runtime.ingest()
    const { by, sort, limit, ...filter } = input
    const ways = readWays(by) ?? []
    if (ways.includes('node')) needOtherNodes(context)
    const found = await cancelledBy(context, signal).store.records.stats(await readFilter(context, filter), ways)
    const groups = sort === undefined ? found : found.toSorted((a, b) => sorters[sort](b) - sorters[sort](a))
    return limit === undefined ? groups : [...limitGroups(groups, { by, sort }, limit)]
  }),
  export: operations.requests.export.handler(async function* ({ context, input, signal }) {
    const { exportRequests } = await import('./export-requests.ts')
    yield* exportRequests(cancelledBy(context, signal), input)
  }),
  replay: operations.requests.replay.handler(async function* ({ context, input, signal }) {
    const { replayRequest } = await import('./replay-request.ts')
    yield* replayRequest(
      context,
      input,
      signal === undefined ? context.closing : AbortSignal.any([signal, context.closing]),
    )
  }),
  series: operations.requests.series.handler(async ({ context, input, signal }) => {
    await context.runtime.ingest()
    return readSeries(cancelledBy(context, signal), input)
  }),
  send: operations.requests.send.handler(async function* ({ context, input, signal }) {
    const { sendRequest } = await import('./send-request.ts')
    yield* sendRequest(
      context,
      input,
      signal === undefined ? context.closing : AbortSignal.any([signal, context.closing]),
    )
  }),
}

/** Of the requests before, so many at most. */
const mostBefore = 1000

type FollowInput = FilterInput & { allStates: boolean }

/** With `since` those before first, oldest first; what ends meanwhile comes after them, and nothing twice. */
async function* followRequests(
  context: AdminContext,
  { allStates, ...filters }: FollowInput,
  signal: AbortSignal | undefined,
): AsyncGenerator<RequestRecord> {
  const filter = await readFilter(context, filters)
  const ends = signal === undefined ? context.closing : AbortSignal.any([signal, context.closing])
  const live = context.runtime.records(ends, allStates)[Symbol.asyncIterator]()
  // Follows from here on: nothing may end between the list and the first of what is pushed.
  let next = live.next()
  const shown = new Set<string>()
  try {
    if (filter.since !== undefined) {
      await context.runtime.ingest()
      const before = await cancelledBy(context, ends).store.records.list({ ...filter, limit: mostBefore })
      for (const record of before.reverse()) {
        if (record.state === 'admitted' && !allStates) continue
        shown.add(`${record.id} ${record.state}`)
        yield record
      }
    }
    for (let turn = await next; !turn.done; turn = await next) {
      next = live.next()
      const record = turn.value
      const known = shown.delete(`${record.id} ${record.state}`)
      if (!known && matchesFilter(record, filter)) yield record
    }
  } finally {
    // Not awaited: it may be waiting for a record that never comes.
    void live.return?.()
  }
}

function untilOf(record: RequestRecord, keptMs: number): { bodies_until?: string } {
  const until = bodiesUntil(record, keptMs, Date.now())
  return until === null ? {} : { bodies_until: until }
}
