import type { AdminContext } from './context.ts'

/** Waits for the other nodes of a cluster to know of a revocation, and says which do; null: there are none. */
export async function confirmReach({ runtime }: AdminContext, revokedId: string) {
  const reach = (await runtime.cluster?.confirm(revokedId)) ?? null
  if (reach === null) return null
  const missing = reach.missing.map(({ name, heardAt }) => ({ name, last_heard_at: heardAt }))
  return { reached: reach.reached, missing }
}
