import { setTimeout as wait } from 'node:timers/promises'
import type { ClusterFace } from '../../admin/handlers/context.ts'
import type { Membership } from '../../cluster/membership.ts'
import type { ClusterNode } from '../../cluster/node.ts'
import { removed } from '../../cluster/troubles.ts'
import type { ClusterSettings } from '../../config/settings.ts'
import { clockApart } from '../../core/clock-apart.ts'
import type { StoreClient } from '../../store/api.ts'
import type { SharedBudgets } from './shared-budgets.ts'
import type { SharedLimits } from './shared-limits.ts'
import type { SharedRecords } from './shared-records.ts'
import { outOfIt } from './troubles.ts'

/** A PostgreSQL that takes longer may be away. */
const refreshMs = 300

export interface ClusterFaceParts {
  settings: ClusterSettings
  name: string
  store: StoreClient
  node: ClusterNode
  membership: Membership
  limits: SharedLimits
  /** null: they are not shared. */
  records: SharedRecords | null
  /** null: nodes share none, or this one has not begun. */
  budgets(): SharedBudgets | null
  /** Says how this node is. */
  announcing: { announce(): void }
}

/** What operators see and do of the cluster. */
export function clusterFace({
  settings,
  name,
  store,
  node,
  membership,
  limits,
  records,
  budgets,
  announcing,
}: ClusterFaceParts): ClusterFace {
  return {
    budgets: settings.sharesBudgets ? 'shared' : 'local',
    announce: () => announcing.announce(),
    reportSpent: (spent) => budgets()?.report(spent),
    valkey: () => limits.find(),
    cluster: () => node.state?.cluster ?? null,
    records: settings.records,
    feed: records,
    others: () => node.listConditions(),
    name,
    clockAheadMs: () => node.clockAheadMs,
    outbox: () => records?.report ?? null,
    purge: (question) => records?.purge(question) ?? null,
    costs: () => records?.costs() ?? null,
    async status() {
      const pending = (await store.replica({ act: 'state' }))?.pending ?? 0
      const trouble = node.trouble === removed ? outOfIt : (node.trouble ?? node.behind)
      return {
        ...{ cluster: node.state?.cluster ?? null, node: name, trouble, pending },
        postgres: `${settings.host}:${settings.port}/${settings.database}`,
        sequence: node.state?.sequence ?? null,
        nodes: (await node.listMembers()).map((member) => ({
          name: member.name,
          state: node.findStanding(member),
          version: member.version,
          sequence: member.applied,
          heardAt: member.heardAt,
          clockAheadMs: clockApart(node.findCondition(member)?.clockAheadMs),
          draining: node.findCondition(member)?.draining ?? null,
        })),
      }
    },
    found: () => membership.found(),
    invite: () => membership.invite(),
    join: (token) => membership.join(token),
    leave: () => membership.leave(),
    handBack: () => membership.handBack(),
    dissolve: () => membership.dissolve(),
    remove: (other, returns) => membership.remove(other, returns),
    async refresh() {
      if (node.state === null || node.trouble !== null) return
      // A change that cannot be made is refused where it is made, with the reason; revoking does not wait for PostgreSQL.
      await Promise.race([node.catchUp().catch(() => false), wait(refreshMs)])
    },
    confirm: async (subject) => (node.state === null ? null : await node.confirm(subject)),
  }
}
