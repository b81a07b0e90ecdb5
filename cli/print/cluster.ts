import { valueAt } from '../../src/admin/contract/show-value.ts'

/** What a command of the cluster came to, and what is usually done next; null: it only shows something. */
export function describeClusterWrite(operation: string, output: unknown): { text: string; next: string } | null {
  const cluster = String(valueAt(output, 'cluster'))
  const node = String(valueAt(output, 'node'))
  switch (operation) {
    case 'cluster.init':
      return {
        text: `Created cluster ${cluster} in ${String(valueAt(output, 'postgres'))}, with this gateway as node ${node}`,
        next: 'Next, a token for another node: spgw cluster invite',
      }
    case 'cluster.join':
      return { text: `Joined cluster ${cluster} as node ${node}: ${countNodes(output)}`, next: describeKey(output) }
    case 'cluster.remove':
      return { text: `Removed the node from cluster ${cluster}: ${countNodes(output)}`, next: stopIt }
    case 'cluster.leave':
      return {
        text: `Left cluster ${cluster}`,
        next: 'This gateway continues alone and admits the keys that it knows. Stop it, unless that is what you want.',
      }
    case 'cluster.dissolve':
      return {
        text: `Ended cluster ${cluster}; ${String(valueAt(output, 'records'))} records of other nodes are here now`,
        next: 'This gateway is alone. Remove cluster.* from config.yaml before the next restart.',
      }
    case 'cluster.drain':
      return describeDrain(output, node)
    default:
      return null
  }
}

const stopIt =
  'If it still runs, stop it: it is not ready any more. To see the nodes that are left: spgw cluster status'
const howFar = 'To see how far each node is: spgw cluster status'

/** The key of the cluster goes to where the operator keeps this node's, which no gateway writes. */
function describeKey(output: unknown): string {
  const file = valueAt(output, 'key_to_replace')
  if (typeof file !== 'string') return howFar
  return `Put machine.key.next from the data directory in place of ${file}, and restart. Until then both are needed.`
}

function countNodes(output: unknown): string {
  const nodes = valueAt(output, 'nodes')
  const count = Array.isArray(nodes) ? nodes.length : 0
  return `${count} ${count === 1 ? 'node' : 'nodes'}`
}

function describeDrain(output: unknown, node: string): { text: string; next: string } {
  if (valueAt(output, 'draining') !== true) return { text: `Node ${node} is back in service`, next: howFar }
  const running = Number(valueAt(output, 'running'))
  if (running > 0)
    return {
      text: `Node ${node} is out of service: ${running} ${running === 1 ? 'request is' : 'requests are'} still running`,
      next: 'If new ones still come, take this node out of the load balancer now. To undo: spgw cluster drain --undo',
    }
  const kept = valueAt(output, 'kept')
  if (typeof kept === 'string')
    return {
      text: `Node ${node} is out of service; it could not give back its part of budgets: ${kept}`,
      next: 'You can stop it: what it holds and its last records come back when it runs again. To undo: spgw cluster drain --undo',
    }
  return {
    text: `Node ${node} is out of service: nothing runs on it any more`,
    next: 'Now stop it (a restart brings it back), or: spgw cluster leave. To undo: spgw cluster drain --undo',
  }
}
