import type { AdminContext } from './context.ts'
import { findKey, findScope } from './find.ts'

/**
 * From the records, which are what requests are charged by. No policy limits any of it yet: where one will, its figures
 * are those of the shared counters, and stand in the same rows.
 */
export async function showKeyUsage(
  context: AdminContext,
  input: { key: string; project: string; environment: string },
  now = new Date(),
) {
  const key = await findKey(context, input.key, await findScope(context, input))
  await context.runtime.ingest()
  const windows = [
    { window: 'day' as const, ...spanOf(now, 'day') },
    { window: 'month' as const, ...spanOf(now, 'month') },
  ]
  const rows = await Promise.all(
    windows.map(async ({ window, since, resetsAt }) => {
      const [sum] = await context.store.records.stats({ key: key.id, since, limit: 1 }, 'total')
      const base = { window, limit: null, policy: null, resets_at: resetsAt }
      return [
        { what: 'requests' as const, used: sum?.requests ?? 0, ...base },
        { what: 'tokens' as const, used: (sum?.input ?? 0) + (sum?.output ?? 0), ...base },
        { what: 'usd' as const, used: sum?.usd ?? 0, ...base },
      ]
    }),
  )
  return rows.flat()
}

/** Days and months are the workspace's, in UTC. */
function spanOf(now: Date, unit: 'day' | 'month'): { since: string; resetsAt: string } {
  const day = unit === 'day' ? now.getUTCDate() : 1
  const since = Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), day)
  const end =
    unit === 'day'
      ? Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), day + 1)
      : Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1)
  return { since: new Date(since).toISOString(), resetsAt: new Date(end).toISOString() }
}
