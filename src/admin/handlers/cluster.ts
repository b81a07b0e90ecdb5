import { Secret } from '../../core/secret.ts'
import { audited } from './audited.ts'
import { operations } from './base.ts'
import type { AdminContext, ClusterFace } from './context.ts'
import { refused } from './fault.ts'

export const cluster = {
  init: operations.cluster.init.handler(async ({ context }) => {
    const face = requireCluster(context)
    const id = await face.found()
    await note(context, 'cluster.init', id, { cluster: id })
    return await show(face)
  }),
  invite: operations.cluster.invite.handler(async ({ context }) => {
    const face = requireCluster(context)
    const { token, expiresAt } = await face.invite()
    await note(context, 'cluster.invite', face.cluster() ?? '', { expires_at: expiresAt })
    return { token: token.reveal(), expires_at: expiresAt }
  }),
  join: operations.cluster.join.handler(async ({ context, input }) => {
    const face = requireCluster(context)
    const id = await face.join(new Secret(input.token))
    await note(context, 'cluster.join', id, { node: (await face.status()).node })
    return await show(face)
  }),
  status: operations.cluster.status.handler(async ({ context }) => await show(requireCluster(context))),
  leave: operations.cluster.leave.handler(async ({ context }) => {
    const face = requireCluster(context)
    const id = face.cluster() ?? ''
    const { node } = await face.status()
    // While the others can still read it.
    if (id !== '') await note(context, 'cluster.leave', id, { node })
    return { cluster: id, ended: await face.leave() }
  }),
  remove: operations.cluster.remove.handler(async ({ context, input }) => {
    const face = requireCluster(context)
    const returns = input.budgets === 'returned'
    await face.remove(input.node, returns)
    await note(context, 'cluster.remove', face.cluster() ?? '', { node: input.node, budgets: input.budgets })
    return await show(face)
  }),
}

function requireCluster({ runtime }: AdminContext): ClusterFace {
  if (runtime.cluster !== null) return runtime.cluster
  throw refused(
    'The settings of this gateway name no cluster.',
    'Set cluster.postgres, cluster.limits and cluster.records, and restart it: docs/cluster.md',
  )
}

async function note(context: AdminContext, operation: string, id: string, after: object): Promise<void> {
  const resource = { kind: 'cluster', id, name: id }
  await audited(context, { operation, resource, before: null, after }).audit.note()
}

async function show(face: ClusterFace) {
  const { nodes, valkeyTrouble, ...status } = await face.status()
  return {
    ...status,
    budgets: face.budgets,
    valkey_trouble: valkeyTrouble,
    ...showRecords(face),
    nodes: nodes.map(({ heardAt, ...node }) => ({ ...node, last_heard_at: heardAt })),
  }
}

/** Where records are, and what of this node's waits. */
export function showRecords({ records, outbox }: Pick<ClusterFace, 'records' | 'outbox'>) {
  const found = outbox()
  if (found === null) return { records, outbox: null }
  const { depth, ...rest } = found
  return { records, outbox: { records: depth, ...rest } }
}
