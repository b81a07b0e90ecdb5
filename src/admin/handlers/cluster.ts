import { clockRemedy, describeApart } from '../../core/clock-apart.ts'
import { Secret } from '../../core/secrets/secret.ts'
import { StoreReadOnly } from '../../store/store-error.ts'
import { audited } from './audited.ts'
import { operations } from './base.ts'
import type { AdminContext, ClusterFace } from './context.ts'
import { refused } from './fault.ts'

export const cluster = {
  init: operations.cluster.init.handler(async ({ context }) => {
    const face = requireCluster(context)
    const id = await face.found()
    await note(context, 'cluster.init', id, { cluster: id })
    return await show(context)
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
    return await show(context)
  }),
  status: operations.cluster.status.handler(async ({ context }) => await show(context)),
  drain: operations.cluster.drain.handler(async ({ context, input }) => {
    const face = requireCluster(context)
    const { departure } = context.runtime
    const { node } = await face.status()
    await note(context, input.undo ? 'cluster.drain-undo' : 'cluster.drain', face.cluster() ?? '', { node })
    if (input.undo) {
      await departure.undo()
      face.announce()
      return { node, draining: false, running: 0, kept: null }
    }
    await departure.begin()
    face.announce()
    const running = await departure.finish()
    const kept = face.cluster() !== null && running === 0 ? await handBack(face) : null
    return { node, draining: departure.begun, running, kept }
  }),
  leave: operations.cluster.leave.handler(async ({ context }) => {
    const face = requireCluster(context)
    const id = face.cluster() ?? ''
    const { node } = await face.status()
    // While the others can still read it.
    if (id !== '') await note(context, 'cluster.leave', id, { node })
    await face.leave()
    return { cluster: id }
  }),
  dissolve: operations.cluster.dissolve.handler(async ({ context }) => {
    const face = requireCluster(context)
    const id = face.cluster() ?? ''
    const records = await face.dissolve()
    await note(context, 'cluster.dissolve', id, { records })
    return { cluster: id, records }
  }),
  remove: operations.cluster.remove.handler(async ({ context, input }) => {
    const face = requireCluster(context)
    const returns = input.budgets === 'returned'
    await face.remove(input.node, returns)
    await note(context, 'cluster.remove', face.cluster() ?? '', { node: input.node, budgets: input.budgets })
    return await show(context)
  }),
}

/** Why what this node was given stays with it: it is out of service nevertheless. */
async function handBack(face: ClusterFace): Promise<string | null> {
  try {
    await face.handBack()
    return null
  } catch (error) {
    if (!(error instanceof StoreReadOnly)) throw error
    return error.message
  }
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

async function show(context: AdminContext) {
  const face = requireCluster(context)
  const { nodes, ...status } = await face.status()
  return {
    ...status,
    draining: context.runtime.departure.begun,
    key_to_replace: context.keyring.describe().replaces,
    budgets: face.budgets,
    ...showLimits(face),
    ...showRecords(face),
    nodes: nodes.map(({ name, heardAt, clockAheadMs, draining, ...node }) => ({
      ...{ name, ...node, last_heard_at: heardAt, clock_ahead_ms: clockAheadMs },
      // What others say of this one is some seconds old.
      draining: name === face.name ? context.runtime.departure.begun : draining,
    })),
    clocks: describeClocks(nodes),
  }
}

/** `gw-b is 3600 s ahead of PostgreSQL. Keep …` */
function describeClocks(nodes: readonly { name: string; clockAheadMs: number | null }[]): string | null {
  const apart = nodes.flatMap(({ name, clockAheadMs }) =>
    clockAheadMs === null ? [] : [`${name} is ${describeApart(clockAheadMs)} PostgreSQL`],
  )
  return apart.length === 0 ? null : `${apart.join(', ')}. ${clockRemedy}`
}

/** Who counts limits, and how the server is by which nodes do it together. */
export function showLimits(face: Pick<ClusterFace, 'valkey'>) {
  const valkey = face.valkey()
  return { limits: valkey === null ? ('local' as const) : ('shared' as const), valkey }
}

/** Where records are, and what of this node's waits. */
export function showRecords({ records, outbox }: Pick<ClusterFace, 'records' | 'outbox'>) {
  const found = outbox()
  if (found === null) return { records, outbox: null }
  const { depth, since, usage, usageSince, history, trouble } = found
  return { records, outbox: { records: depth, since, usage, usage_since: usageSince, history, trouble } }
}
