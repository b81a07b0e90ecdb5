import type { DegradedPart } from '../../core/degraded.ts'
import { stallAwareTimeout } from '../../core/threads/stall-aware-timeout.ts'
import type { StoreClient } from '../../store/api.ts'
import { StoreDegraded } from '../../store/store-error.ts'

/** A reading that wants the newest records waits for them this long, and then says that they are not there. */
const stallLimitMs = 5000

/** Everything journaled before the call is stored when this resolves. Throws `StoreDegraded`, within the time, when it is not. */
export async function ingestSoon(store: StoreClient, degraded: () => readonly DegradedPart[]): Promise<void> {
  const overdue = Promise.withResolvers<never>()
  const timeout = stallAwareTimeout(stallLimitMs, () => {
    const degradedStore = degraded().find(({ part }) => part === 'store')
    const reason = degradedStore?.reason ?? 'the store is behind the traffic'
    overdue.reject(new StoreDegraded(`the newest records are not stored yet: ${reason}`))
  })
  try {
    await Promise.race([store.ingest(), overdue.promise])
  } finally {
    timeout.cancel()
  }
}
