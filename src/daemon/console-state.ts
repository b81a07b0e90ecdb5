import type { Runtime, RuntimeStatus } from '../admin/handlers/context.ts'
import type { GatewayState, MeasuredAccount, MeasuredBudget, MeasuredProvider } from '../console/metrics.ts'
import { partNames } from '../core/degraded.ts'
import { type Limit, limitAt, shownAmount } from '../core/policies/policy-limits.ts'
import { accountLimits } from '../policy/limits/account-limits.ts'
import { listBudgets } from '../policy/limits/place-limits.ts'
import { showProviderState } from '../routing/shown-state.ts'
import type { SnapshotProvider } from '../store/configuration/snapshot.ts'

/** What the metrics tell, from memory alone: a store that does not answer keeps nobody waiting. */
export function readGatewayState(runtime: Runtime, deliveries: GatewayState['deliveries']): GatewayState {
  const { configuration, keys } = runtime.snapshot()
  const now = runtime.status()
  const live = new Set(keys.filter(({ revokedAt }) => revokedAt === null).map(({ id }) => id))
  return {
    workers: now.workers,
    inFlight: now.inFlight,
    heldBytes: now.heldBytes,
    heldLimit: now.heldLimit,
    requestsSinceStart: now.requestsSinceStart,
    parts: showParts(now),
    providers: configuration.providers.map((provider) => showProvider(provider, runtime)),
    budgets: listBudgets({ configuration, keys }).map(({ limit }) => showBudget(limit, runtime)),
    accounts: configuration.providers.flatMap((provider) => showAccount(provider, runtime)),
    routes: configuration.routes.length,
    keys: live.size,
    databaseBytes: now.store?.databaseBytes ?? null,
    journalBytes: now.store?.journalBytes ?? null,
    recordLagMs: now.store?.storedAt ? Math.max(0, Date.now() - Date.parse(now.store.storedAt)) : null,
    setAside: now.store?.setAside ?? [],
    entriesLost: now.entriesLost,
    longTurns: now.longTurns,
    deliveries,
    traces: now.traces,
    cache: now.store?.cache ?? null,
  }
}

function showParts({ degraded, degradedTimes }: RuntimeStatus): GatewayState['parts'] {
  return partNames.map((part) => {
    const isDegraded = degraded.some((each) => each.part === part)
    return { part, degraded: isDegraded, times: degradedTimes.get(part) ?? 0 }
  })
}

function showBudget(limit: Limit, runtime: Pick<Runtime, 'limitUsage'>): MeasuredBudget {
  const { used, held } = runtime.limitUsage(limit)
  const { policy, scope, kind, period } = limit
  const amount = (value: number) => shownAmount(kind, value)
  return {
    policy: policy ?? '',
    scope,
    kind,
    period: period ?? '',
    used: amount(used),
    held: amount(held),
    limit: amount(limitAt(limit, Date.now())),
  }
}

function showAccount(provider: SnapshotProvider, runtime: Pick<Runtime, 'limitUsage'>): MeasuredAccount[] {
  return (accountLimits(provider) ?? []).map((limit) => {
    const { used, held } = runtime.limitUsage(limit)
    const { kind, period } = limit
    const amount = (value: number) => shownAmount(kind, value)
    return {
      ...{ provider: provider.name, kind, period: period ?? 'minute' },
      ...{ used: amount(used), held: amount(held), limit: amount(limit.limit) },
    }
  })
}

function showProvider(
  { name, kind, active, slot, credentials, readiness }: SnapshotProvider,
  runtime: Runtime,
): MeasuredProvider {
  const state = active ? showProviderState(readiness, runtime.health(slot, credentials.length)).state : 'inactive'
  return { name, kind, state }
}
