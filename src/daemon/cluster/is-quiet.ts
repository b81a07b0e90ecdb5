import type { StoreClient } from '../../store/api.ts'

/** What is older counts in no limit a minute any more, on no node. */
const historyMs = 80_000

/** Whether earlier runs of this gateway used nothing that may still count in a limit a minute. */
export async function isQuiet(store: StoreClient): Promise<boolean> {
  const since = new Date(Date.now() - historyMs).toISOString()
  await store.ingest()
  const recent = await store.records.list({ since, limit: 1 })
  return recent.length === 0
}
