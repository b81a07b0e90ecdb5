import { clockApart } from '../../core/clock-apart.ts'
import type { ProviderStateName } from '../../core/provider-state.ts'
import { showProviderState } from '../../routing/shown-state.ts'
import { operations } from './base.ts'
import { showLimits, showRecords } from './cluster.ts'
import type { AdminContext, ClusterFace, RuntimeStatus } from './context.ts'
import { showBudgets } from './policies/limit-usage.ts'

export const status = operations.status.handler(({ context }) => showStatus(context))

/**
 * From memory alone: an unhealthy gateway must be able to say how it is. Whoever was given single projects is told
 * what is counted of these, and of the rest only whether it is well.
 */
export function showStatus({ runtime, scope }: Pick<AdminContext, 'runtime' | 'scope'>) {
  const { seen } = scope
  const { configuration, keys } = runtime.snapshot()
  const now = runtime.status()
  const usable = configuration.providers.filter(
    ({ projects }) => seen === null || projects === null || projects.some((id) => seen.has(id)),
  )
  const active = usable.filter((provider) => provider.active)
  const states = active.map(
    ({ slot, credentials, readiness }) => showProviderState(readiness, runtime.health(slot, credentials.length)).state,
  )
  const count = (state: ProviderStateName) => states.filter((each) => each === state).length
  return {
    version: runtime.version,
    started_at: runtime.startedAt,
    gateway_url: runtime.gatewayUrl,
    console_url: runtime.consoleUrl,
    data_directory: runtime.dataDirectory,
    settings_file: runtime.settingsFile,
    process_id: process.pid,
    workers: now.workers,
    in_flight: seen === null ? now.inFlight : null,
    held_bytes: seen === null ? now.heldBytes : null,
    held_limit: now.heldLimit,
    requests_since_start: seen === null ? now.requestsSinceStart : null,
    traffic: seen === null ? showTraffic(now.traffic) : null,
    budgets: showBudgets({ runtime, scope }),
    draining: runtime.departure.begun,
    degraded: now.degraded,
    providers: {
      ready: count('ready'),
      failing: count('failing'),
      recovering: count('recovering'),
      unchecked: count('unchecked'),
      inactive: usable.length - active.length,
    },
    routes: configuration.routes.length,
    keys: countKeys(keys),
    database_bytes: seen === null ? (now.store?.databaseBytes ?? null) : null,
    database_limit_bytes: seen === null ? (now.store?.databaseMostBytes ?? null) : null,
    removal_held_until: seen === null ? (now.store?.removalHeldUntil ?? null) : null,
    journal_bytes: seen === null ? (now.store?.journalBytes ?? null) : null,
    disk_free_bytes: seen === null ? (now.store?.diskFreeBytes ?? null) : null,
    schema_version: now.store?.schemaVersion ?? null,
    records_stored_at: now.store?.storedAt ?? null,
    set_aside: now.store?.setAside ?? [],
    entries_lost: now.entriesLost,
    traces: seen === null ? showTraces(now.traces) : null,
    cluster:
      runtime.cluster === null
        ? null
        : {
            ...{ id: runtime.cluster.cluster(), budgets: runtime.cluster.budgets },
            ...showLimits(runtime.cluster),
            ...(seen === null ? {} : { valkey: null }),
            ...showRecords(runtime.cluster),
            nodes: showNodes(runtime.cluster, { ...now, draining: runtime.departure.begun }, seen === null),
          },
    long_turns: now.longTurns.map(({ thread, count, longestMs, lastAt, lastWork }) => ({
      ...{ thread, count, longest_ms: longestMs, last_at: lastAt },
      last_work: seen === null ? lastWork : null,
    })),
  }
}

function showTraffic({ requestsPerSecond, errorShare, durationP95Ms, usdPerHour }: RuntimeStatus['traffic']) {
  return {
    requests_per_second: requestsPerSecond,
    error_share: errorShare,
    duration_p95_ms: durationP95Ms,
    usd_per_hour: usdPerHour,
  }
}

function showNodes(cluster: ClusterFace, own: RuntimeStatus & { draining: boolean }, all: boolean) {
  if (cluster.cluster() === null) return []
  const clockAheadMs = cluster.clockAheadMs() ?? undefined
  const nodes: Omit<ReturnType<ClusterFace['others']>[number], 'version'>[] = [
    {
      name: cluster.name,
      // Of one that is a member the part says nothing else.
      state: own.degraded.some(({ part }) => part === 'membership') ? 'removed' : 'present',
      condition: { ...own, ...(clockAheadMs === undefined ? {} : { clockAheadMs }) },
    },
    ...cluster.others(),
  ]
  return nodes.map(({ name, state, condition }) => ({
    name,
    state,
    in_flight: all && condition !== null ? condition.inFlight : null,
    traffic: all && condition !== null ? showTraffic(condition.traffic) : null,
    degraded: (condition?.degraded ?? []).map(({ part, reason, since }) => ({ part, reason, since })),
    clock_ahead_ms: clockApart(condition?.clockAheadMs),
    draining: condition?.draining ?? null,
  }))
}

function showTraces(traces: RuntimeStatus['traces']) {
  if (traces === null) return null
  const { endpoint, pending, trouble } = traces
  const { exported, rejected, overflow, removed } = traces.outcomes
  return { endpoint, pending, exported, dropped: rejected + overflow + removed, trouble }
}

type Keys = ReturnType<AdminContext['runtime']['snapshot']>['keys']

/** Asked once a second by whoever watches, and there may be a hundred thousand of them: counted once a change. */
const counted = new WeakMap<Keys, number>()

function countKeys(keys: Keys): number {
  const known = counted.get(keys)
  if (known !== undefined) return known
  const count = new Set(keys.filter(({ revokedAt }) => revokedAt === null).map(({ id }) => id)).size
  counted.set(keys, count)
  return count
}
