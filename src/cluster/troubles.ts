/** Mostly for a moment at start, so it is announced only where it lasts. */
export const notYet = 'PostgreSQL has not been reached yet'
export const removed = 'this node was removed from the cluster'
export const otherCluster =
  'the database does not hold the cluster that this node is a member of: correct cluster.postgres, or let this node continue alone with spgw cluster leave'

/** PostgreSQL was reached if the message says what the server is (`it is a standby`). */
export const sayLoss = (trouble: string) =>
  `PostgreSQL cannot be ${trouble.startsWith('it ') ? 'used' : 'reached'}: ${trouble}`

/** Why PostgreSQL does not accept this node as a member that can continue. */
export function sayWhy(state: string, name: string, own: number, there: number): string {
  if (state === 'removed') return removed
  if (state === 'lost')
    return `PostgreSQL has lost changes that this node holds: it is at ${there}, and this node at ${own}; see docs/cluster.md`
  if (state === 'doubled')
    return 'another gateway runs as this node, from a copy of its data directory: stop one of them, and restart the one that stays'
  if (state === 'taken name')
    return `the cluster has another node ${name}; set another cluster.node and restart this gateway`
  if (state === 'newer') return 'the cluster belongs to a newer version of spgw; upgrade this node'
  return otherCluster
}
