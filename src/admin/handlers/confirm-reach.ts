import type { AdminContext } from './context.ts'

/**
 * Waits for the other nodes of a cluster to know what was taken away just now, and says which do; null: there are none.
 * `revokedId`: what was revoked, which may have gone past PostgreSQL.
 */
export async function confirmReach({ runtime }: Pick<AdminContext, 'runtime'>, revokedId: string | null = null) {
  const reach = (await runtime.cluster?.confirm(revokedId)) ?? null
  if (reach === null) return null
  const missing = reach.missing.map(({ name, heardAt }) => ({ name, last_heard_at: heardAt }))
  return { reached: reach.reached, missing }
}
