import type { RequestRecord } from '../../core/record.ts'
import type { StoreClient } from '../../store/api.ts'
import { StoreBehind } from '../../store/store-error.ts'

/** As many may wait for a follower, and what is stored at once besides. */
const backlogLimit = 1000

/**
 * Records as they end, with `allStates` also as they are admitted, until the signal fires. Throws `StoreBehind` to who
 * reads too slowly: nothing is left out without a word, for a request whose end is missed would be under way for ever.
 */
export async function* followRecords(
  store: Pick<StoreClient, 'onRecords'>,
  signal: AbortSignal,
  allStates = false,
): AsyncGenerator<RequestRecord> {
  const backlog: RequestRecord[] = []
  let behind = false
  let wake: () => void = () => {}
  const stop = store.onRecords((records) => {
    behind ||= backlog.length > backlogLimit
    if (behind) backlog.length = 0
    else backlog.push(...records)
    wake()
  }, allStates)
  const ended = () => wake()
  signal.addEventListener('abort', ended)
  try {
    while (!signal.aborted) {
      if (behind) throw new StoreBehind(`more than ${backlogLimit} requests wait to be read`)
      const record = backlog.shift()
      if (record !== undefined) yield record
      else await new Promise<void>((resolve) => (wake = resolve))
    }
  } finally {
    stop()
    signal.removeEventListener('abort', ended)
  }
}
