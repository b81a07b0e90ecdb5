import type { Runtime, RuntimeStatus } from '../admin/handlers/context.ts'
import type { GatewayState, MeasuredProvider } from '../console/metrics.ts'
import { partNames } from '../core/degraded.ts'
import { showProviderState } from '../routing/shown-state.ts'
import type { SnapshotProvider } from '../store/configuration/snapshot.ts'

/** What the metrics tell, from memory alone: a store that does not answer keeps nobody waiting. */
export function readGatewayState(runtime: Runtime): GatewayState {
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
    routes: configuration.routes.length,
    keys: live.size,
    databaseBytes: now.store?.databaseBytes ?? null,
    journalBytes: now.store?.journalBytes ?? null,
    recordLagMs: now.store?.storedAt ? Math.max(0, Date.now() - Date.parse(now.store.storedAt)) : null,
    setAside: now.store?.setAside ?? [],
    entriesLost: now.entriesLost,
    longTurns: now.longTurns,
  }
}

function showParts({ degraded, degradedTimes }: RuntimeStatus): GatewayState['parts'] {
  return partNames.map((part) => {
    const isDegraded = degraded.some((each) => each.part === part)
    return { part, degraded: isDegraded, times: degradedTimes.get(part) ?? 0 }
  })
}

function showProvider(
  { name, kind, active, slot, credentials, readiness }: SnapshotProvider,
  runtime: Runtime,
): MeasuredProvider {
  const state = active ? showProviderState(readiness, runtime.health(slot, credentials.length)).state : 'inactive'
  return { name, kind, state }
}
