import type { PostgresAddress, ValkeyAddress } from '../../cluster/protocol.ts'
import type { ClusterSettings, Settings } from '../../config/settings.ts'
import { SettingsRefused } from '../../config/settings-refused.ts'
import { type Diagnostic, ok, problem, warning } from '../../core/diagnostic.ts'
import { describeMeanwhile, showClock, showEviction, showPostgres, showRights, showServer } from './cluster-servers.ts'

const check = 'cluster'
const waitMs = 5000

/** Whether PostgreSQL and Valkey are reached from here; and what the nodes do not share. */
export async function checkCluster(
  { cluster }: Settings,
  isRunning: boolean,
  /** What of the gateway that runs is degraded. */
  degraded: readonly string[],
): Promise<Diagnostic[]> {
  if (cluster === null) return []
  const apart = findApart(cluster)
  const { toAddress, toValkeyAddress } = await import('../cluster/cluster.ts')
  try {
    const address = toAddress(cluster)
    const valkey = cluster.valkey === null ? null : toValkeyAddress(cluster.valkey)
    const troubles = await askServers(address, valkey)
    const place = `PostgreSQL at ${address.host}:${address.port}`
    const isReached = (part: 'postgres' | 'valkey') => isRunning && !degraded.includes(part)
    const { facts } = troubles
    // Of one that has not joined yet, or was removed, the check of its membership says what it serves.
    const isMember = isRunning && !degraded.includes('membership')
    const meanwhile = (name: 'postgres' | 'valkey') =>
      describeMeanwhile(name, cluster.valkey?.without ?? 'share', degraded)
    const found =
      facts === null
        ? [
            showServer(
              place,
              'postgres',
              troubles.postgres,
              isReached('postgres'),
              isMember ? meanwhile('postgres') : null,
            ),
          ]
        : [showPostgres(place, facts), ...showClock(facts), ...showRights(facts)]
    if (valkey !== null) {
      const at = `Valkey at ${valkey.host}:${valkey.port}`
      const { valkeyFacts } = troubles
      const how = `${valkeyFacts?.product ?? 'version unknown'}, ${valkey.plain ? 'not encrypted' : 'TLS'}`
      const named = troubles.valkey === null ? `${at} (${how})` : at
      found.push(
        showServer(named, 'valkey', troubles.valkey, isReached('valkey'), isRunning ? meanwhile('valkey') : null),
      )
      if (valkeyFacts !== null) found.push(...showEviction(at, valkeyFacts))
    }
    return [...found, apart]
  } catch (error) {
    if (!(error instanceof SettingsRefused)) throw error
    return [problem(check, error.message, 'Correct cluster.postgres_ca or cluster.valkey_ca.')]
  }
}

function findApart({ sharesBudgets, valkey, records }: ClusterSettings): Diagnostic {
  const counted = [...(valkey === null ? ['limits per minute'] : []), ...(sharesBudgets ? [] : ['budgets'])]
  if (counted.length === 0 && records === 'shared') return ok(check, 'nodes share budgets, limits and records')
  if (counted.length === 0)
    return warning(
      check,
      'each node keeps its own records (cluster.records), and knows only the files and batches made through it',
      'Let clients that use files and batches stay with one node.',
    )
  const what = counted.join(' and ')
  const own = records === 'local' ? ', and keeps its own records' : ''
  const settings = [
    ...(valkey === null ? ['cluster.limits'] : []),
    ...(sharesBudgets ? [] : ['cluster.budgets']),
    ...(records === 'local' ? ['cluster.records'] : []),
  ]
  return warning(
    check,
    `each node counts ${what} for itself${own} (${settings.join(', ')})`,
    `Set ${what} to the share of one node: N nodes let through up to N times as much.`,
  )
}

/** As the cluster's thread finds them. */
async function askServers(address: PostgresAddress, valkey: ValkeyAddress | null) {
  const { startThread } = await import('../threads/threads.ts')
  const { ClusterLink } = await import('../../cluster/link.ts')
  const { createLimitMemory } = await import('../../policy/limits/limit-memory.ts')
  const [one, other] = [Promise.withResolvers<string | null>(), Promise.withResolvers<string | null>()]
  const link = new ClusterLink(() => startThread('cluster', { address }), {
    onLink: (trouble) => one.resolve(trouble),
    onHead() {},
    onMembers() {},
    onRecall() {},
    onValkey: (trouble) => other.resolve(trouble),
  })
  const member = { cluster: 'doctor', id: 'doctor' }
  if (valkey === null) other.resolve(null)
  else link.shareLimits({ address: valkey, memory: createLimitMemory(1), without: 'share', quiet: false, member })
  const timeout = setTimeout(() => {
    one.resolve('it does not answer')
    other.resolve('it does not answer')
  }, waitMs)
  const troubles = { postgres: await one.promise, valkey: await other.promise }
  const facts = troubles.postgres === null ? await link.ask('server', null).catch(() => null) : null
  const valkeyFacts = troubles.valkey === null && valkey !== null ? await link.ask('limits-server', null) : null
  clearTimeout(timeout)
  await link.close()
  return { ...troubles, facts, valkeyFacts }
}
