import type { RequestRecord } from '../core/record.ts'
import type { StoreClient } from '../store/api.ts'

/** A follower that reads too slowly loses the oldest records rather than filling the memory. */
const backlogLimit = 1000

/** Records as they end, with `allStates` also as they are admitted, until the signal fires. */
export async function* followRecords(
  store: Pick<StoreClient, 'onRecords'>,
  signal: AbortSignal,
  allStates = false,
): AsyncGenerator<RequestRecord> {
  const backlog: RequestRecord[] = []
  let wake: () => void = () => {}
  const stop = store.onRecords((records) => {
    backlog.push(...records)
    if (backlog.length > backlogLimit) backlog.splice(0, backlog.length - backlogLimit)
    wake()
  }, allStates)
  const ended = () => wake()
  signal.addEventListener('abort', ended)
  try {
    while (!signal.aborted) {
      const record = backlog.shift()
      if (record !== undefined) yield record
      else await new Promise<void>((resolve) => (wake = resolve))
    }
  } finally {
    stop()
    signal.removeEventListener('abort', ended)
  }
}
