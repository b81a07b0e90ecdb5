import { setTimeout as wait } from 'node:timers/promises'
import type { LimitCounters } from '../policy/limits/limit-counters.ts'
import { findPeriod } from '../policy/limits/periods.ts'
import type { StoreClient } from '../store/api.ts'
import type { Log } from './log.ts'

const retryMs = 1000

/**
 * Budgets let nothing pass before all that earlier processes left in the journal is stored, and it is known what they spent. All
 * else is served meanwhile.
 */
export async function openBudgets(store: StoreClient, counters: LimitCounters, log: Log): Promise<void> {
  for (;;) {
    try {
      const { used, held } = await readSpend(store)
      return counters.seed(used, held)
    } catch (error) {
      log.error('what budgets have used cannot be read, so they let nothing pass', { reason: String(error) })
      await wait(retryMs, undefined, { ref: false })
    }
  }
}

async function readSpend(store: StoreClient) {
  await store.ingest()
  const { timeZone } = await store.workspace.get()
  const now = Date.now()
  // A day or month that begins after this begins at nothing.
  return store.spend.list([findPeriod('day', timeZone, now).name, findPeriod('month', timeZone, now).name])
}
