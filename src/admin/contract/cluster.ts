import { z } from 'zod'
import { nodeStandings } from '../../core/node-condition.ts'
import { reference, time } from './fields.ts'
import { type Column, field, operation } from './operation.ts'

/** What a cluster does not share yet, said wherever somebody decides for one. */
const apart =
  'Unless cluster.limits is shared, each node counts limits per minute for itself; unless cluster.records is, it knows only the files, batches and responses made through it.'

/** `shared`: records are in PostgreSQL as well; `local`: each node keeps its own. */
export const recordsPlace = z.enum(['shared', 'local'])

/**
 * `absent`: PostgreSQL has not heard of it for some seconds. `unknown`: the node that is asked is cut off, and what it heard
 * before says nothing of now. `removed`: the node that is asked is no member any more.
 */
export const nodeState = z.enum(nodeStandings)

/** Records that this node has stored and PostgreSQL does not have yet. */
export const outboxShape = z.object({
  records: z.number(),
  /** Since when the oldest of them waits; null: none does. */
  since: time.nullable(),
  /** Batches, background responses and the like whose usage waits here to be counted by one node. */
  usage: z.number(),
  /** Since when the oldest of it waits; null: none does. */
  usage_since: time.nullable(),
  /** Those from before records were shared are still to come. */
  history: z.boolean(),
  /** Why the last try failed; null: it did not. */
  trouble: z.string().nullable(),
})

/** The server by which nodes share limits. */
export const valkeyShape = z.object({
  /** Host and port. */
  server: z.string(),
  /** Why nothing of shared limits can be granted here; null: it can. */
  trouble: z.string().nullable(),
  /** Since when that is so, whatever the reasons were. */
  since: time.nullable(),
  /** What this node lets pass meanwhile: its part of each limit, nothing, or the whole (`cluster.limits_without_valkey`). */
  meanwhile: z.enum(['share', 'refuse', 'local']),
  /**
   * Until then at the latest no node is granted more of shared limits, since not all have said what they use; it ends by itself.
   * null: grants are given, or there is a trouble.
   */
  opening_until: time.nullable(),
})

const clusterShape = z.object({
  /** null: this gateway is not a member of a cluster yet. */
  cluster: z.string().nullable(),
  /** What the others call this one. */
  node: z.string(),
  /** Host, port and database. */
  postgres: z.string(),
  /** It was taken out of service: `/readyz` says 503. */
  draining: z.boolean(),
  /** Why the configuration is read-only here; null: it is not. */
  trouble: z.string().nullable(),
  /** Number of the last change that is here. */
  sequence: z.number().nullable(),
  /** Decisions made here while PostgreSQL was away (revocations, audit lines), which the others do not know yet. */
  pending: z.number(),
  /** `shared`: all nodes together keep to each budget; `local`: each counts for itself. */
  budgets: z.enum(['shared', 'local']),
  /** `shared`: nodes count limits a minute and requests at once together. `local`: each for itself. */
  limits: z.enum(['shared', 'local']),
  /** null: none is configured, so limits are not shared. */
  valkey: valkeyShape.nullable(),
  records: recordsPlace,
  /** null: records are not shared, or nobody has said yet. */
  outbox: outboxShape.nullable(),
  /** The operator's file that `machine.key.next` in the data directory is to replace since this node joined; null: none. */
  key_to_replace: z.string().nullable(),
  nodes: z.array(
    z.object({
      name: z.string(),
      state: nodeState,
      version: z.string().nullable(),
      /** Number of the last change that its threads have. */
      sequence: z.number(),
      last_heard_at: time.nullable(),
      /** By so much its clock is ahead of PostgreSQL's; negative: behind; null: they are together, or nobody knows. */
      clock_ahead_ms: z.number().nullable(),
      /** It was taken out of service by `cluster drain`; null: nothing is heard of it, or it is of a version that does not say. */
      draining: z.boolean().nullable(),
    }),
  ),
  /** Whose clocks are apart from PostgreSQL's, and what to do about it; null: nobody's that is heard of. */
  clocks: z.string().nullable(),
})

/** What a person is shown of it: whether there is one at all comes first. */
const columns: Column[] = [
  {
    field: 'cluster',
    title: 'Cluster',
    absent: 'none yet: cluster init creates one, cluster join joins one',
  },
  { field: 'node', title: 'This node' },
  { field: 'postgres', title: 'PostgreSQL' },
  { field: 'trouble', title: 'Read-only because' },
  { field: 'draining', title: 'Out of service' },
  { field: 'sequence', title: 'Last change', format: 'number' },
  { field: 'pending', title: 'Changes to send', format: 'number' },
  { field: 'budgets', title: 'Budgets' },
  { field: 'limits', title: 'Limits per minute' },
  { field: 'valkey', title: 'Valkey', absent: 'none' },
  { field: 'records', title: 'Request records' },
  { field: 'outbox', title: 'Not shared yet' },
  { field: 'nodes', title: 'Nodes' },
  { field: 'key_to_replace', title: 'Key file to replace' },
  { field: 'clocks', title: 'Clocks apart' },
]
const show = { as: 'record', columns } as const

const owners = { role: 'owner', reach: 'workspace' } as const
const none = z.strictObject({})

export const cluster = {
  init: operation({
    summary: 'Create a cluster from this gateway, in the PostgreSQL of cluster.postgres',
    ...owners,
    effect: 'danger',
    confirm: `Create a cluster from this gateway? ${apart}`,
    show,
    examples: ['cluster init', 'cluster init --yes'],
  })
    .input(none)
    .output(clusterShape),
  invite: operation({
    summary: 'Create a token that lets one more node join, once and within ten minutes',
    ...owners,
    effect: 'write',
    show: {
      as: 'once',
      field: 'token',
      note: 'Shown only once. On the new node: spgw cluster join TOKEN. A restart of this gateway ends the invitation.',
    },
    examples: ['cluster invite'],
  })
    .input(none)
    .output(z.object({ token: z.string(), expires_at: time })),
  join: operation({
    summary: 'Join the cluster that invited this new gateway',
    ...owners,
    effect: 'danger',
    positional: ['token'],
    confirm: `Replace this gateway's configuration and machine key with those of the cluster? ${apart}`,
    show,
    examples: ['cluster join sp_join_clu_…'],
  })
    .input(
      z.strictObject({
        token: field(z.string().min(1), { description: 'Token from spgw cluster invite', prompt: 'Which token?' }),
      }),
    )
    .output(clusterShape),
  status: operation({
    summary: 'Show the nodes of the cluster and how up to date each is',
    role: 'admin',
    reach: 'workspace',
    effect: 'read',
    show,
    examples: ['cluster status', 'cluster status --json'],
  })
    .input(none)
    .output(clusterShape),
  drain: operation({
    summary: 'Take this node out of service: /readyz says 503, and requests in progress may finish',
    ...owners,
    effect: 'write',
    show: { as: 'record' },
    examples: ['cluster drain', 'cluster drain --undo'],
  })
    .input(
      z.strictObject({
        undo: field(z.boolean().default(false), { description: 'Bring the node back into service' }),
      }),
    )
    .output(
      z.object({
        node: z.string(),
        /** A restart ends it as well. */
        draining: z.boolean(),
        /** Requests that were still running when gateway.drain_timeout was over. */
        running: z.number(),
        /** Why what it was given of budgets, and its last records, are still here; null: they are not, or something runs. */
        kept: z.string().nullable(),
      }),
    ),
  leave: operation({
    summary: 'Leave the cluster; this gateway keeps what it has and continues alone',
    ...owners,
    effect: 'danger',
    confirm:
      'Leave the cluster? This gateway keeps admitting the keys that it knows, whatever the cluster revokes later.',
    show: { as: 'record' },
    examples: ['cluster leave'],
  })
    .input(none)
    .output(
      z.object({
        /** That was left. */
        cluster: z.string(),
      }),
    ),
  dissolve: operation({
    summary: 'End the cluster; this last node continues alone with the records of all nodes',
    ...owners,
    effect: 'danger',
    confirm: 'End the cluster? This gateway takes over its records and budgets, and PostgreSQL keeps nothing of it.',
    show: { as: 'record' },
    examples: ['cluster dissolve'],
  })
    .input(none)
    .output(
      z.object({
        /** That has ended. */
        cluster: z.string(),
        /** Of other nodes, which are now here. */
        records: z.number(),
      }),
    ),
  remove: operation({
    summary: 'Remove a node that does not come back from the cluster',
    ...owners,
    effect: 'danger',
    positional: ['node'],
    confirm:
      'Remove node {node}? It can no longer change anything in the cluster, and if it still runs it does not hear of revocations.',
    show,
    examples: ['cluster remove gw-d', 'cluster remove gw-d --budgets returned'],
  })
    .input(
      z.strictObject({
        node: field(reference, { description: 'Name of the node', prompt: 'Which node?' }),
        budgets: field(z.enum(['spent', 'returned']).default('spent'), {
          description:
            'Parts of budgets that the node was given and has not reported as spent: count them as spent, or return them to the others, which may overspend by as much',
        }),
      }),
    )
    .output(clusterShape),
}
