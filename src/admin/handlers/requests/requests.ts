import { describeMissing } from '../../../core/degraded.ts'
import { operations } from '../base.ts'
import { cancelledBy } from '../cancellation.ts'
import { notFound } from '../fault.ts'
import { matchesFilter, readFilter } from './record-filter.ts'
import { readSeries } from './request-series.ts'

/** Every reading ingests first, so that whoever has an answer finds its record. */
export const requests = {
  list: operations.requests.list.handler(async ({ context, input, signal }) => {
    await context.runtime.ingest()
    return cancelledBy(context, signal).store.records.list(await readFilter(context, input))
  }),
  show: operations.requests.show.handler(async ({ context, input }) => {
    const unread = await context.runtime.ingest().then(
      () => null,
      (error: unknown) => error,
    )
    const record = await context.store.records.get(input.id)
    // A record that has ended changes no more, however sick the store is.
    if (unread !== null && (record === null || record.state === 'admitted')) throw unread
    if (record === null) {
      const missing = describeMissing(context.runtime.degraded().map(({ part }) => part))
      const usual = 'The header x-sp-request-id has the id. List them: spgw requests list'
      throw notFound('request', input.id, missing ?? usual)
    }
    if (!input.bodies) return record
    const { readBodies } = await import('./open-bodies.ts')
    return { ...record, bodies: await readBodies(context, record) }
  }),
  tail: operations.requests.tail.handler(async function* ({ context, input, signal }) {
    const { allStates, ...filters } = input
    const filter = await readFilter(context, filters)
    const ends = signal === undefined ? context.closing : AbortSignal.any([signal, context.closing])
    for await (const record of context.runtime.records(ends, allStates)) if (matchesFilter(record, filter)) yield record
  }),
  stats: operations.requests.stats.handler(async ({ context, input, signal }) => {
    await context.runtime.ingest()
    const { by, ...filter } = input
    return cancelledBy(context, signal).store.records.stats(await readFilter(context, filter), by)
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
