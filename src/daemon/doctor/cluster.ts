import type { Settings } from '../../config/settings.ts'
import { SettingsRefused } from '../../config/settings-refused.ts'
import { type Diagnostic, ok, problem, warning } from '../../core/diagnostic.ts'

const check = 'cluster'
const waitMs = 5000

/** Whether PostgreSQL is reached from here; and what the nodes do not share. */
export async function checkCluster({ cluster }: Settings, isRunning: boolean): Promise<Diagnostic[]> {
  if (cluster === null) return []
  const what = cluster.sharesBudgets ? 'limits per minute' : 'limits and budgets'
  const apart = warning(
    check,
    `each node counts ${what} for itself, and keeps its own records (cluster.limits, cluster.records)`,
    `Set ${what} to the share of one node: N nodes let through up to N times as much.`,
  )
  const { toAddress } = await import('../cluster.ts')
  const { startThread } = await import('../threads.ts')
  const { ClusterLink } = await import('../../cluster/link.ts')
  try {
    const linked = Promise.withResolvers<string | null>()
    const address = toAddress(cluster)
    const link = new ClusterLink(() => startThread('cluster', { address }), {
      onLink: (trouble) => linked.resolve(trouble),
      onHead() {},
      onMembers() {},
      onRecall() {},
    })
    const timeout = setTimeout(() => linked.resolve('it does not answer'), waitMs)
    const trouble = await linked.promise
    clearTimeout(timeout)
    await link.close()
    const place = `PostgreSQL at ${address.host}:${address.port}`
    if (trouble === null) return [ok(check, `${place} is reached`), apart]
    const remedy = isRunning
      ? 'Requests are served, and the configuration is read-only until it is back: docs/cluster.md'
      : 'Correct cluster.postgres, its password or its authority.'
    return [problem(check, `${place} is not reached: ${trouble}`, remedy), apart]
  } catch (error) {
    if (!(error instanceof SettingsRefused)) throw error
    return [problem(check, error.message, 'Correct cluster.postgres_ca.')]
  }
}
