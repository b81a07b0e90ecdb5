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
      return { text: `Joined cluster ${cluster} as node ${node}: ${countNodes(output)}`, next: howFar }
    case 'cluster.remove':
      return { text: `Removed the node from cluster ${cluster}: ${countNodes(output)}`, next: howFar }
    case 'cluster.leave':
      return {
        text: `Left cluster ${cluster}${valueAt(output, 'ended') === true ? ', which had no other node and has ended' : ''}`,
        next: 'This gateway goes on alone and admits the keys that it knows. Stop it, unless that is what you want.',
      }
    default:
      return null
  }
}

const howFar = 'To see how far each node is: spgw cluster status'

function countNodes(output: unknown): string {
  const nodes = valueAt(output, 'nodes')
  const count = Array.isArray(nodes) ? nodes.length : 0
  return `${count} ${count === 1 ? 'node' : 'nodes'}`
}
